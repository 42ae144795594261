// Makes the table of docs/RELIABILITY.md from the results of tests. No side effects: callers read and write the files.
//
// Results are kept by test file, `{file: {about, tests: [{name, status}], measures: [text]}}`, so that a run of some files
// brings their rows up to date and leaves the others.
import { basename } from 'node:path';
import { markdownTable } from '../../shared/markdown.mjs';
import { ROWS } from './rows.mjs';

/** @typedef {{ name: string, status: string }} Test */
/** @typedef {{ about: string, tests: Test[], measures: string[] }} Result of one test file */
/** @typedef {{ file: string, about: string, tests: Test[], measures: string[] }} Cited */

const ID = /\b[PSUCXL]\d{1,2}\b/g;
/** More than this of one row says nothing more. */
const MOST_MEASURES = 6;

/** @param {string} text */
export const idsIn = (text) => [...new Set(text.match(ID) ?? [])];

/**
 * Of one file: its tests that prove a row, and what they measured.
 * @param {Test[]} tests
 * @param {string[]} measures
 * @param {string} about date, Node and load
 * @returns {Result}
 */
export function resultOf(tests, measures, about) {
  return { about, tests: tests.filter(({ name }) => idsIn(name).length > 0), measures };
}

/**
 * The circumstances of most files stand above the table, and those of the rows that differ.
 * @param {Record<string, Result>} results by test file
 */
export function table(results) {
  const common = mostCommon(Object.values(results).map(({ about }) => about));
  /** @type {string[]} */
  const differing = [];
  const rows = ROWS.map(({ id, fault, must }) => {
    const cited = Object.entries(results).flatMap(([file, { about, tests, measures }]) => {
      const own = tests.filter(({ name }) => idsIn(name).includes(id));
      return own.length === 0 ? [] : [{ file, about, tests: own, measures: measures.flatMap(of(id)) }];
    });
    const tests = cited.flatMap((one) => one.tests);
    const measures = cited.flatMap((one) => one.measures);
    const others = otherAbouts(cited, common);
    const whose = cited.some(({ about }) => about === common) ? `Some tests of ${id}` : id;
    if (others !== '') differing.push(`${whose}: ${others}`);
    return [id, fault, must, shown(measures), verdict(tests), names(cited)];
  });
  const head = ['row', 'fault', 'must', 'measured', 'tests', '`npm run faults --` …'];
  const cells = rows.map((row) => row.map(cell));
  return `Measured: ${[common, ...differing].join('. ')}.\n\n${markdownTable(head, cells)}`;
}

/** @param {string[]} texts */
function mostCommon(texts) {
  const count = (/** @type {string} */ text) => texts.filter((one) => one === text).length;
  return [...new Set(texts)].sort((a, b) => count(b) - count(a))[0] ?? '';
}

/**
 * A line like `S7: the daemon grew …` belongs to that row.
 * @type {(id: string) => (line: string) => string[]}
 */
const of = (id) => (line) => (line.startsWith(`${id}: `) ? [line.slice(id.length + 2)] : []);

/** @param {Test[]} tests */
function verdict(tests) {
  const count = (/** @type {string} */ status) => tests.filter((test) => test.status === status).length;
  const failed = count('failed');
  if (failed > 0) return `**${failed} of ${tests.length} failed**`;
  return count('passed') === 0 ? 'not run' : `${count('passed')} passed`;
}

/** @param {string[]} texts */
function shown(texts) {
  const more = texts.length - MOST_MEASURES;
  return texts.slice(0, MOST_MEASURES).join('; ') + (more > 0 ? `; and ${more} more` : '');
}

/**
 * Two files may have the same name, which names both of them for `npm run faults`.
 * @param {Cited[]} cited
 */
const names = (cited) => [...new Set(cited.map(({ file }) => basename(file, '.test.ts')))].join(' ');
/**
 * What differs from the common circumstances of all rows.
 * @param {Cited[]} cited
 * @param {string} common
 */
function otherAbouts(cited, common) {
  const known = common.split(', ');
  const abouts = [...new Set(cited.map(({ about }) => about))].filter((about) => about !== common).sort();
  const differences = abouts.map((about) => about.split(', ').filter((part) => !known.includes(part)));
  return differences.map((parts) => parts.join(', ')).join('; ');
}
/** @param {string} text */
const cell = (text) => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ').trim();
