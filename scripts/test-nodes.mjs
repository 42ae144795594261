// Runs the whole test suite on every supported line of Node. The npm package `node` brings the binaries, so nothing
// is installed on the machine: they land in .cache/ and are kept for the next run.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const wanted = process.argv.length > 2 ? process.argv.slice(2) : ['20', '22', '24', '26'];
const results = [];

for (const line of wanted) {
  const folder = join(root, '.cache', `node-${line}`);
  const bin = join(folder, 'node_modules', 'node', 'bin');
  if (!existsSync(join(bin, 'node'))) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
    // The package's own install step puts the binary of this platform in place.
    execFileSync('npm', ['install', '--no-save', `node@${line}`, '--foreground-scripts'], {
      cwd: folder,
      stdio: 'inherit',
    });
    if (!existsSync(join(bin, 'node'))) {
      execFileSync(process.execPath, ['node_modules/node/installArchSpecificPackage.js'], {
        cwd: folder,
        stdio: 'inherit',
      });
    }
  }
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
  const version = execFileSync(join(bin, 'node'), ['--version'], { encoding: 'utf8' }).trim();
  console.log(`\n== node ${version}`);
  const { status } = spawnSync('npm', ['test'], { cwd: root, env, stdio: 'inherit' });
  results.push({ version, passed: status === 0 });
}

console.log('');
for (const { version, passed } of results)
  console.log(`${version.padEnd(10)} ${passed ? 'passed' : 'FAILED'}`);
process.exitCode = results.every(({ passed }) => passed) ? 0 : 1;
