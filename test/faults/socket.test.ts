import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connectFleet as connect } from '../../src/library/connect-fleet.js';
import { toolherd } from '../support/command.js';
import { type Home, isAlive, killDaemon, makeHome, startHerd, until } from '../support/herd.js';
import { NOISE_MS } from '../support/noise.js';
import { config, server } from './config.js';
import { measured, millis } from './measured.js';

const EMPTY = config([]);
const runFolder = (home: Home) => dirname(home.socket);
const modeOf = (path: string) => (lstatSync(path).mode & 0o777).toString(8);
const command = (home: Home, ...args: string[]) =>
  toolherd(args, { cwd: home.folder, env: home.environment });

/** The daemon must refuse this place, say so, and leave it as it was. */
async function expectRefusal(home: Home, says: string | RegExp): Promise<void> {
  const listing = () =>
    execFileSync('ls', ['-lnaR', '--time-style=full-iso', runFolder(home)], { encoding: 'utf8' });
  const before = listing();
  const { readiness, exit } = home.launch();
  const said = await readiness;
  expect(said).toMatchObject({ ready: false, error: { type: 'SocketPathError' } });
  expect(said?.ready === false && said.error.message).toMatch(says);
  expect(await exit).toEqual({ code: 1, signal: null });
  expect(listing()).toBe(before);
}

describe('S2: after a daemon was killed', () => {
  it('its socket and its lock block no successor: the next daemon is up at once', async () => {
    const { home, daemon } = await startHerd(EMPTY);
    await killDaemon(home, daemon);
    expect(lstatSync(home.socket).isSocket()).toBe(true);
    expect(existsSync(`${home.socket}.lock`)).toBe(true);
    expect((await command(home, 'status')).status).toBe(3);
    const began = performance.now();
    const next = await home.start();
    const tookMs = performance.now() - began;
    measured(`S2: up after ${millis(tookMs)}`);
    expect(tookMs).toBeLessThan(1000 + NOISE_MS);
    const fleet = await connect({ socket: home.socket });
    expect((await fleet.status()).daemon.pid).toBe(next.pid);
    fleet.close();
  });

  it('a start at the same moment succeeds', async () => {
    const { home, daemon } = await startHerd(EMPTY);
    const pids = [daemon.pid];
    for (let round = 0; round < 3; round += 1) {
      process.kill(pids.at(-1) ?? 0, 'SIGKILL');
      const { status, stdout } = await command(home, 'up', '--json');
      expect({ status, ...(JSON.parse(stdout) as object) }).toMatchObject({
        status: 0,
        already_running: false,
      });
      pids.push(home.adopt((JSON.parse(stdout) as { pid: number }).pid).pid);
    }
    expect(new Set(pids).size).toBe(4);
  });

  it('a deleted lock file lets no second daemon in while the first runs', async () => {
    const { home, fleet, daemon } = await startHerd(EMPTY);
    await rm(`${home.socket}.lock`);
    const { readiness } = home.launch();
    expect(await readiness).toMatchObject({ ready: false, error: { type: 'AlreadyRunningError' } });
    expect((await fleet.status()).daemon.pid).toBe(daemon.pid);
    expect(lstatSync(home.socket).isSocket()).toBe(true);
  });
});

describe('S3: an unsafe place for the socket is refused, and nothing in it is changed:', () => {
  const planted = (plant: (home: Home) => void, mode = 0o700) => {
    const home = makeHome(EMPTY);
    mkdirSync(runFolder(home), { mode });
    chmodSync(runFolder(home), mode);
    plant(home);
    return home;
  };

  it('a file in the place of the socket', async () => {
    const home = planted(({ socket }) => writeFileSync(socket, 'precious'));
    await expectRefusal(home, 'is not a socket');
    const up = await command(home, 'up');
    expect(up.status).not.toBe(0);
    expect(up.stderr).toContain('is not a socket');
    expect(readFileSync(home.socket, 'utf8')).toBe('precious');
    measured('S3: refused, and the file at the path is unchanged');
  });

  it('a symbolic link in the place of the socket', async () => {
    const home = planted(({ socket, configFile }) => symlinkSync(configFile, socket));
    await expectRefusal(home, 'is a symbolic link');
    expect(readFileSync(home.configFile, 'utf8')).toBe(EMPTY);
  });

  it('a symbolic link in the place of its folder', async () => {
    const home = makeHome(EMPTY);
    mkdirSync(join(home.folder, 'elsewhere'), { mode: 0o700 });
    symlinkSync(join(home.folder, 'elsewhere'), runFolder(home));
    await expectRefusal(home, 'is a symbolic link');
  });

  it('a symbolic link in the place of the lock file', async () => {
    const home = planted(({ socket, configFile }) => symlinkSync(configFile, `${socket}.lock`));
    await expectRefusal(home, 'cannot open the lock file');
    expect(readFileSync(home.configFile, 'utf8')).toBe(EMPTY);
  });

  it.each([0o755, 0o701])('a folder that others may enter: %o', async (mode) => {
    const home = planted(() => undefined, mode);
    await expectRefusal(home, `has mode 0${mode.toString(8)}, not 0700`);
  });

  it.runIf(process.getuid?.() === 0)('a folder of another user', async () => {
    const home = planted((one) => chownSync(runFolder(one), 65_534, 65_534));
    await expectRefusal(home, /belongs to another user \(uid 65534\)/);
  });

  it('a path that is too long for a socket', async () => {
    const home = makeHome(EMPTY);
    const long = join(home.folder, 'x'.repeat(103 - home.folder.length));
    const up = await command(home, 'up', '--socket', long);
    expect(up.status).not.toBe(0);
    expect(up.stderr).toContain("a Unix socket's path may have at most 103 bytes");
    expect(existsSync(long)).toBe(false);
  });
});

describe('S4: a socket that disappears is noticed', () => {
  const logOf = (home: Home) => readFileSync(join(home.folder, 'state', 'logs', 'daemon.log'), 'utf8');

  it.each(['the socket', 'its folder'])(
    '%s was deleted: it is restored, and no connection is lost',
    async (what) => {
      const { home, fleet, daemon } = await startHerd(EMPTY);
      const goneAt = performance.now();
      if (what === 'the socket') await rm(home.socket);
      else await rename(runFolder(home), join(home.folder, 'gone'));
      await until(() => existsSync(home.socket));
      const again = await until(() => connect({ socket: home.socket }).catch(() => undefined));
      measured(`S4: ${what} was deleted, and existed again after ${millis(performance.now() - goneAt)}`);
      expect((await again.status()).daemon.pid).toBe(daemon.pid);
      again.close();
      expect((await fleet.status()).daemon.pid).toBe(daemon.pid);
      expect([modeOf(runFolder(home)), modeOf(home.socket)]).toEqual(['700', '600']);
      await until(() => logOf(home).includes('restored'));
      expect(await home.launch().readiness).toMatchObject({
        ready: false,
        error: { type: 'AlreadyRunningError' },
      });
    },
  );

  it('another socket took its place: it is left alone, also at the end, and open connections are served', async () => {
    const { home, fleet, daemon } = await startHerd(EMPTY);
    const thief = createServer();
    onTestFinished(() => void thief.close());
    const aside = join(runFolder(home), 'thief');
    await new Promise<void>((resolve) => thief.listen(aside, resolve));
    await rename(aside, home.socket);
    const { ino } = lstatSync(home.socket);
    await until(() => logOf(home).includes('stolen'));
    expect((await fleet.status()).daemon.pid).toBe(daemon.pid);
    await fleet.shutdown();
    await until(() => !isAlive(daemon.pid));
    expect(lstatSync(home.socket).ino).toBe(ino);
  });

  it('another file took its place: it is left alone at the end', async () => {
    const { home, daemon } = await startHerd(EMPTY);
    await rm(home.socket);
    writeFileSync(`${home.socket}.new`, 'precious');
    await rename(`${home.socket}.new`, home.socket);
    daemon.kill('SIGTERM');
    await until(() => !isAlive(daemon.pid));
    expect(existsSync(home.socket) && lstatSync(home.socket).isFile()).toBe(true);
  });
});

describe('S5: with a umask of 000', () => {
  it('the folder is 0700 and the socket 0600 from the first moment', async () => {
    const home = makeHome(config([server('one', 'good.mjs', { start: 'eager' })]));
    const { readiness, pid } = home.launch({ shell: 'umask 000' });
    const seen = new Set<string>();
    let isReady = false;
    void readiness.then(() => {
      isReady = true;
    });
    const look = (path: string) => {
      const there = lstatSync(path, { throwIfNoEntry: false });
      if (there !== undefined)
        seen.add(`${path.slice(home.folder.length)} ${(there.mode & 0o777).toString(8)}`);
    };
    const places = [runFolder(home), home.socket, `${home.socket}.lock`];
    while (!isReady) {
      places.forEach(look);
      await setImmediate();
    }
    // it may have been made and made known between two looks
    places.forEach(look);
    expect(await readiness).toMatchObject({ ready: true });
    home.adopt(pid);
    expect([...seen].sort()).toEqual(['/run 700', '/run/toolherd.sock 600', '/run/toolherd.sock.lock 600']);
    const kept = ['state', 'state/logs', 'state/ledger', 'state/logs/daemon.log'];
    expect(kept.map((path) => modeOf(join(home.folder, path)))).toEqual(['700', '700', '600', '600']);
    measured(`S5: modes from the first check to the last: ${[...seen].sort().join(', ')}`);
  });
});
