import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isAlive, processesOf, startHerd, until } from '../support/herd.js';
import { config, server } from './config.js';

describe('FR-024: the lifecycle of a server', () => {
  it('lazy: the first call starts it, and nothing before', async () => {
    const { status, fleet, say } = await startHerd(config([server('one', 'good.mjs')]));
    expect(await status('one')).toMatchObject({ state: 'created', detail: 'idle', pids: [], incarnation: 0 });
    await fleet.inspect('one');
    await fleet.reload();
    expect((await status('one')).pids).toEqual([]);
    const pid = Number(await say('one', 'pid'));
    expect(await status('one')).toMatchObject({
      state: 'connected',
      detail: 'running',
      pids: [pid],
      incarnation: 1,
    });
  });

  it('lazy: the first request for its tools starts it', async () => {
    const { fleet, status } = await startHerd(config([server('one', 'good.mjs')]));
    const names = (await fleet.tools('one')).tools.map(({ name }) => name);
    expect(names).toContain('echo');
    expect(await status('one')).toMatchObject({ state: 'connected', tools: names.length });
    expect((await fleet.tools('one', true)).tools.map(({ name }) => name)).toEqual(names);
    expect((await status('one')).incarnation).toBe(1);
  });

  it('eager: the daemon starts it', async () => {
    const { status } = await startHerd(config([server('one', 'good.mjs', { start: 'eager' })]));
    await until(async () => (await status('one')).state === 'connected');
    expect(await status('one')).toMatchObject({ incarnation: 1, calls: 0 });
  });

  it('idle_timeout: it stops without calls, and the next call starts it', async () => {
    const { status, say } = await startHerd(config([server('one', 'good.mjs', { idle_timeout: 0.5 })]));
    const pid = Number(await say('one', 'pid'));
    await until(async () => (await status('one')).detail === 'idle');
    expect(isAlive(pid)).toBe(false);
    expect(await status('one')).toMatchObject({
      state: 'disconnected',
      restarts: 0,
      last_error: null,
      pids: [],
    });
    expect(Number(await say('one', 'pid'))).not.toBe(pid);
    expect((await status('one')).incarnation).toBe(2);
  });

  it('idle_timeout: it does not stop during a call', async () => {
    const { status, fleet } = await startHerd(config([server('one', 'blocks.mjs', { idle_timeout: 0.3 })]));
    const call = fleet.call({ server: 'one', tool: 'block', arguments: { ms: 1500 } });
    expect((await call).success).toBe(true);
    expect((await status('one')).incarnation).toBe(1);
  });

  it('idle_timeout: a call during the stop is served by the next process', async () => {
    const { say, status } = await startHerd(config([server('one', 'good.mjs', { idle_timeout: 0.05 })]));
    for (let round = 0; round < 12; round += 1) {
      expect(await say('one', 'echo', { value: `round ${round}` })).toBe(`round ${round}`);
      await new Promise((resolve) => setTimeout(resolve, 40 + 2 * round));
    }
    expect(await status('one')).toMatchObject({ failures: 0, last_error: null });
  });
});

describe('the processes of a server', () => {
  it('I1: singleton: one for all connections, for any number of first calls at once', async () => {
    const { connect, daemon } = await startHerd(config([server('one', 'good.mjs')]));
    const fleets = await Promise.all([connect(), connect(), connect()]);
    const calls = fleets.flatMap((fleet) =>
      Array.from({ length: 20 }, () => fleet.call({ server: 'one', tool: 'pid' })),
    );
    const pids = (await Promise.all(calls)).map(({ content }) => JSON.stringify(content));
    expect(new Set(pids).size).toBe(1);
    expect(processesOf(daemon.id).filter(({ words }) => words.includes('good.mjs'))).toHaveLength(1);
  });

  it('I1: replicas: n, and a call goes to the least busy one', async () => {
    const { fleet, status, say } = await startHerd(config([server('one', 'good.mjs', { replicas: 3 })]));
    await fleet.start({ servers: ['one'] }, true);
    const { pids } = await status('one');
    expect(new Set(pids).size).toBe(3);
    // two of them are busy: the third answers meanwhile
    const abort = new AbortController();
    const busy = [1, 2].map(() => fleet.call({ server: 'one', tool: 'wait' }, { signal: abort.signal }));
    await until(async () => (await status('one')).in_flight === 2);
    const answers = [await say('one', 'pid'), await say('one', 'pid'), await say('one', 'pid')];
    expect(new Set(answers).size).toBe(1);
    expect(pids.map(String)).toContain(answers[0]);
    abort.abort();
    expect((await Promise.all(busy)).map(({ error }) => error?.type)).toEqual(
      busy.map(() => 'CancelledError'),
    );
  });

  it('replicas: after a crash of one the others serve', async () => {
    const { fleet, status, say } = await startHerd(config([server('one', 'good.mjs', { replicas: 2 })]));
    await fleet.start({ servers: ['one'] }, true);
    const [first = 0, second = 0] = (await status('one')).pids;
    process.kill(first, 'SIGKILL');
    await until(() => !isAlive(first));
    const pids = await until(async () => {
      const now = await status('one');
      return now.state === 'connected' && now.pids.length === 2 && !now.pids.includes(first) && now.pids;
    });
    expect(pids).toContain(second);
    expect(pids.map(String)).toContain(await say('one', 'pid'));
  });

  it('transient: one for each call, which ends after it', async () => {
    const { say, status } = await startHerd(config([server('one', 'good.mjs', { lifecycle: 'transient' })]));
    const pids = [await say('one', 'pid'), await say('one', 'pid'), await say('one', 'pid')].map(Number);
    expect(new Set(pids).size).toBe(3);
    await until(() => !pids.some(isAlive));
    await until(async () => (await status('one')).detail === 'idle');
    expect(await status('one')).toMatchObject({ pids: [], incarnation: 3, failures: 0 });
  });

  it('transient: a spare runs before its call', async () => {
    const { say, status } = await startHerd(
      config([server('one', 'good.mjs', { lifecycle: 'transient', spares: 1 })]),
    );
    const used: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      const [spare = 0] = await until(async () => {
        const { pids, state } = await status('one');
        return state === 'connected' && pids.length === 1 && !used.includes(pids[0] ?? 0) && pids;
      });
      expect(Number(await say('one', 'pid'))).toBe(spare);
      used.push(spare);
    }
    await until(() => !used.some(isAlive));
  });

  it('transient: a crash during a call fails that call, and the next is served', async () => {
    const { fleet, home } = await startHerd(
      config([server('one', 'dies-in-call.mjs', { lifecycle: 'transient' })]),
    );
    const file = join(home.folder, 'ran');
    writeFileSync(file, '');
    const { error } = await fleet.call({ server: 'one', tool: 'exit', arguments: { file } });
    expect(error).toMatchObject({ type: 'ServerCrashedError', sent: true });
    expect((await fleet.call({ server: 'one', tool: 'pid' })).success).toBe(true);
  });
});
