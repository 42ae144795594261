// Runs the whole test suite, or some files of it, on every supported line of Node. The binaries come from npm and are kept in
// .cache/.
// Usage: npm run test:nodes [-- 22 24] [test/installed.test.ts …]
import { delimiter, dirname, join } from 'node:path';
import { execaSync } from 'execa';
import { installNode } from '../shared/install.mjs';

const root = join(import.meta.dirname, '..', '..');
const args = process.argv.slice(2);
const files = args.filter((arg) => !/^\d+$/.test(arg));
const lines = args.filter((arg) => !files.includes(arg));
const results = [];

for (const line of lines.length > 0 ? lines : ['20', '22', '24', '26']) {
  const node = installNode(line);
  const env = { PATH: `${dirname(node)}${delimiter}${process.env.PATH}` };
  const version = execaSync(node, ['--version']).stdout;
  console.log(`\n== node ${version}`);
  const [program, ...words] = files.length === 0 ? ['npm', 'test'] : ['npx', 'vitest', 'run', ...files];
  const { exitCode } = execaSync(program, words, { cwd: root, env, stdio: 'inherit', reject: false });
  results.push({ version, passed: exitCode === 0 });
}

console.log('');
for (const { version, passed } of results)
  console.log(`${version.padEnd(10)} ${passed ? 'passed' : 'FAILED'}`);
process.exitCode = results.every(({ passed }) => passed) ? 0 : 1;
