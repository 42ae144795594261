// Mutation tests: changes one small thing at a time in a copy of the tree and counts how often a test fails.
// Usage: npm run mutants [-- --only src/link/calls] [--jobs 2] [--every 1]
// `--every 3` takes each third mutant, for a quick look. Survivors are printed, and kept in .cache/mutants.json.
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const root = join(import.meta.dirname, '..', '..');
const { values: flags } = parseArgs({
  options: { only: { type: 'string' }, jobs: { type: 'string' }, every: { type: 'string', default: '1' } },
});

const MACHINES = ['test/machines', 'test/model'];
const CALLS = ['test/link/calls'];
/** @typedef {{ file: string, tests: string[] }} Target */
/** @typedef {Target & { line: number, from: string, to: string, text: string }} Mutant */
/** @typedef {(line: string) => string[]} Operator */

const files = (/** @type {string} */ folder) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name}`);

/** What is mutated, and the tests that have to notice. Pictures and tables of contents are left out. */
const TARGETS = [
  ...[...files('src/machines'), ...files('src/machines/restart')]
    .filter((file) => !/index|chart|link-protocol/.test(file))
    .map((file) => ({ file, tests: MACHINES })),
  ...files('src/link/calls').map((file) => ({ file, tests: CALLS })),
].filter(({ file }) => flags.only === undefined || file.startsWith(flags.only));

/**
 * Each gives zero or more changed versions of one line of code.
 * @type {Operator[]}
 */
const OPERATORS = [
  swap(/ === /g, ' !== '),
  swap(/ !== /g, ' === '),
  swap(/ <= /g, ' < '),
  swap(/ >= /g, ' > '),
  swap(/ < /g, ' <= '),
  swap(/ > /g, ' >= '),
  swap(/ && /g, ' || '),
  swap(/ \|\| /g, ' && '),
  swap(/ \+ /g, ' - '),
  swap(/ - /g, ' + '),
  swap(/ \* /g, ' / '),
  swap(/ \+= /g, ' -= '),
  swap(/\btrue\b/g, 'false'),
  swap(/\bfalse\b/g, 'true'),
  swap(/\breenter: true\b/g, 'reenter: false'),
  swap(/\bMath\.min\b/g, 'Math.max'),
  swap(/\bMath\.max\b/g, 'Math.min'),
  swap(/(?<=\s)0(?=[\s;,)])/g, '1'),
  swap(/(?<=\s)1(?=[\s;,)])/g, '2'),
  (line) =>
    /^\s*(if|else if) \(/.test(line)
      ? [line.replace(/\bif \(/, 'if (!(').replace(/\)(\s*\{|\s+\w.*;)?$/, '))$1')]
      : [],
  // a statement that is left out
  (line) => (/^\s*(this|[a-z]\w*)[.#\w[\]!?]*(\(.*\)| [+-]?= .*);$/.test(line) ? [''] : []),
  // an edge, an action or a guard of a chart that is left out
  (line) =>
    /^\s*(entry|exit|guard|after|stop|start|restart|reset|connect|invoke|'[\w.*]+'): [^{(]*,$/.test(line)
      ? ['']
      : [],
];

/**
 * @param {RegExp} pattern
 * @param {string} by
 * @returns {Operator}
 */
function swap(pattern, by) {
  return (line) =>
    [...line.matchAll(pattern)].map(
      ({ index, 0: found }) => line.slice(0, index) + by + line.slice(index + found.length),
    );
}

/** @param {string} line */
function isCode(line) {
  return !/^\s*(\/\/|\/?\*|import|export type|export interface|type |\|)/.test(line) && line.trim() !== '';
}

/**
 * @param {Target} target
 * @returns {Mutant[]}
 */
function mutantsOf({ file, tests }) {
  const lines = readFileSync(join(root, file), 'utf8').split('\n');
  return lines.flatMap((line, index) => {
    if (!isCode(line)) return [];
    const code = line.replaceAll(/'(?:[^'\\]|\\.)*'|`[^`]*`/g, (text) => ' '.repeat(text.length));
    return OPERATORS.flatMap((operator) => operator(line))
      .filter((mutated) => mutated !== line && isOutsideOfTexts(line, code, mutated))
      .map((mutated) => ({
        file,
        tests,
        line: index + 1,
        from: line.trim(),
        to: mutated.trim() || '(left out)',
        text: lines.with(index, mutated).join('\n'),
      }));
  });
}

/**
 * A change inside a message changes no behaviour.
 * @param {string} line
 * @param {string} code
 * @param {string} mutated
 */
function isOutsideOfTexts(line, code, mutated) {
  if (mutated === '') return true;
  let at = 0;
  while (line[at] === mutated[at]) at++;
  return code[at] !== ' ' || line[at] === ' ';
}

/** @param {number} job */
function makeCopy(job) {
  const copy = join(root, '.cache', `mutants-${job}`);
  rmSync(copy, { recursive: true, force: true });
  mkdirSync(copy, { recursive: true });
  for (const name of ['src', 'test', 'scripts', 'package.json', 'tsconfig.json', 'README.md', 'docs']) {
    cpSync(join(root, name), join(copy, name), { recursive: true });
  }
  writeFileSync(
    join(copy, 'vitest.config.ts'),
    `export default { test: { include: ['test/**/*.test.ts'], exclude: ['test/model/real-*', 'test/model/supervisor-*'], testTimeout: 20000, bail: 1 } };\n`,
  );
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/**
 * True when the tests noticed. A run that does not end counts as noticed.
 * @param {string} copy
 * @param {Mutant} mutant
 * @returns {Promise<boolean>}
 */
function isKilled(copy, { file, tests, text }) {
  const path = join(copy, file);
  const original = readFileSync(join(root, file), 'utf8');
  writeFileSync(path, text);
  return new Promise((resolve) => {
    const vitest = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...tests], {
      cwd: copy,
      stdio: 'ignore',
      detached: true,
    });
    const timer = setTimeout(() => endGroup(vitest.pid), 180_000);
    vitest.once('exit', (code) => {
      clearTimeout(timer);
      // a worker that runs in circles outlives its parent
      endGroup(vitest.pid);
      writeFileSync(path, original);
      resolve(code !== 0);
    });
  });
}

function endGroup(/** @type {number | undefined} */ pid) {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // it is gone
  }
}

const every = Number(flags.every);
const queue = TARGETS.flatMap(mutantsOf).filter((_, index) => index % every === 0);
const total = queue.length;
/** @type {(Mutant & { killed: boolean })[]} */
const results = [];
const jobs = Number(flags.jobs ?? availableParallelism());
console.log(`${total} mutants in ${TARGETS.length} files, ${jobs} at a time`);
await Promise.all(
  Array.from({ length: jobs }, async (_, job) => {
    const copy = makeCopy(job);
    for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
      const killed = await isKilled(copy, mutant);
      results.push({ ...mutant, killed });
      if (!killed) console.log(`survived ${mutant.file}:${mutant.line}  ${mutant.from}  →  ${mutant.to}`);
      if (results.length % 25 === 0) console.log(`${results.length} of ${total}`);
    }
    rmSync(copy, { recursive: true, force: true });
  }),
);
const survivors = results.filter(({ killed }) => !killed);
const share = ((100 * (total - survivors.length)) / total).toFixed(1);
console.log(`${total - survivors.length} of ${total} killed (${share} %)`);
writeFileSync(
  join(root, '.cache', 'mutants.json'),
  JSON.stringify(
    survivors.map(({ text, tests, ...rest }) => rest),
    null,
    2,
  ),
);
process.exitCode = Number(share) >= 90 ? 0 : 1;
