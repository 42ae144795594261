// Runs the whole test suite on every supported line of Node. The binaries come from npm and are kept in .cache/.
// Usage: npm run test:nodes [-- 22 24]
import { execFileSync, spawnSync } from 'node:child_process';
import { delimiter, dirname, join } from 'node:path';
import { installNode } from '../shared/install.mjs';

const root = join(import.meta.dirname, '..', '..');
const lines = process.argv.length > 2 ? process.argv.slice(2) : ['20', '22', '24', '26'];
const results = [];

for (const line of lines) {
  const node = installNode(line);
  const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` };
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
  console.log(`\n== node ${version}`);
  const { status } = spawnSync('npm', ['test'], { cwd: root, env, stdio: 'inherit' });
  results.push({ version, passed: status === 0 });
}

console.log('');
for (const { version, passed } of results)
  console.log(`${version.padEnd(10)} ${passed ? 'passed' : 'FAILED'}`);
process.exitCode = results.every(({ passed }) => passed) ? 0 : 1;
