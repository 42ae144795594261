// Runs the tests of the faults that toolherd must survive.
//
//   npm run faults                           in their full size, for half an hour; writes docs/RELIABILITY.md
//   npm run faults -- kill-storm million     only these files, in their full size; writes their rows
//   npm run faults -- --times 10 --loaded    in the size they have in the suite, ten times in a row while other processes burn
//                                            every core; ends at the first failure, and says what was left on the machine
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { execaSync } from 'execa';
import { filesOfRows } from './faults/files.mjs';
import { leftSince, lookAround } from './faults/leftovers.mjs';

const root = join(import.meta.dirname, '..', '..');
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const reporter = join(import.meta.dirname, 'faults', 'reporter.mjs');
/** A run that was not the machine's only work says so by its load. */
const load = () => loadavg()[0].toFixed(1);

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: { times: { type: 'string' }, loaded: { type: 'boolean' } },
});
const all = filesOfRows(root);
const files = positionals.length === 0 ? all : positionals.flatMap(filesNamed);

/** @param {string} name */
function filesNamed(name) {
  const found = all.filter((file) => file === name || file.endsWith(`/${name}.test.ts`));
  return found.length > 0 ? found : [name];
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @param {string[]} options
 */
function runTests(env, ...options) {
  const run = { cwd: root, env, stdio: /** @type {const} */ ('inherit'), reject: false };
  const { exitCode = 1 } = execaSync(process.execPath, [vitest, 'run', ...options, ...files], run);
  return exitCode;
}

function runLong() {
  const folder = mkdtempSync(join(tmpdir(), 'faults-'));
  const env = {
    TOOLHERD_LONG: '1',
    TOOLHERD_MEASURED: join(folder, 'measured'),
    TOOLHERD_ABOUT: `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, load ${load()}`,
  };
  try {
    // one file at a time: what is measured here is measured alone
    return runTests(env, '--reporter=default', `--reporter=${reporter}`, '--no-file-parallelism');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** @param {number} times */
function runTimes(times) {
  const burners = flags.loaded ? startBurners() : [];
  try {
    for (let round = 1; round <= times; round += 1) {
      const before = lookAround();
      const began = Date.now();
      const status = runTests({});
      const left = leftSince(before);
      const seconds = Math.round((Date.now() - began) / 1000);
      console.log(
        `round ${round} of ${times}: ${status === 0 ? 'passed' : 'FAILED'} in ${seconds} s, load ${load()}`,
      );
      console.log(left.length === 0 ? '  nothing was left' : left.map((one) => `  left: ${one}`).join('\n'));
      if (status !== 0 || left.length > 0) return 1;
    }
    return 0;
  } finally {
    for (const burner of burners) burner.kill('SIGKILL');
  }
}

/** One for each core; they end with this process, however that ends. */
function startBurners() {
  const script =
    'process.stdin.on("end", () => process.exit()).resume(); (function burn() { for (let i = 0; i < 1e8; i++); setImmediate(burn); })()';
  return Array.from({ length: availableParallelism() }, () =>
    spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'ignore', 'ignore'] }),
  );
}

process.exitCode =
  flags.times === undefined && !flags.loaded ? runLong() : runTimes(Number(flags.times ?? 1));
