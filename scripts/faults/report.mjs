// What the tests said, as the table of docs/RELIABILITY.md. No side effects: the files are read and written elsewhere.
//
// Results are kept by test file, `{file: {about, tests: [{name, status}], measures: [text]}}`, so that a run of some files
// brings their rows up to date and leaves the others.
import { basename } from 'node:path';
import { ROWS } from './rows.mjs';

const ID = /\b[PSUCXL]\d{1,2}\b/g;
/** More than this of one row says nothing more. */
const MOST_MEASURES = 6;

export const idsIn = (text) => [...new Set(text.match(ID) ?? [])];

/** Of one file: its tests that prove a row, and what they measured. `about`: date, Node and load. */
export function resultOf(tests, measures, about) {
  return { about, tests: tests.filter(({ name }) => idsIn(name).length > 0), measures };
}

export function table(results) {
  const rows = ROWS.map(({ id, fault, must }) => {
    const cited = Object.entries(results).flatMap(([file, { about, tests, measures }]) => {
      const own = tests.filter(({ name }) => idsIn(name).includes(id));
      return own.length === 0 ? [] : [{ file, about, tests: own, measures: measures.flatMap(of(id)) }];
    });
    const tests = cited.flatMap((one) => one.tests);
    const measures = cited.flatMap((one) => one.measures);
    return [id, fault, must, shown(measures), verdict(tests), names(cited), abouts(cited)];
  });
  const head = ['row', 'fault', 'must', 'measured', 'tests', '`npm run faults --` …', 'when'];
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map(cell).join(' | ')} |`)
    .join('\n');
}

/** A line like `S7: the daemon grew …` is of its row. */
const of = (id) => (line) => (line.startsWith(`${id}: `) ? [line.slice(id.length + 2)] : []);

function verdict(tests) {
  const count = (status) => tests.filter((test) => test.status === status).length;
  const failed = count('failed');
  if (failed > 0) return `**${failed} of ${tests.length} failed**`;
  return count('passed') === 0 ? 'not run' : `${count('passed')} passed`;
}

function shown(texts) {
  const more = texts.length - MOST_MEASURES;
  return texts.slice(0, MOST_MEASURES).join('; ') + (more > 0 ? `; and ${more} more` : '');
}

const names = (cited) => cited.map(({ file }) => basename(file, '.test.ts')).join(' ');
const abouts = (cited) => [...new Set(cited.map(({ about }) => about))].sort().join('; ');
const cell = (text) => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ').trim();

/** The region between the marks, written anew. */
export function replaceRegion(document, name, text) {
  const begin = `<!-- generated: ${name} -->\n`;
  const start = document.indexOf(begin);
  const end = document.indexOf('<!-- end -->', start);
  if (start === -1 || end === -1) throw new Error(`no region '${name}'`);
  return `${document.slice(0, start + begin.length)}\n${text}\n\n${document.slice(end)}`;
}
