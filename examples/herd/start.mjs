// `npm start`: runs the daemon with three servers, with all its files in .home, and prints what to try.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const home = join(root, '.home');
const command = join(root, 'dist', 'bin', 'main.cjs');
mkdirSync(home, { recursive: true });
if (!existsSync(join(home, 'config.yaml'))) {
  copyFileSync(join(import.meta.dirname, 'config.yaml'), join(home, 'config.yaml'));
}

/** Runs the command as a user would, and shows what it says. */
function toolherd(/** @type {string[]} */ ...args) {
  console.log(`$ toolherd ${args.join(' ')}`);
  const env = { ...process.env, TOOLHERD_HOME: home };
  const { status } = spawnSync(process.execPath, [command, ...args], { stdio: 'inherit', env, cwd: home });
  if (status !== 0) process.exit(status ?? 1);
  console.log('');
}

toolherd('up', '--replace');
console.log('starting three servers with npx; this takes a few seconds …');
toolherd('start', '--all', '--wait');
toolherd('call', 'everything.echo', 'message=hello');
console.log(`The herd runs in the background. Try next:

  alias toolherd='TOOLHERD_HOME="${home}" node "${command}"'

  toolherd status                              the herd as it is now
  toolherd ui                                  the same in your browser
  toolherd tools                               all tools of the herd
  toolherd call everything.get-sum a=2 b=3     call a tool
  toolherd why memory                          what happened to a server
  toolherd down                                stop it all`);
