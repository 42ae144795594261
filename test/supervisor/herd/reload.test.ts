import { describe, expect, test } from 'vitest';
import type { HttpSpec, StdioSpec } from '../../../src/config/fields/spec.js';
import { ConfiguredServer } from '../../../src/supervisor/server/configured-server.js';
import { ServerPool } from '../../../src/supervisor/server/server-pool.js';
import { ViewServers } from '../../../src/supervisor/view/view-servers.js';
import type { FakeLinkBehaviour } from '../fake-link.js';
import { settled, spec, World } from '../world.js';

function createHerd(behaviour: FakeLinkBehaviour = { opens: true }) {
  const world = new World();
  world.behaviour = () => ({ lists: { 'tools/list': [{ name: 'x' }] }, ...behaviour });
  const herd = world.herd();
  return { world, herd };
}

const named = (name: string, changes: Partial<StdioSpec> = {}) => spec({ name, ...changes });
const remote = (name: string) => ({ ...named(name), transport: 'http', headers: {} }) as unknown as HttpSpec;

describe('a changed config', () => {
  test('touches only servers that it adds, changes or removes', async () => {
    const { world, herd } = createHerd();
    expect(herd.apply(['a', 'b', 'c'].map((name) => named(name, { start: 'eager' })))).toEqual({
      added: ['a', 'b', 'c'],
      removed: [],
      changed: [],
      unchanged: [],
    });
    await settled();
    const before = herd.view.status().map(({ pids }) => pids);
    const next = [
      named('d'),
      named('b', { start: 'eager', args: ['x'] }),
      named('a', { start: 'eager' }),
      remote('e'),
    ];
    expect(herd.apply(next, true)).toEqual({
      added: ['d', 'e'],
      removed: ['c'],
      changed: ['b'],
      unchanged: ['a'],
    });
    expect(herd.view.status().map(({ name }) => name)).toEqual(['a', 'b', 'c']);
    herd.apply(next);
    await settled();
    expect(herd.view.status().map(({ name }) => name)).toEqual(['d', 'b', 'a', 'e']);
    expect(herd.view.status(['a'])[0]?.pids).toEqual(before[0]);
    expect(herd.view.status(['b'])[0]?.pids).not.toEqual(before[1]);
    // the new one is asked what it offers
    expect(world.alive.map(({ spec: { name } }) => name)).toEqual(['a', 'd', 'b']);
    expect(herd.apply(next)).toMatchObject({ unchanged: ['d', 'b', 'a', 'e'], changed: [] });
  });

  test('I1: starts the new server when the old one is gone; calls wait meanwhile', async () => {
    const { world, herd } = createHerd({ opens: true, goes: 'never' });
    herd.apply([named('a', { start: 'eager' })]);
    await settled();
    herd.apply([named('a', { start: 'eager', args: ['new'] })]);
    const calling = herd.view.calls.call({ server: 'a', tool: 'x' });
    await settled();
    expect([world.links.length, world.links[0]?.orders]).toEqual([1, ['close']]);
    world.links[0]?.isBuried();
    await settled();
    expect([world.links.length, world.newest.spec.args]).toEqual([2, ['new']]);
    world.newest.answers();
    expect((await calling).success).toBe(true);
  });

  test('moves a call that waits for the list of a server to the server that replaces it', async () => {
    const { world, herd } = createHerd({ opens: false });
    herd.apply([named('a')]);
    const calling = herd.view.calls.call({ server: 'a', tool: 'a__x' });
    await settled();
    world.behaviour = () => ({ opens: true, lists: { 'tools/list': [{ name: 'x' }] } });
    herd.apply([named('a', { args: ['new'] })]);
    await settled();
    expect(world.newest.spec.args).toEqual(['new']);
    world.newest.answers();
    expect((await calling).success).toBe(true);
  });

  test('I1: that changes again while the first server still stops: the third waits for the first', async () => {
    const { world, herd } = createHerd({ opens: true, goes: 'never' });
    herd.apply([named('a', { start: 'eager' })]);
    await settled();
    for (const arg of ['two', 'three']) {
      herd.apply([named('a', { start: 'eager', args: [arg] })]);
      await settled();
    }
    expect(world.links.length).toBe(1);
    world.links[0]?.isBuried();
    await settled();
    expect(world.links.map(({ spec: { args } }) => args.at(-1))).toEqual([
      expect.stringContaining('srv'),
      'three',
    ]);
  });

  test('I1: that removes a server and restores it while it still stops: the new one waits', async () => {
    for (const between of [[], [remote('a')]]) {
      const { world, herd } = createHerd({ opens: true, goes: 'never' });
      herd.apply([named('a', { start: 'eager' })]);
      await settled();
      herd.apply(between);
      herd.apply([named('a', { start: 'eager' })]);
      await settled();
      expect(world.links.length).toBe(1);
      world.links[0]?.isBuried();
      await settled();
      expect(world.alive.length).toBe(1);
    }
  });

  test('I1: the new server waits for the old one, from singleton to transient and back', async () => {
    const { world, herd } = createHerd({ opens: true, goes: 'never' });
    herd.apply([named('a', { start: 'eager' })]);
    await settled();
    herd.apply([named('a', { lifecycle: 'transient', spares: 1 })]);
    await settled();
    expect(world.links.length).toBe(1);
    world.links[0]?.isBuried();
    await settled();
    expect(world.alive.length).toBe(1);
    herd.apply([named('a', { start: 'eager' })]);
    await settled();
    expect(world.links.length).toBe(2);
    world.links[1]?.isBuried();
    await settled();
    expect([world.links.length, world.alive.length]).toEqual([3, 1]);
  });

  test('I2: fails calls that wait for the old server with a retryable error', async () => {
    const { world, herd } = createHerd({});
    herd.apply([named('a')]);
    const calling = herd.view.calls.call({ server: 'a', tool: 'x' });
    await settled();
    herd.apply([named('a', { args: ['new'] })]);
    expect((await calling).error).toMatchObject({
      type: 'ServerUnavailableError',
      retryable: true,
      sent: false,
    });
    expect(world.alive).toEqual([]);
  });

  test('I2: fails calls that wait between two tries of a removed server', async () => {
    const { world, herd } = createHerd();
    herd.apply([named('a')]);
    await herd.view.order('start', { all: true }, true);
    for (let count = 0; count < 2; count += 1) {
      world.newest.crashes();
      await settled();
    }
    const calling = herd.view.calls.call({ server: 'a', tool: 'x' });
    expect(herd.view.status()[0]?.detail).toBe('waiting');
    herd.apply([]);
    expect((await calling).error).toMatchObject({ type: 'ServerUnavailableError', sent: false });
  });

  describe.each([
    { kind: 'a singleton', changes: {} },
    { kind: 'a transient server', changes: { lifecycle: 'transient' } as const },
  ])('drains $kind', ({ changes }) => {
    const called = async (next: StdioSpec[]) => {
      const { world, herd } = createHerd();
      herd.apply([named('a', { ...changes, maxTimeoutMs: 60_000 })]);
      await settled();
      const calling = herd.view.calls.call({ server: 'a', tool: 'x', timeout_ms: 50_000 });
      await settled();
      const old = world.newest;
      herd.apply(next);
      await settled();
      return { world, herd, calling, old };
    };

    test.each([
      ['changed', [named('a', { args: ['new'] })]],
      ['removed', []],
    ])('the server of a %s entry answers its call in flight before it is stopped', async (_, next) => {
      const { world, calling, old } = await called(next);
      await world.passes(9_000);
      expect(old.orders).toEqual([]);
      old.answers();
      expect(await calling).toMatchObject({ success: true, metadata: { incarnation: 1 } });
      await settled();
      expect(old.isAlive).toBe(false);
    });

    test('after 10 s it is stopped, and its call gets an error that says that the config has changed', async () => {
      const { world, calling, old } = await called([named('a', { args: ['new'] })]);
      await world.passes(10_100);
      expect(old.isAlive).toBe(false);
      const { error } = await calling;
      expect(error).toMatchObject({
        type: 'ServerUnavailableError',
        message: 'a: was stopped, because its config has changed',
        sent: true,
        retryable: false,
      });
      expect(error?.why).toContain('10 s');
      expect(world.logs.join()).toContain(
        'a: its config has changed; it is stopped after its call in flight',
      );
    });

    test('a server that crashes meanwhile is not started again', async () => {
      const { world, calling, old } = await called([]);
      old.crashes();
      expect((await calling).error).toMatchObject({ type: 'ServerCrashedError', sent: true });
      await world.passes(60_000);
      expect(world.newest).toBe(old);
    });

    test('a new call waits for the end of the old server, and the new one serves it', async () => {
      const { world, herd, old } = await called([named('a', { args: ['new'] })]);
      const later = herd.view.calls.call({ server: 'a', tool: 'x' });
      await settled();
      expect(world.alive).toEqual([old]);
      old.answers();
      await settled();
      expect(world.newest.spec.args).toEqual(['new']);
      world.newest.answers();
      expect((await later).success).toBe(true);
    });

    test('a server whose file is not allowed any more gets no time for its calls', async () => {
      const unusable = { detail: 'not_allowed', why: 'it was revoked', fix: 'allow it' } as const;
      const { calling, old } = await called([named('a', { enabled: false, unusable })]);
      expect(old.isAlive).toBe(false);
      expect((await calling).error).toMatchObject({ type: 'ServerUnavailableError', sent: true });
    });

    test.each(['restart', 'stop'] as const)('an order to %s ends the wait for the calls', async (order) => {
      const { herd, calling, old } = await called([named('a', { args: ['new'] })]);
      const obeyed = herd.view.order(order, { servers: ['a'] }, true);
      expect((await calling).error).toMatchObject({ type: 'ServerUnavailableError', sent: true });
      await obeyed;
      expect(old.isAlive).toBe(false);
    });

    test('a start order lets the old server answer its calls', async () => {
      const { herd, calling, old } = await called([named('a', { args: ['new'] })]);
      void herd.view.order('start', { servers: ['a'] });
      await settled();
      old.answers();
      expect((await calling).success).toBe(true);
    });

    test('a file that is withdrawn after a change ends the wait of its old server', async () => {
      const { herd, calling, old } = await called([named('a', { args: ['new'] })]);
      expect(old.isAlive).toBe(true);
      const unusable = { detail: 'not_allowed', why: 'it was revoked', fix: 'allow it' } as const;
      herd.apply([named('a', { enabled: false, unusable })]);
      expect((await calling).error).toMatchObject({ type: 'ServerUnavailableError', sent: true });
      await settled();
      expect(old.isAlive).toBe(false);
    });

    test('a shutdown does not wait for the calls', async () => {
      const { herd, calling, old } = await called([]);
      const report = await herd.shutdown(60_000, async () => expect.unreachable('nothing was late'));
      expect([old.isAlive, report]).toEqual([false, { stopped: ['a'], killed: [] }]);
      expect((await calling).error?.message).not.toContain('config');
    });
  });

  test('a replica that crashes while another answers its call is not started again', async () => {
    const { world, herd } = createHerd();
    herd.apply([named('a', { replicas: 3, start: 'eager', maxTimeoutMs: 60_000 })]);
    await settled();
    const calls = [1, 2].map(() => herd.view.calls.call({ server: 'a', tool: 'x', timeout_ms: 50_000 }));
    await settled();
    herd.apply([]);
    await settled();
    // the third has no call
    expect(world.alive.length).toBe(2);
    const [one, two] = world.alive;
    one?.crashes();
    await world.passes(5000);
    expect([world.links.length, world.alive]).toEqual([3, [two]]);
    two?.answers();
    expect((await Promise.all(calls)).map(({ success }) => success).sort()).toEqual([false, true]);
    await settled();
    expect([world.alive, world.clock.pending]).toEqual([[], 0]);
  });

  test.each([0, 1])(
    'a call that waits for a transient server with %i spares fails unsent',
    async (spares) => {
      const { world, herd } = createHerd();
      herd.apply([named('a', { lifecycle: 'transient', maxInFlight: 2, maxTimeoutMs: 60_000, spares })]);
      await settled();
      const first = herd.view.calls.call({ server: 'a', tool: 'x', timeout_ms: 50_000 });
      await settled();
      const [old] = world.alive;
      world.behaviour = () => ({});
      // one waits for its process, the other for room
      const waiting = [1, 2].map(() => herd.view.calls.call({ server: 'a', tool: 'x', timeout_ms: 50_000 }));
      await world.passes(100);
      herd.apply([]);
      for (const { error } of await Promise.all(waiting))
        expect(error).toMatchObject({ message: expect.stringContaining('config has changed'), sent: false });
      await world.passes(5000);
      expect(world.alive).toEqual([old]);
      old?.answers();
      expect((await first).success).toBe(true);
      await world.passes(60_000);
      expect([world.alive, world.clock.pending]).toEqual([[], 0]);
    },
  );

  test('stops a server that it disables, and starts it when it is enabled again', async () => {
    const { world, herd } = createHerd();
    for (const changes of [{}, { lifecycle: 'transient', spares: 1 }] as Partial<StdioSpec>[]) {
      herd.apply([named('a', { ...changes, start: 'eager' })]);
      await settled();
      herd.apply([named('a', { ...changes, enabled: false, start: 'eager' })]);
      await settled();
      expect([world.alive, herd.view.status()[0]?.detail]).toEqual([[], 'disabled']);
      herd.apply([named('a', { ...changes, start: 'eager' })]);
      await settled();
      expect(world.alive.length).toBe(1);
    }
  });

  test('that changes a hundred times leaves only the last server', async () => {
    const { world, herd } = createHerd();
    for (let round = 0; round < 100; round += 1) {
      herd.apply([named('a', { start: 'eager', args: [String(round)] })]);
      if (round % 3 === 0) await settled();
    }
    await settled();
    expect(world.alive.map(({ spec: { args } }) => args)).toEqual([['99']]);
    herd.apply([]);
    await settled();
    expect([world.alive, world.clock.pending]).toEqual([[], 0]);
  });
});

describe('shutdown', () => {
  const kill = (world: World) => async () => {
    for (const link of world.alive) link.goes({ kind: 'disconnected', reason: 'stopped', killed: false });
  };

  test('I6 FR-024 FR-025: stops all servers at once and reports which exited and which were killed', async () => {
    const { world, herd } = createHerd();
    herd.apply([
      named('a', { start: 'eager' }),
      named('b', { start: 'eager' }),
      named('c'),
      named('d', { lifecycle: 'transient', spares: 2 }),
    ]);
    await settled();
    world.links.find(({ spec: { name } }) => name === 'b')!.behaviour = { goes: 'killed' };
    const ending = herd.shutdown(60_000, async () => expect.unreachable('nothing was late'));
    await settled();
    await world.passes(9_100);
    expect(await ending).toEqual({ stopped: ['a', 'd'], killed: ['b'] });
    expect([world.alive, world.clock.pending]).toEqual([[], 0]);
  });

  test('I6: kills a server that still runs after the grace, and reports it as killed', async () => {
    const { world, herd } = createHerd({ opens: true, goes: 'never' });
    herd.apply([named('a', { start: 'eager' }), named('b', { lifecycle: 'transient', spares: 1 })]);
    await settled();
    world.links[0]!.behaviour = {};
    const ending = herd.shutdown(500, kill(world));
    await world.passes(600);
    expect(await ending).toEqual({ stopped: ['a'], killed: ['b'] });
  });

  test('I6: waits for servers that a changed config has removed', async () => {
    const { world, herd } = createHerd({ opens: true, goes: 'never' });
    herd.apply([named('a', { start: 'eager' })]);
    await settled();
    herd.apply([]);
    let isOver = false;
    void herd.shutdown(60_000, kill(world)).then(() => {
      isOver = true;
    });
    await settled();
    expect(isOver).toBe(false);
    world.links[0]?.isBuried();
    await settled();
    expect(isOver).toBe(true);
  });

  test('I2: fails waiting calls in every state of their server', async () => {
    const { world, herd } = createHerd({});
    herd.apply([named('a'), named('b'), named('c', { lifecycle: 'transient', maxInFlight: 1 })]);
    const calls = [herd.view.calls.call({ server: 'a', tool: 'x' })];
    await herd.view.order('start', { servers: ['b'] });
    await settled();
    for (let count = 0; count < 2; count += 1) {
      const link = world.alive.find(({ spec: { name } }) => name === 'b');
      link?.opens();
      link?.crashes();
      await settled();
    }
    expect(herd.view.status(['b'])[0]?.detail).toBe('waiting');
    calls.push(...['b', 'c', 'c'].map((server) => herd.view.calls.call({ server, tool: 'x' })));
    await settled();
    const ending = herd.shutdown(1000, kill(world));
    for (const { error } of await Promise.all(calls))
      expect(error).toMatchObject({ type: 'ServerUnavailableError', sent: false });
    await ending;
  });

  test('I6: lets no call, order or config start a server', async () => {
    const { world, herd } = createHerd();
    herd.apply([named('a'), named('b', { lifecycle: 'transient', spares: 1 })]);
    await settled();
    await herd.shutdown(1000, kill(world));
    const { length } = world.links;
    for (const server of ['a', 'b'])
      expect((await herd.view.calls.call({ server, tool: 'x' })).success).toBe(false);
    await expect(herd.view.order('start', { all: true })).rejects.toMatchObject({
      type: 'ServerUnavailableError',
    });
    expect(() => herd.apply([named('c', { start: 'eager' })])).toThrow('shutting down');
    await herd.view.catalog.tools();
    await settled();
    expect([world.links.length, world.alive]).toEqual([length, []]);
  });
});

test('the pool forgets a removed server when its process is gone, not before', async () => {
  const world = new World();
  world.behaviour = () => ({ opens: true, goes: 'never' });
  const deps = world.serverDeps();
  const forgotten: string[] = [];
  const pool = new ServerPool({
    create: (one, key, predecessor) =>
      new ConfiguredServer(one, world.links.length + 1, { ...deps, key }, predecessor),
    forgotten: (key) => forgotten.push(key),
  });
  const members = new ViewServers({ pool, holder: { id: 'test', isOneAgent: true }, begins: () => true });
  members.releaseUnlisted([named('a', { start: 'eager' })]);
  members.acquireListed([named('a', { start: 'eager' })]);
  await settled();
  members.releaseUnlisted([]);
  members.acquireListed([]);
  await settled();
  expect([pool.leaving.length, forgotten, members.servers]).toEqual([1, [], []]);
  world.newest.isBuried();
  await settled();
  expect([pool.leaving.length, forgotten, deps.children()]).toEqual([0, ['a'], []]);
});
