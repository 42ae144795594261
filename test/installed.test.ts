import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { DIST } from './support/command.js';
import { makeFolder } from './support/folder.js';
import { ROOT } from './support/run.js';
import { share } from './support/share.js';

const MAX_BYTES = 15_000_000;
const MAX_PACKAGES = 15;
/** The user without rights on every system. Only root can become another user. */
const OTHER_USER = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
if (OTHER_USER.uid === undefined)
  console.warn('not root: the installed package was not tried as another user, only as this one');

/** The package as it would be published, with the build of this run, installed as `npm install --global` does. */
const prefix = share(async () => {
  const source = makeFolder();
  for (const name of ['package.json', 'README.md', 'CHANGELOG.md', 'LICENSE', 'docs'])
    cpSync(join(ROOT, name), join(source, name), { recursive: true });
  cpSync(DIST, join(source, 'dist'), { recursive: true });
  const npm = (args: string[]) => execFileSync('npm', args, { cwd: source, encoding: 'utf8' }).trim();
  const tarball = npm(['pack', '--ignore-scripts', '--silent']);
  const folder = join(source, 'prefix');
  npm(['install', '--global', '--prefix', folder, '--no-audit', '--no-fund', '--prefer-offline', tarball]);
  chmodSync(source, 0o755);
  return folder;
});

/** Regular files below a folder. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((file) => lstatSync(file).isFile());
}

it('an installation has at most 15 packages and 15 MB', () => {
  const modules = join(prefix(), 'lib', 'node_modules');
  const files = filesIn(modules);
  const packages = files.filter((file) => /node_modules\/(?:@[^/]+\/)?[^/]+\/package\.json$/.test(file));
  expect(packages.length).toBeGreaterThan(0);
  expect(packages.length).toBeLessThanOrEqual(MAX_PACKAGES);
  expect(files.reduce((sum, file) => sum + lstatSync(file).size, 0)).toBeLessThan(MAX_BYTES);
});

it('an installed command adds, calls and stops a server, for a user who does not own its files', () => {
  const home = makeFolder();
  const { uid, gid } = OTHER_USER;
  for (const name of ['good.mjs', 'mini.mjs']) cpSync(join(ROOT, 'test', 'fixtures', name), join(home, name));
  mkdirSync(join(home, 'work'));
  for (const path of [home, join(home, 'work'), ...filesIn(home)]) {
    if (uid !== undefined) chownSync(path, uid, gid);
  }
  const env = { HOME: home, PATH: `${dirname(process.execPath)}:/usr/bin:/bin` };
  const run = (...args: string[]) => {
    const command = join(prefix(), 'bin', 'toolherd');
    const options = { cwd: join(home, 'work'), env, encoding: 'utf8', ...OTHER_USER } as const;
    const { status, stdout, stderr } = spawnSync(command, args, options);
    return { status, stdout, stderr };
  };
  expect(run('version')).toMatchObject({ status: 0, stderr: '' });
  const server = ['--', 'node', join(home, 'good.mjs')];
  expect(run('add', 'good', '--global', '--allow-command', ...server)).toMatchObject({ status: 0 });
  try {
    expect(run('call', 'good.echo', 'value=hi')).toMatchObject({ status: 0, stdout: 'hi' });
    const { servers } = JSON.parse(run('status', '--json').stdout);
    expect(servers).toMatchObject([{ name: 'good', state: 'connected' }]);
  } finally {
    expect(run('down')).toMatchObject({ status: 0 });
  }
});
