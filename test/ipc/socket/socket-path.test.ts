import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connectSocket } from '../../../src/ipc/socket/connect-socket.js';
import { claimSocket } from '../../../src/ipc/socket/socket-owner.js';
import { checkSocketPath, findSocketPath } from '../../../src/ipc/socket/socket-path.js';
import { makeFolder } from '../../support/folder.js';
import { socketPlace } from '../support.js';

/** Everything under a folder that a trespasser could have changed. */
function inventory(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => {
      const { mode, size, ino } = lstatSync(join(folder, name));
      return `${name} ${mode.toString(8)} ${size} ${ino}`;
    })
    .sort();
}

async function expectRefused(path: string, root: string, message: RegExp): Promise<void> {
  const before = inventory(root);
  await expect(claimSocket(path)).rejects.toMatchObject({
    type: 'SocketPathError',
    message: expect.stringMatching(message),
    fix: expect.any(String),
  });
  await expect(connectSocket({ path })).rejects.toMatchObject({ type: 'SocketPathError' });
  // the lock file may be there: it is ours
  expect(inventory(root).filter((line) => !line.includes('.lock '))).toEqual(before);
}

describe('the path of the socket', () => {
  const environment = {
    TOOLHERD_SOCKET: '/env/s.sock',
    TOOLHERD_HOME: '/home/h',
    XDG_RUNTIME_DIR: '/run/user/1',
  };
  const find = (flag: string | undefined, names: (keyof typeof environment)[]) => {
    const chosen = Object.fromEntries(names.map((name) => [name, environment[name]]));
    return findSocketPath({ flag, environment: chosen, stateFolder: '/state' });
  };

  it('is the first of --socket, TOOLHERD_SOCKET, TOOLHERD_HOME, XDG_RUNTIME_DIR, the state folder', () => {
    expect(find('/flag.sock', ['TOOLHERD_SOCKET', 'TOOLHERD_HOME', 'XDG_RUNTIME_DIR'])).toBe('/flag.sock');
    expect(find(undefined, ['TOOLHERD_SOCKET', 'TOOLHERD_HOME', 'XDG_RUNTIME_DIR'])).toBe('/env/s.sock');
    expect(find(undefined, ['TOOLHERD_HOME', 'XDG_RUNTIME_DIR'])).toBe('/home/h/run/toolherd.sock');
    expect(find(undefined, ['XDG_RUNTIME_DIR'])).toBe('/run/user/1/toolherd/toolherd.sock');
    expect(find(undefined, [])).toBe('/state/run/toolherd.sock');
    expect(find('x.sock', [])).toBe(join(process.cwd(), 'x.sock'));
  });

  it('treats an empty variable and a relative XDG_RUNTIME_DIR as unset', () => {
    const empty = { TOOLHERD_SOCKET: '', TOOLHERD_HOME: '', XDG_RUNTIME_DIR: 'here' };
    expect(findSocketPath({ flag: '', environment: empty, stateFolder: '/state' })).toBe(
      '/state/run/toolherd.sock',
    );
  });

  it('has 103 bytes at most', () => {
    const of = (bytes: number) => `/${'ä'.repeat(20)}/${'x'.repeat(bytes - 42)}`;
    expect(() => checkSocketPath(of(103))).not.toThrow();
    expect(() => checkSocketPath(of(104))).toThrow(/104 bytes/);
    expect(() => checkSocketPath('/a\0b')).toThrow(/NUL/);
  });
});

describe('an unsafe socket path is refused, and nothing is changed:', () => {
  it('a file at the path (S3)', async () => {
    const path = socketPlace();
    writeFileSync(path, 'precious');
    await expectRefused(path, dirname(path), /not a socket/);
    expect(readFileSync(path, 'utf8')).toBe('precious');
  });

  it('a folder at the path (S3)', async () => {
    const path = socketPlace();
    mkdirSync(path);
    await expectRefused(path, dirname(path), /not a socket/);
  });

  it('a symbolic link at the path, to a socket or to nothing (S3)', async () => {
    const path = socketPlace();
    const target = join(dirname(path), 'other.sock');
    symlinkSync(target, path);
    await expectRefused(path, dirname(path), /symbolic link/);
    const server = createServer().listen(target);
    onTestFinished(() => void server.close());
    await expectRefused(path, dirname(path), /symbolic link/);
  });

  it('a folder that is a symbolic link (S3)', async () => {
    const place = dirname(socketPlace());
    const link = join(dirname(place), 'link');
    symlinkSync(place, link);
    await expectRefused(join(link, 's.sock'), dirname(place), /symbolic link/);
  });

  it('a folder that others may enter (S3)', async () => {
    const path = socketPlace();
    for (const mode of [0o755, 0o777, 0o701, 0o500]) {
      chmodSync(dirname(path), mode);
      await expectRefused(path, dirname(dirname(path)), new RegExp(`mode 0${mode.toString(8)}, not 0700`));
    }
  });

  it('a folder that is a file (S3)', async () => {
    const folder = makeFolder({ run: 'precious' });
    await expectRefused(join(folder, 'run', 's.sock'), folder, /is not a folder/);
  });

  it.runIf(process.getuid?.() === 0)('a folder, a socket or a lock of another user (S3)', async () => {
    const path = socketPlace();
    chownSync(dirname(path), 12_345, 12_345);
    await expectRefused(path, dirname(dirname(path)), /another user \(uid 12345\)/);
    chownSync(dirname(path), 0, 0);
    const server = createServer().listen(path);
    onTestFinished(() => void server.close());
    chownSync(path, 12_345, 12_345);
    await expectRefused(path, dirname(path), /another user \(uid 12345\)/);
    const other = socketPlace();
    writeFileSync(`${other}.lock`, '1');
    chownSync(`${other}.lock`, 12_345, 12_345);
    await expect(claimSocket(other)).rejects.toMatchObject({
      message: expect.stringContaining('not a plain file of ours'),
    });
  });

  it('a lock file that is a symbolic link (S3)', async () => {
    const path = socketPlace();
    const victim = join(dirname(path), 'victim');
    writeFileSync(victim, 'precious');
    symlinkSync(victim, `${path}.lock`);
    await expect(claimSocket(path)).rejects.toMatchObject({ type: 'SocketPathError' });
    expect(readFileSync(victim, 'utf8')).toBe('precious');
  });

  it('a path that is too long, before any folder is made (S3)', async () => {
    const folder = makeFolder();
    await expectRefused(join(folder, 'x'.repeat(100), 's.sock'), folder, /bytes long/);
  });

  it('a folder that cannot be created, with the reason and a fix', async () => {
    const file = join(makeFolder({ file: '' }), 'file');
    for (const folder of ['/proc/nowhere', join(file, 'below')]) {
      await expect(claimSocket(join(folder, 's.sock'))).rejects.toMatchObject({
        type: 'SocketPathError',
        message: expect.stringContaining(folder),
        why: expect.stringMatching(/^E/),
        fix: expect.stringContaining('TOOLHERD_SOCKET'),
      });
    }
  });

  it('missing folders are not unsafe: they are created with mode 0700', async () => {
    const folder = makeFolder();
    const path = join(folder, 'one', 'two', 's.sock');
    const claim = await claimSocket(path);
    claim.release();
    for (const made of [dirname(path), join(folder, 'one')]) expect(lstatSync(made).mode & 0o777).toBe(0o700);
    expect(readdirSync(dirname(path))).toEqual([`${basename(path)}.lock`]);
  });
});
