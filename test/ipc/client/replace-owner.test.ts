import { writeFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { replaceOwner } from '../../../src/ipc/client/replace-owner.js';
import { FleetServer } from '../../../src/ipc/server/fleet-server.js';
import { type SocketLock, tryLock } from '../../../src/ipc/socket/socket-lock.js';
import {
  claimSocket,
  claimUnder,
  lockSocket,
  type SocketClaim,
  type SocketOwner,
  successorFileOf,
} from '../../../src/ipc/socket/socket-owner.js';
import { FakeFleet } from '../fake-fleet.js';
import { FakeClock, socketPlace } from '../support.js';

/** A daemon without a herd: it gives its socket up when it is asked to end. */
async function own(path: string, claim?: SocketClaim): Promise<{ isOpen(): boolean }> {
  let state: 'open' | 'closed' = 'open';
  const server = new FleetServer(new FakeFleet(), {
    async onShutdown() {
      await server.close();
      owner.close();
      state = 'closed';
    },
  });
  const owner: SocketOwner = await (claim ?? (await claimSocket(path))).listen({
    onConnection: (socket) => server.accept(socket),
  });
  onTestFinished(() => owner.close());
  return { isOpen: () => state === 'open' };
}

it('any other daemon is refused while a successor waits for a socket', async () => {
  const path = socketPlace();
  const registration = tryLock(successorFileOf(path));
  for (const _ of [1, 2]) {
    await expect(claimSocket(path)).rejects.toMatchObject({
      type: 'AlreadyRunningError',
      pid: process.pid,
      message: `a daemon is about to serve ${path} (pid ${process.pid})`,
    });
  }
  registration?.release();
  (await claimSocket(path)).release();
});

it('a killed successor does not count, although its pid is still in the file', async () => {
  const path = socketPlace();
  writeFileSync(successorFileOf(path), `${process.pid}\n`);
  (await claimSocket(path)).release();
});

it('a successor gets a free socket at once, and a served one when its daemon has ended', async () => {
  const path = socketPlace();
  (await replaceOwner(path)).release();
  const old = await own(path);
  const claim = await replaceOwner(path);
  expect(old.isOpen()).toBe(false);
  // the registration has ended with the claim
  const registration = tryLock(successorFileOf(path));
  expect(registration).toBeDefined();
  registration?.release();
  claim.release();
});

it('the second of two successors waits until the first serves, then replaces it', async () => {
  const path = socketPlace();
  const registration = tryLock(successorFileOf(path));
  const second = replaceOwner(path);
  await expect(claimSocket(path)).rejects.toMatchObject({ type: 'AlreadyRunningError' });
  // the first has what it waited for: it serves, and its registration ends
  const lock = (await lockSocket(path)) as SocketLock;
  const first = await own(path, claimUnder(lock, path));
  expect(first.isOpen()).toBe(true);
  registration?.release();
  const claim = await second;
  expect(first.isOpen()).toBe(false);
  claim.release();
});

it('ReplaceError names the pid of a daemon that does not give up the socket', async () => {
  const path = socketPlace();
  const claim = await claimSocket(path);
  const clock = new FakeClock();
  const refused = replaceOwner(path, clock);
  const timer = setInterval(() => clock.advance(1000), 5);
  onTestFinished(() => clearInterval(timer));
  await expect(refused).rejects.toMatchObject({
    type: 'ReplaceError',
    message: `the daemon (pid ${process.pid}) that serves ${path} did not end`,
    fix: `end it with: kill ${process.pid}`,
  });
  claim.release();
});
