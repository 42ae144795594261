// Runs the tests, and looks at the types and the style meanwhile: most tests wait for processes. Fails if any of them fails.
// Usage: npm test [-- FILE …]   (what follows is for vitest)
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const cwd = join(dirname(fileURLToPath(import.meta.url)), '..');
const run = async (program, args, stdio) => {
  const child = spawn(program, args, { cwd, stdio });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text) => {
      said += text;
    });
  }
  const [code] = await once(child, 'close');
  return { code: code ?? 1, said };
};

/** What they say comes in one piece, when they have found something: not in between the lines of the tests. */
async function checks() {
  let failed = [];
  for (const script of ['check', 'lint']) {
    const { code, said } = await run('npm', ['run', '--silent', script], ['ignore', 'pipe', 'pipe']);
    if (code === 0) continue;
    failed = [...failed, script];
    process.stderr.write(`\n'npm run ${script}' failed:\n${said}\n`);
  }
  return failed;
}

const vitest = join(cwd, 'node_modules', 'vitest', 'vitest.mjs');
const [failed, { code }] = await Promise.all([
  checks(),
  run(process.execPath, [vitest, 'run', ...process.argv.slice(2)], 'inherit'),
]);
// once more at the end, where it is looked for
for (const script of failed) console.error(`'npm run ${script}' failed, see above`);
process.exitCode = failed.length > 0 ? 1 : code;
