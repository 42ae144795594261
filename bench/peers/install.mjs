// Peers come from npm, each into a folder of its own under .cache/bench, on the first run that wants them.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { environment } from '../processes.mjs';

const CACHE = join(import.meta.dirname, '..', '..', '.cache', 'bench');

/** Gives the folder and the version. `more` goes into the package.json of that folder. */
export function install(name, spec, more = {}) {
  const folder = join(CACHE, name);
  const at = spec.lastIndexOf('@');
  const manifest = join(folder, 'node_modules', spec.slice(0, at), 'package.json');
  const versionOf = () => JSON.parse(readFileSync(manifest, 'utf8')).version;
  // as in `4.2.1` or `24`
  if (!existsSync(manifest) || !`${versionOf()}.`.startsWith(`${spec.slice(at + 1)}.`)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ private: true, ...more })}\n`);
    const args = ['install', '--no-audit', '--no-fund', '--loglevel=error', spec];
    execFileSync('npm', args, { cwd: folder, env: environment, stdio: ['ignore', 'ignore', 'pipe'] });
  }
  return { folder, version: versionOf() };
}

/** A newer Node, for the peer that needs it. */
export function installNode(line) {
  const { folder } = install(`node-${line}`, `node@${line}`);
  const node = join(folder, 'node_modules', 'node', 'bin', 'node');
  if (!existsSync(node)) {
    // npm does not always run the step that puts the binary of this platform in place
    const step = join(folder, 'node_modules', 'node', 'installArchSpecificPackage.js');
    execFileSync(process.execPath, [step], { cwd: folder, env: environment, stdio: 'ignore' });
  }
  return node;
}
