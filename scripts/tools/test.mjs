// Builds once, then runs the tests and meanwhile checks types and style: most tests wait for processes. Fails if any fails.
// Usage: npm test [-- FILE …]   (arguments are for vitest)
import { join } from 'node:path';
import { execa } from 'execa';

const cwd = join(import.meta.dirname, '..', '..');
const dist = join(cwd, 'dist');

/**
 * @param {string} program
 * @param {readonly string[]} args
 * @param {'inherit' | 'pipe'} output
 */
async function run(program, args, output) {
  const { exitCode = 1, all = '' } = await execa(program, args, {
    cwd,
    env: { TOOLHERD_BUILT: dist },
    stdio: [output === 'pipe' ? 'ignore' : 'inherit', output, output],
    all: true,
    reject: false,
  });
  return { code: exitCode, said: String(all) };
}

/**
 * Runs npm scripts one after the other. The output of one that fails is printed in one piece, not between the tests' lines.
 * @param {readonly string[]} scripts
 * @returns the scripts that failed
 */
async function npmRun(...scripts) {
  const failed = [];
  for (const script of scripts) {
    const { code, said } = await run('npm', ['run', '--silent', script], 'pipe');
    if (code === 0) continue;
    failed.push(script);
    process.stderr.write(`\n'npm run ${script}' failed:\n${said}\n`);
  }
  return failed;
}

const notBuilt = await npmRun('build', 'types');
if (notBuilt.length > 0) process.exitCode = 1;
else {
  const vitest = join(cwd, 'node_modules', 'vitest', 'vitest.mjs');
  const [failed, { code }] = await Promise.all([
    npmRun('check', 'lint'),
    run(process.execPath, [vitest, 'run', ...process.argv.slice(2)], 'inherit'),
  ]);
  // once more at the end, where a reader looks for it
  for (const script of failed) console.error(`'npm run ${script}' failed, see above`);
  process.exitCode = failed.length > 0 ? 1 : code;
}
