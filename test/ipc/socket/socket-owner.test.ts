// isolated: sets the umask of its process
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { claimSocket, type SocketProblem } from '../../../src/ipc/socket/socket-owner.js';
import { makeFolder } from '../../support/folder.js';
import { NOISE_MS } from '../../support/noise.js';
import { FakeFleet } from '../fake-fleet.js';
import { FakeClock, later, RawClient, serve, socketPlace } from '../support.js';
import { useOwnerProcesses } from './owner-bundle.js';

const startOwner = useOwnerProcesses();

/** Leaves a stale socket behind. */
async function leaveStale(path: string): Promise<void> {
  const server = await listenAt(`${path}-`);
  renameSync(`${path}-`, path);
  await new Promise((resolve) => server.close(resolve));
}

async function listenAt(path: string): Promise<Server> {
  const server = createServer((socket) => socket.end('thief\n'));
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => void server.close());
  return server;
}

async function pidAt(path: string): Promise<unknown> {
  const client = await RawClient.open(path);
  const { result } = await client.answer('fleet/hello');
  client.socket.destroy();
  return (result as { daemon: { pid: number } }).daemon.pid;
}

/** An owner in this process; its troubles can be awaited. */
async function own(path: string, clock?: FakeClock) {
  const troubles: SocketProblem[] = [];
  let heard = later<SocketProblem>();
  const claim = await claimSocket(path);
  const owner = await claim.listen({
    onConnection: (socket) => socket.on('data', () => socket.write('owner\n')),
    onProblem: (trouble) => {
      troubles.push(trouble);
      heard.resolve(trouble);
      heard = later();
    },
    ...(clock && { clock }),
  });
  onTestFinished(() => owner.close());
  return { owner, troubles, trouble: () => heard.promise };
}

describe('one daemon per socket', () => {
  it('one of six daemons wins a race for a stale socket, 50 times of 50; the others name its pid (S1)', async () => {
    const owners = Array.from({ length: 6 }, startOwner);
    const folder = dirname(socketPlace());
    for (let round = 0; round < 50; round += 1) {
      const path = join(folder, `${round}.sock`);
      await leaveStale(path);
      for (const owner of owners) owner.order(`own ${path}`);
      const answers = await Promise.all(owners.map((owner) => owner.answer()));
      const winners = owners.filter((_, at) => answers[at]?.won);
      expect(winners).toHaveLength(1);
      const [winner] = winners;
      const losers = answers.filter(({ won }) => won === false);
      expect(losers).toHaveLength(5);
      for (const loser of losers) {
        expect(loser).toMatchObject({ type: 'AlreadyRunningError', pid: winner?.pid });
        expect(loser.message).toContain(`pid ${winner?.pid}`);
      }
      expect(await pidAt(path)).toBe(winner?.pid);
      await winner?.ask('close');
      expect(existsSync(path)).toBe(false);
    }
  });

  it('a socket and a lock left by a killed daemon are taken over within a second (S2)', async () => {
    const path = socketPlace();
    const first = startOwner();
    expect(await first.ask(`own ${path}`)).toEqual({ won: true });
    await first.kill();
    expect(lstatSync(path).isSocket()).toBe(true);
    expect(readFileSync(`${path}.lock`, 'utf8')).toBe(`${first.pid}\n`);
    const second = startOwner();
    await second.ask('nothing');
    const startedAt = performance.now();
    expect(await second.ask(`own ${path}`)).toEqual({ won: true });
    expect(performance.now() - startedAt).toBeLessThan(1000 + NOISE_MS);
    expect(await pidAt(path)).toBe(second.pid);
    expect(readFileSync(`${path}.lock`, 'utf8')).toBe(`${second.pid}\n`);
  });

  it('a daemon whose lock file was deleted is not replaced (S1)', async () => {
    const path = socketPlace();
    await own(path);
    unlinkSync(`${path}.lock`);
    // twice: the second finds the lock of the first given up
    for (const _ of [1, 2]) {
      await expect(claimSocket(path)).rejects.toMatchObject({ type: 'AlreadyRunningError', pid: null });
    }
    const client = await RawClient.open(path);
    await client.write('x');
    expect(await client.take(1)).toEqual(['owner']);
  });

  it('a claim refuses others before it listens, until it is released', async () => {
    const path = socketPlace();
    const claim = await claimSocket(path);
    await expect(claimSocket(path)).rejects.toMatchObject({ type: 'AlreadyRunningError', pid: process.pid });
    expect(existsSync(path)).toBe(false);
    claim.release();
    claim.release();
    (await claimSocket(path)).release();
    expect(readFileSync(`${path}.lock`, 'utf8')).toBe('');
  });

  it('an error never names the pid of a dead daemon for its successor', async () => {
    const path = socketPlace();
    const claim = await claimSocket(path);
    const dead = startOwner();
    await dead.kill();
    writeFileSync(`${path}.lock`, `${dead.pid}\n`);
    const refused = claimSocket(path);
    // as a successor does, a moment after it has the lock
    setImmediate(() => writeFileSync(`${path}.lock`, `${process.pid}\n`));
    await expect(refused).rejects.toMatchObject({ pid: process.pid });
    claim.release();
  });

  it('a claim that cannot listen is released, and what is at the path stays (S3)', async () => {
    const path = socketPlace();
    const claim = await claimSocket(path);
    mkdirSync(path);
    await expect(claim.listen({ onConnection: () => undefined })).rejects.toMatchObject({
      type: 'SocketPathError',
    });
    rmSync(path, { recursive: true });
    (await claimSocket(path)).release();
    expect(readdirSync(dirname(path))).toEqual(['toolherd.sock.lock']);
  });

  it('perl locks if there is no flock; a system that lacks both is an error with a fix (S1)', async () => {
    const path = socketPlace();
    const bin = makeFolder();
    vi.stubEnv('PATH', bin);
    onTestFinished(() => void vi.unstubAllEnvs());
    await expect(claimSocket(path)).rejects.toMatchObject({
      type: 'ToolherdError',
      why: 'flock: not found; perl: not found',
      fix: expect.stringContaining('install flock'),
    });
    symlinkSync('/usr/bin/perl', join(bin, 'perl'));
    const claim = await claimSocket(path);
    await expect(claimSocket(path)).rejects.toMatchObject({ type: 'AlreadyRunningError', pid: process.pid });
    vi.unstubAllEnvs();
    await expect(claimSocket(path)).rejects.toMatchObject({ type: 'AlreadyRunningError', pid: process.pid });
    claim.release();
  });
});

describe('the socket', () => {
  it('has mode 0600 in a folder of mode 0700 from the first moment, for any umask (S5)', async () => {
    const folder = join(makeFolder(), 'run');
    // [0]: 1 ends the watcher; [1]: how many looks it has finished
    const shared = new Int32Array(new SharedArrayBuffer(8));
    // looks as fast as it can, in another thread
    const watcher = new Worker(
      `const { readdirSync, lstatSync } = require('node:fs');
       const { workerData: { folder, shared }, parentPort } = require('node:worker_threads');
       const seen = new Set();
       parentPort.postMessage('looking');
       while (Atomics.load(shared, 0) === 0) {
         try {
           seen.add('folder ' + (lstatSync(folder).mode & 0o777).toString(8));
           for (const name of readdirSync(folder)) {
             const stats = lstatSync(folder + '/' + name);
             seen.add((stats.isSocket() ? 'socket ' : 'lock ') + (stats.mode & 0o777).toString(8));
           }
         } catch {}
         Atomics.add(shared, 1, 1);
       }
       parentPort.postMessage([...seen].sort());`,
      { eval: true, workerData: { folder, shared } },
    );
    const message = () => new Promise((resolve) => watcher.once('message', resolve));
    await message();
    const umask = process.umask(0);
    onTestFinished(() => void process.umask(umask));
    for (let round = 0; round < 60; round += 1) {
      const claim = await claimSocket(join(folder, 's.sock'));
      const owner = await claim.listen({ onConnection: () => undefined });
      expect(process.umask()).toBe(0);
      // a busy machine may give the watcher no time at all: of two more looks the second began after listen
      const looks = Atomics.load(shared, 1);
      while (Atomics.load(shared, 1) < looks + 2) await new Promise(setImmediate);
      owner.close();
    }
    Atomics.store(shared, 0, 1);
    expect(await message()).toEqual(['folder 700', 'lock 600', 'socket 600']);
    await watcher.terminate();
  });

  it('is restored after it was deleted; open connections stay (S4)', async () => {
    const { path, owner, troubles } = await serve(new FakeFleet());
    const before = await RawClient.open(path);
    unlinkSync(path);
    while (troubles.length === 0) await new Promise(setImmediate);
    expect(troubles).toMatchObject([{ kind: 'restored', message: expect.stringContaining(path) }]);
    expect(lstatSync(path).mode & 0o777).toBe(0o600);
    expect(await pidAt(path)).toBe(process.pid);
    expect(await before.answer('fleet/hello')).toHaveProperty('result');
    owner.close();
    expect(readdirSync(dirname(path))).toEqual(['toolherd.sock.lock']);
  });

  it('is restored and locked again after its folder was deleted (S4)', async () => {
    const path = socketPlace();
    const { trouble, owner } = await own(path);
    for (let round = 0; round < 3; round += 1) {
      const heard = trouble();
      rmSync(dirname(path), { recursive: true });
      expect(await heard).toMatchObject({ kind: 'restored' });
      expect(lstatSync(dirname(path)).mode & 0o777).toBe(0o700);
      await expect(claimSocket(path)).rejects.toMatchObject({
        type: 'AlreadyRunningError',
        pid: process.pid,
      });
    }
    owner.close();
    (await claimSocket(path)).release();
  });

  it('is restored by polling when the watcher fails (S4)', async () => {
    const path = socketPlace();
    const clock = new FakeClock();
    const { troubles, trouble } = await own(path, clock);
    for (const round of [1, 2]) {
      const heard = trouble();
      unlinkSync(path);
      clock.advance(2000);
      // in the same tick: the watcher had no chance
      expect(existsSync(path)).toBe(true);
      await heard;
      clock.advance(10_000);
      expect(troubles).toHaveLength(round);
    }
  });

  it('that was replaced by another is reported once and never unlinked (S4)', async () => {
    const path = socketPlace();
    const clock = new FakeClock();
    const { owner, troubles, trouble } = await own(path, clock);
    const before = await RawClient.open(path);
    const heard = trouble();
    await listenAt(`${path}-`);
    renameSync(`${path}-`, path);
    const { ino } = lstatSync(path);
    expect(await heard).toMatchObject({ kind: 'stolen', message: expect.stringContaining(path) });
    await before.write('x');
    expect(await before.take(1)).toEqual(['owner']);
    clock.advance(10_000);
    expect(troubles).toHaveLength(1);
    owner.close();
    expect(lstatSync(path).ino).toBe(ino);
    const thief = await RawClient.open(path);
    expect(await thief.take(1)).toEqual(['thief']);
  });

  it('is not restored over a file that replaces it at the same moment (S4)', async () => {
    const path = socketPlace();
    const { owner } = await own(path);
    const rival = new Worker(
      `const { workerData: path, parentPort } = require('node:worker_threads');
       const fs = require('node:fs');
       const pause = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
       let lost = 0;
       for (let round = 0; round < 150; round += 1) {
         fs.rmSync(path, { force: true });
         for (let spin = 0; spin < round * 40; spin += 1) Math.sqrt(spin);
         fs.writeFileSync(path + '-', 'precious');
         fs.renameSync(path + '-', path);
         pause(3);
         if (!fs.lstatSync(path, { throwIfNoEntry: false })?.isFile()) lost += 1;
       }
       parentPort.postMessage(lost);`,
      { eval: true, workerData: path },
    );
    onTestFinished(() => void rival.terminate());
    expect(await new Promise((resolve) => rival.once('message', resolve))).toBe(0);
    owner.close();
    expect(readFileSync(path, 'utf8')).toBe('precious');
  });

  it('is restored when the one that replaced it is deleted (S4)', async () => {
    const path = socketPlace();
    const { trouble } = await own(path);
    const stolen = trouble();
    await listenAt(`${path}-`);
    renameSync(`${path}-`, path);
    await stolen;
    const restored = trouble();
    unlinkSync(path);
    expect(await restored).toMatchObject({ kind: 'restored' });
  });

  it('is left to another daemon that took the lock meanwhile (S4)', async () => {
    const path = socketPlace();
    const clock = new FakeClock();
    const { owner, troubles, trouble } = await own(path, clock);
    const heard = trouble();
    unlinkSync(`${path}.lock`);
    unlinkSync(path);
    // claims before the watcher of the first can look
    const claim = claimSocket(path);
    expect(await heard).toMatchObject({ kind: 'stolen' });
    const second = await (await claim).listen({ onConnection: (socket) => socket.end('second\n') });
    onTestFinished(() => second.close());
    clock.advance(10_000);
    owner.close();
    const client = await RawClient.open(path);
    expect(await client.take(1)).toEqual(['second']);
    expect(troubles).toHaveLength(1);
    await expect(claimSocket(path)).rejects.toMatchObject({ type: 'AlreadyRunningError' });
  });

  it('that cannot be restored is reported once, and is restored when it can be (S4)', async () => {
    const path = socketPlace();
    const { trouble } = await own(path);
    const lost = trouble();
    const folder = dirname(path);
    renameSync(folder, `${folder}-away`);
    symlinkSync(`${folder}-away`, folder);
    unlinkSync(path);
    expect(await lost).toMatchObject({ kind: 'lost', message: expect.stringContaining('symbolic link') });
    const restored = trouble();
    unlinkSync(folder);
    renameSync(`${folder}-away`, folder);
    expect(await restored).toMatchObject({ kind: 'restored' });
  });
});
