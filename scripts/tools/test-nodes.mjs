// Runs the whole test suite on every supported line of Node. The binaries come from npm and are kept in .cache/.
// Usage: npm run test:nodes [-- 22 24]
import { delimiter, dirname, join } from 'node:path';
import { execaSync } from 'execa';
import { installNode } from '../shared/install.mjs';

const root = join(import.meta.dirname, '..', '..');
const lines = process.argv.length > 2 ? process.argv.slice(2) : ['20', '22', '24', '26'];
const results = [];

for (const line of lines) {
  const node = installNode(line);
  const env = { PATH: `${dirname(node)}${delimiter}${process.env.PATH}` };
  const version = execaSync(node, ['--version']).stdout;
  console.log(`\n== node ${version}`);
  const { exitCode } = execaSync('npm', ['test'], { cwd: root, env, stdio: 'inherit', reject: false });
  results.push({ version, passed: exitCode === 0 });
}

console.log('');
for (const { version, passed } of results)
  console.log(`${version.padEnd(10)} ${passed ? 'passed' : 'FAILED'}`);
process.exitCode = results.every(({ passed }) => passed) ? 0 : 1;
