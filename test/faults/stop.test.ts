import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { toolherd } from '../support/command.js';
import { isAlive, ORPHANS_MS, processesOf, startHerd, until } from '../support/herd.js';
import { NOISE_MS } from '../support/noise.js';
import { config, server } from './config.js';
import { measured, millis } from './measured.js';

describe('a server that is stopped', () => {
  it('P6: a server that ignores EOF and TERM is killed at the end of its grace, not earlier', async () => {
    const stop = { close: 0.4, term: 0.4 };
    const { fleet, say } = await startHerd(config([server('one', 'stubborn.mjs', { stop })]));
    const pid = Number(await say('one', 'pid'));
    const began = performance.now();
    const [stopped] = await fleet.stop({ servers: ['one'] }, true);
    const tookMs = performance.now() - began;
    expect(isAlive(pid)).toBe(false);
    expect(stopped).toMatchObject({ state: 'disconnected', detail: 'stopped', pids: [] });
    measured(`P6: a grace of 800 ms, killed after ${millis(tookMs)}`);
    expect(tookMs).toBeGreaterThan(790);
    expect(tookMs).toBeLessThan(800 + 500 + NOISE_MS);
  });

  it('P7: takes its helpers with it, also one in another session', async () => {
    const { fleet, say } = await startHerd(config([server('one', 'escapes.mjs')]));
    const helper = Number(await say('one', 'helper'));
    expect(isAlive(helper)).toBe(true);
    const began = performance.now();
    await fleet.stop({ servers: ['one'] }, true);
    const tookMs = performance.now() - began;
    expect(isAlive(helper)).toBe(false);
    measured(`P7: gone ${millis(tookMs)} after the order to stop`);
    expect(tookMs).toBeLessThan(1000 + NOISE_MS);
  });

  it('P7: a server that crashes takes its helpers with it', async () => {
    const { fleet, say } = await startHerd(config([server('one', 'escapes.mjs')]));
    const helper = Number(await say('one', 'helper'));
    await fleet.call({ server: 'one', tool: 'exit' });
    await until(() => !isAlive(helper), 1000 + NOISE_MS);
  });

  it('is started again by an order, not by a call', async () => {
    const { fleet, say } = await startHerd(config([server('one', 'good.mjs')]));
    await say('one', 'pid');
    await fleet.stop({ servers: ['one'] }, true);
    const refused = await fleet.call({ server: 'one', tool: 'pid' });
    expect(refused.error).toMatchObject({
      type: 'ServerUnavailableError',
      sent: false,
      fix: 'toolherd start one',
    });
    const [started] = await fleet.start({ servers: ['one'] }, true);
    expect(started).toMatchObject({ state: 'connected', incarnation: 2 });
    expect((await fleet.call({ server: 'one', tool: 'pid' })).success).toBe(true);
  });
});

/** Every way of not going. */
const UNWILLING = [
  server('good', 'good.mjs', { start: 'eager' }),
  server('stubborn', 'stubborn.mjs', { start: 'eager', stop: { close: 0.3, term: 0.3 } }),
  server('escapes', 'escapes.mjs', { start: 'eager' }),
  server('helper', 'leaves-stubborn-helper.mjs', { start: 'eager', stop: { close: 0.3, term: 0.3 } }),
  server('spares', 'good.mjs', { lifecycle: 'transient', spares: 1 }),
];

async function startUnwilling() {
  const herd = await startHerd(config(UNWILLING));
  await herd.fleet.start({ all: true }, true);
  await until(async () => (await herd.status('spares')).state === 'connected');
  const found = processesOf(herd.daemon.id).filter(({ words }) => !words.includes('toolherd-watchdog'));
  const pids = found.map(({ pid }) => pid);
  expect(pids.length).toBeGreaterThan(UNWILLING.length);
  return { ...herd, pids };
}

describe('I6 FR-024: a daemon that ends leaves no process, no socket and no ledger', () => {
  it('a daemon that gets SIGTERM leaves none of them', async () => {
    const { daemon, home, pids } = await startUnwilling();
    daemon.kill('SIGTERM');
    await until(() => !isAlive(daemon.pid));
    expect(pids.filter(isAlive)).toEqual([]);
    expect([home.socket, join(home.folder, 'state', 'ledger')].filter(existsSync)).toEqual([]);
  });

  it('a daemon that "down" ends leaves none of them, and reports the killed servers', async () => {
    const { daemon, home, pids } = await startUnwilling();
    const { status, stdout } = await toolherd(['down', '--json'], {
      cwd: home.folder,
      env: home.environment,
    });
    expect(status).toBe(0);
    const { stopped, killed } = JSON.parse(stdout) as { stopped: string[]; killed: string[] };
    expect(killed).toEqual(['stubborn']);
    expect(stopped.sort()).toEqual(['escapes', 'good', 'helper', 'spares']);
    expect(pids.filter(isAlive)).toEqual([]);
    await until(() => !isAlive(daemon.pid));
    expect(pids.filter(isAlive)).toEqual([]);
    expect([home.socket, join(home.folder, 'state', 'ledger')].filter(existsSync)).toEqual([]);
  });

  it('a daemon ends at the end of its grace, although a server has a longer one', async () => {
    const slow = server('slow', 'stubborn.mjs', { stop: { close: 20, term: 20 } });
    const { fleet, say } = await startHerd(config([slow]));
    const pid = Number(await say('slow', 'pid'));
    const began = performance.now();
    expect(await fleet.shutdown(300)).toEqual({ stopped: [], killed: ['slow'], attached: 0 });
    expect(isAlive(pid)).toBe(false);
    expect(performance.now() - began).toBeLessThan(300 + 500 + NOISE_MS);
  });

  it('a daemon that ends refuses the orders of other clients meanwhile', async () => {
    const names = ['a', 'b', 'c'];
    const stop = { close: 0.6, term: 0.6 };
    const { fleet, connect, daemon } = await startHerd(
      config(names.map((name) => server(name, 'stubborn.mjs', { stop }))),
    );
    await fleet.start({ all: true }, true);
    const other = await connect();
    const ending = fleet.shutdown();
    await until(async () => (await other.inspect('a')).snapshot.keeper === 'running.stopping');
    const orders = [other.restart({ all: true }), other.start({ all: true }), other.reload()];
    const refused = { type: 'ServerUnavailableError', message: 'the daemon is shutting down' };
    for (const order of orders) await expect(order).rejects.toMatchObject(refused);
    const { error } = await other.call({ server: 'a', tool: 'pid' });
    expect(error).toMatchObject({ type: 'ServerUnavailableError', sent: false });
    expect(await ending).toEqual({ stopped: [], killed: names, attached: 0 });
    await until(() => !isAlive(daemon.pid));
    expect(processesOf(daemon.id)).toEqual([]);
  });

  it('a daemon ends at once on a signal more than a second after the first', async () => {
    const slow = server('slow', 'stubborn.mjs', { stop: { close: 20, term: 20 } });
    const { daemon, say } = await startHerd(config([slow]));
    const pid = Number(await say('slow', 'pid'));
    daemon.kill('SIGTERM');
    await sleep(1200);
    daemon.kill('SIGINT');
    await until(() => !isAlive(daemon.pid), NOISE_MS);
    await until(() => !isAlive(pid), ORPHANS_MS);
  });

  it('a daemon that is ordered to end twice leaves none of them', async () => {
    const { fleet, connect, daemon, say, home } = await startHerd(config([server('one', 'good.mjs')]));
    await say('one', 'pid');
    const other = await connect();
    const reports = await Promise.all([fleet.shutdown(), other.shutdown()]);
    expect(reports).toEqual([reports[0], reports[0]]);
    await until(() => !isAlive(daemon.pid));
    expect(existsSync(home.socket)).toBe(false);
  });
});
