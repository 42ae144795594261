// Builds once, then runs the tests and meanwhile checks types and style: most tests wait for processes. Fails if any fails.
// Usage: npm test [-- FILE …]   (arguments are for vitest)
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const cwd = join(import.meta.dirname, '..', '..');
const dist = join(cwd, 'dist');

/**
 * @param {string} program
 * @param {readonly string[]} args
 * @param {'inherit' | 'pipe'} output
 */
async function run(program, args, output) {
  const env = { ...process.env, TOOLHERD_BUILT: dist };
  const child = spawn(program, args, {
    cwd,
    env,
    stdio: [output === 'pipe' ? 'ignore' : 'inherit', output, output],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text) => {
      said += text;
    });
  }
  const [code] = await once(child, 'close');
  return { code: Number(code ?? 1), said };
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
