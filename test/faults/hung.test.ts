import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { isAlive, startHerd, stateOf, until } from '../support/herd.js';
import { config, server } from './config.js';

const PING = { ping: { interval: 0.5, timeout: 0.5 } };
/** Interval, timeout, the second that is allowed, and what a loaded machine may add. */
const NOTICED_MS = 500 + 500 + 1000 + 2000;

describe('a server that hangs', () => {
  it('P8: one that was suspended is killed and started again', async () => {
    const { say, status } = await startHerd(config([server('one', 'good.mjs', PING)]));
    const pid = Number(await say('one', 'pid'));
    process.kill(pid, 'SIGSTOP');
    await until(() => !isAlive(pid), NOTICED_MS);
    const [next] = await until(async () => {
      const { pids, state } = await status('one');
      return state === 'connected' && pids;
    });
    expect(next).not.toBe(pid);
    expect(await status('one')).toMatchObject({ incarnation: 2, last_error: { cause: 'hung' } });
    expect(await say('one', 'pid')).toBe(String(next));
  });

  it('P8: also when it has a call, which learns that it may have run', async () => {
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

  it('P8: one that is busy with a call and cannot answer a ping is left alone, and its call succeeds', async () => {
    const { say, status, fleet } = await startHerd(config([server('one', 'blocks.mjs', PING)]));
    const pid = await say('one', 'pid');
    const result = await fleet.call({ server: 'one', tool: 'block', arguments: { ms: 3000 } });
    expect(result).toMatchObject({ success: true, content: [{ type: 'text', text: 'done' }] });
    expect(await say('one', 'pid')).toBe(pid);
    expect(await status('one')).toMatchObject({ incarnation: 1, restarts: 0, last_error: null });
  });

  it('P8: it is not the server that hangs when the daemon itself was asleep', async () => {
    const names = ['a', 'b', 'c'];
    const { daemon, fleet } = await startHerd(config(names.map((name) => server(name, 'good.mjs', PING))));
    await fleet.start({ all: true }, true);
    for (let round = 0; round < 3; round += 1) {
      daemon.kill('SIGSTOP');
      await sleep(1200 + round * 150);
      daemon.kill('SIGCONT');
      await sleep(700);
    }
    const { servers } = await fleet.status();
    expect(servers.map(({ incarnation, last_error }) => ({ incarnation, last_error }))).toEqual(
      names.map(() => ({ incarnation: 1, last_error: null })),
    );
  });
});
