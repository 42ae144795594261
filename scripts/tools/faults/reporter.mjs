// A reporter of vitest that keeps the results of each test file as soon as it has ended: a long run that is broken off has
// not been in vain.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceRegion } from '../../shared/markdown.mjs';
import { filesOfRows } from './files.mjs';
import { resultOf, table } from './report.mjs';

const root = join(import.meta.dirname, '..', '..', '..');
const document = join(root, 'docs', 'RELIABILITY.md');
const results = join(root, 'docs', 'reliability.json');
/** Set by scripts/tools/faults.mjs: date, Node and load; and where the tests write what they measured. */
const { TOOLHERD_ABOUT: about = '', TOOLHERD_MEASURED: measured = '' } = process.env;

export default class {
  /** @param {import('vitest/node').TestModule} module */
  onTestModuleEnd({ moduleId, children }) {
    const tests = [...children.allTests()].map((test) => ({
      name: test.fullName,
      status: test.result().state,
    }));
    const measures = linesOf(measured).flatMap(({ test, text }) => (test === moduleId ? [text] : []));
    keep(moduleId.slice(root.length + 1), resultOf(tests, measures, about));
  }
}

/** Files that are no more take their results along. */
function keep(/** @type {string} */ file, /** @type {import('./report.mjs').Result} */ result) {
  const known = existsSync(results) ? JSON.parse(readFileSync(results, 'utf8')) : {};
  const all = { ...known, [file]: result };
  const kept = Object.fromEntries(filesOfRows(root).flatMap((one) => (one in all ? [[one, all[one]]] : [])));
  writeFileSync(results, `${JSON.stringify(kept, undefined, 2)}\n`);
  writeFileSync(document, replaceRegion(readFileSync(document, 'utf8'), 'reliability', table(kept)));
}

/**
 * @param {string} file
 * @returns {{ test: string, text: string }[]}
 */
function linesOf(file) {
  const text = existsSync(file) ? readFileSync(file, 'utf8').trimEnd() : '';
  return text === '' ? [] : text.split('\n').map((line) => JSON.parse(line));
}
