import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { isAlive, startHerd, stateOf, until } from '../support/herd.js';
import { NOISE_MS } from '../support/noise.js';
import { config, server } from './config.js';
import { measured, millis } from './measured.js';

/** Time enough for a healthy server to answer, also on a loaded machine. */
const PING = { ping: { interval: 0.5, timeout: 2 } };
/** Interval, timeout, the second that is allowed, and what a loaded machine may add. */
const NOTICED_MS = 500 + 2000 + 1000 + NOISE_MS;

describe('a server that hangs', () => {
  it('P8: a suspended server is killed and restarted', async () => {
    const { say, status } = await startHerd(config([server('one', 'good.mjs', PING)]));
    const pid = Number(await say('one', 'pid'));
    const stoppedAt = performance.now();
    process.kill(pid, 'SIGSTOP');
    await until(() => !isAlive(pid), NOTICED_MS);
    measured(
      `P8: pings every 500 ms with a timeout of 2000 ms; killed after ${millis(performance.now() - stoppedAt)}`,
    );
    const { pids, last_error } = await until(async () => {
      const now = await status('one');
      return now.state === 'connected' && now.incarnation === 2 && now;
    });
    expect(last_error?.cause).toBe('hung');
    expect(pids).not.toEqual([pid]);
    expect(await say('one', 'pid')).toBe(String(pids[0]));
  });

  it('P8: a server that hangs during a call fails that call with sent: true', async () => {
    const { say, fleet } = await startHerd(config([server('one', 'good.mjs', PING)]));
    const pid = Number(await say('one', 'pid'));
    const call = fleet.call({ server: 'one', tool: 'stop' });
    await until(() => stateOf(pid) === 'T');
    await until(() => !isAlive(pid), NOTICED_MS);
    const { error } = await call;
    expect(error).toMatchObject({ type: 'ServerCrashedError', sent: true });
    expect(error?.message).toContain('no answer to ping');
    expect(Number(await say('one', 'pid'))).not.toBe(pid);
  });

  it('P8: differs from one that is busy with a call, which is not killed and whose call succeeds', async () => {
    const { say, status, fleet } = await startHerd(config([server('one', 'blocks.mjs', PING)]));
    const pid = await say('one', 'pid');
    const result = await fleet.call({ server: 'one', tool: 'block', arguments: { ms: 4000 } });
    expect(result).toMatchObject({ success: true, content: [{ type: 'text', text: 'done' }] });
    expect(await say('one', 'pid')).toBe(pid);
    expect(await status('one')).toMatchObject({ incarnation: 1, restarts: 0, last_error: null });
  });

  it('P8: differs from one that is busy for a moment after its call, which is not killed', async () => {
    // the calls end at every moment of the time between two pings
    const names = ['a', 'b', 'c', 'd', 'e'];
    const ping = { interval: 0.5, timeout: 2 };
    const { fleet } = await startHerd(config(names.map((name) => server(name, 'blocks.mjs', { ping }))));
    await fleet.start({ all: true }, true);
    const results = await Promise.all(
      names.map((name, index) =>
        fleet.call({ server: name, tool: 'block', arguments: { ms: 2000 + index * 300, then: 400 } }),
      ),
    );
    expect(results.map(({ success }) => success)).toEqual(names.map(() => true));
    // one more ping for each of them
    await sleep(3000);
    const { servers } = await fleet.status();
    expect(servers.map(({ incarnation, last_error }) => ({ incarnation, last_error }))).toEqual(
      names.map(() => ({ incarnation: 1, last_error: null })),
    );
  });

  it('P8: differs from one whose daemon was suspended, which is not killed', async () => {
    const ping = { interval: 0.1, timeout: 3 };
    const { daemon, say, status } = await startHerd(config([server('one', 'good.mjs', { ping })]));
    const pid = Number(await say('one', 'pid'));
    // a ping is on its way that the server will answer only when the daemon sleeps
    process.kill(pid, 'SIGSTOP');
    await sleep(400);
    daemon.kill('SIGSTOP');
    process.kill(pid, 'SIGCONT');
    await sleep(4000);
    daemon.kill('SIGCONT');
    expect(await say('one', 'pid')).toBe(String(pid));
    await sleep(500);
    expect(await status('one')).toMatchObject({ incarnation: 1, last_error: null, pids: [pid] });
  });
});
