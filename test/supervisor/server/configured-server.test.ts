import { describe, expect, test } from 'vitest';
import type { StdioSpec } from '../../../src/config/schema/spec.js';
import type { Outcome } from '../../../src/link/calls/call.js';
import { ServerCrashedError } from '../../../src/shared/call-errors.js';
import { ConfiguredServer } from '../../../src/supervisor/server/configured-server.js';
import { type FakeLinkBehaviour, failure } from '../fake-link.js';
import { Caller, request, settled, spec, World } from '../world.js';

function stage(changes: Partial<StdioSpec> = {}, manners: FakeLinkBehaviour = { opens: true }) {
  const world = new World();
  world.manners = () => manners;
  const server = new ConfiguredServer(spec(changes), 1, world.surroundings(), Promise.resolve());
  const call = (mark = 'x') => {
    const caller = new Caller();
    server.send(request(mark), caller);
    return caller;
  };
  const shares = () => world.links.map(({ calls }) => calls.length);
  return { world, server, call, shares };
}

const transient = { lifecycle: 'transient' } as const;
const tools = (...names: string[]): FakeLinkBehaviour => ({
  opens: true,
  lists: { 'tools/list': names.map((name) => ({ name })) },
});

describe('how a server begins', () => {
  test.each([
    ['lazy: not at all', {}, 0],
    ['eager: at once', { start: 'eager' }, 1],
    ['eager with replicas: all of them', { start: 'eager', replicas: 3 }, 3],
    ['with spares: those', { ...transient, spares: 2 }, 2],
    ['transient without spares: not at all', { ...transient, start: 'eager' }, 0],
    ['disabled: not at all', { enabled: false, start: 'eager' }, 0],
    ['disabled and transient: not at all', { ...transient, enabled: false, spares: 2 }, 0],
  ] as [string, Partial<StdioSpec>, number][])('%s', async (_, changes, processes) => {
    const { world, server } = stage(changes);
    server.begin();
    await settled();
    expect(world.links.length).toBe(processes);
  });

  test.each([{}, transient])('a disabled one shows itself as disabled: %o', (changes) => {
    const { server } = stage({ ...changes, enabled: false });
    expect(server.snapshot()).toMatchObject({ state: 'created', detail: 'disabled', pids: [] });
  });
});

describe('replicas', () => {
  test('I1: never more processes than replicas, each call to the least busy', async () => {
    const { world, server, call, shares } = stage({ replicas: 3 });
    server.start();
    await settled();
    for (let count = 0; count < 7; count += 1) call();
    await settled();
    expect(shares()).toEqual([3, 2, 2]);
    world.links[2]?.answers();
    call();
    expect(shares()).toEqual([3, 2, 3]);
  });

  test('of those that have nothing to do, one that runs is asked before another is started', async () => {
    const { world, server, call } = stage({ replicas: 2 });
    server.start();
    await settled();
    world.links[0]?.goes({ kind: 'disconnected', reason: 'ended', killed: false });
    await settled();
    expect([world.alive.length, call().routes]).toEqual([1, [1]]);
    expect(world.links[1]?.calls.length).toBe(1);
  });

  test('one that is quarantined gets no call while another can take it', async () => {
    const { world, server, call } = stage({ replicas: 2 });
    server.start();
    await settled();
    world.links[0]?.goes(failure('srv', { permanent: true }));
    await settled();
    const callers = [call(), call(), call()];
    expect([world.links[1]?.calls.length, callers.some(({ isSettled }) => isSettled)]).toEqual([3, false]);
  });

  test('one that waits for its next try gets no call while another runs, however busy', async () => {
    const { world, server, call } = stage({ replicas: 2 });
    server.start();
    await settled();
    world.links[0]?.crashes();
    await settled();
    world.newest.crashes();
    await settled();
    expect(world.alive.length).toBe(1);
    for (let count = 0; count < 5; count += 1) call();
    expect(world.links[1]?.calls.length).toBe(5);
  });

  test('when none can take it the caller is told why', async () => {
    const { world, server, call } = stage({ replicas: 2 });
    server.start();
    await settled();
    for (const link of [...world.links]) link.goes(failure('srv', { permanent: true }));
    await settled();
    expect(call().error.message).toContain('is quarantined');
  });

  test('the one that needs attention is shown, one that rests only if all do; what can be added up is', async () => {
    const { world, server, call } = stage({ replicas: 3 });
    call();
    await settled();
    expect(server.snapshot()).toMatchObject({
      state: 'connected',
      detail: 'running',
      pids: [world.newest.pid],
    });
    server.start();
    await settled();
    call();
    expect(server.snapshot()).toMatchObject({
      state: 'connected',
      pids: world.links.map(({ pid }) => pid),
      inFlight: 2,
    });
    world.links[1]?.goes(failure('srv', { permanent: true }));
    await settled();
    expect(server.snapshot()).toMatchObject({
      state: 'error',
      detail: 'quarantined',
      lastError: { cause: 'spawn' },
      incarnation: 1,
    });
    world.links[0]?.crashes();
    await settled();
    expect(server.snapshot()).toMatchObject({ restarts: 1, incarnation: 2 });
  });
});

describe('what is counted of calls', () => {
  test('every call, every failure, and how long each took', async () => {
    const { server, call } = stage();
    call();
    call();
    const settle = (outcome: Outcome, elapsedMs: number) =>
      server.settled({ request: request('x'), outcome, elapsedMs, incarnation: 1 });
    settle({ ok: true, result: {} }, 40);
    settle({ ok: false, error: new ServerCrashedError('it crashed') }, 0);
    expect([server.calls, server.failures, server.latencies.quantile(0)]).toEqual([2, 1, 0]);
    expect(server.latencies.quantile(1)).toBe(40);
  });
});

describe('the lists of a server', () => {
  test('FR-013: are known after the first start, without what the config hides, and each name once', async () => {
    const lists = {
      'tools/list': [{ name: 'a', n: 1 }, { name: 'secret_b' }, { name: 7 }, { name: 'a', n: 2 }],
    };
    const { server } = stage({ tools: { allow: ['*'], deny: ['secret_*'] } }, { opens: true, lists });
    const { catalog } = server;
    expect([catalog.keysOf('tools'), catalog.hasTool('any'), catalog.hasTool('secret_b')]).toEqual([
      undefined,
      true,
      false,
    ]);
    expect((await server.readLists()).tools).toEqual([{ name: 'a', n: 1 }]);
    expect(['a', 'secret_b', 'any'].map((name) => server.catalog.hasTool(name))).toEqual([
      true,
      false,
      false,
    ]);
  });

  test('a cold server is started for them; once they are known it is not', async () => {
    const { world, server } = stage({}, tools('a'));
    const [one, two] = await Promise.all([server.readLists(), server.readLists()]);
    expect([one, two === one, world.links.length]).toEqual([
      { tools: [{ name: 'a' }], prompts: [], resources: [], templates: [] },
      true,
      1,
    ]);
    server.stop();
    await settled();
    expect([(await server.readLists()).tools, world.links.length]).toEqual([[{ name: 'a' }], 1]);
  });

  test('fresh ones are asked from a server that runs; what is known stands until they come', async () => {
    const { world, server } = stage({}, tools('a'));
    await server.readLists();
    world.newest.manners = tools('b');
    const reading = server.readLists({ refresh: true });
    expect(server.catalog.knownLists()?.tools).toEqual([{ name: 'a' }]);
    expect([(await reading).tools, world.links.length]).toEqual([[{ name: 'b' }], 1]);
  });

  test('of a server that cannot be asked again stay what they were', async () => {
    const { world, server } = stage({}, tools('a'));
    await server.readLists();
    server.stop();
    await settled();
    expect((await server.readLists({ refresh: true })).tools).toEqual([{ name: 'a' }]);
    expect(world.links.length).toBe(1);
  });

  test('that cannot be read any more stay what they were', async () => {
    const { world, server } = stage({}, tools('a'));
    await server.readLists();
    world.newest.manners = { lists: { 'tools/list': new Error('no'), 'prompts/list': [{ name: 'p' }] } };
    expect(await server.readLists({ refresh: true })).toMatchObject({
      tools: [{ name: 'a' }],
      prompts: [{ name: 'p' }],
    });
  });

  test('of a server that cannot be started are empty, at once', async () => {
    const { world, server } = stage({}, {});
    const reading = server.readLists();
    await settled();
    world.newest.goes(failure('srv', { permanent: true }));
    expect(await reading).toEqual({ tools: undefined, prompts: undefined, resources: undefined });
    expect(world.clock.pending).toBe(0);
  });

  test('of a server that never answers are waited for as long as a start may take', async () => {
    const { world, server } = stage({ startTimeoutMs: 5_000 }, {});
    let lists: unknown;
    void server.readLists().then((read) => {
      lists = read;
    });
    await settled();
    await world.passes(4_900);
    expect(lists).toBeUndefined();
    await world.passes(200);
    expect(lists).toBeDefined();
  });

  test('of a disabled server are not waited for', async () => {
    const { server } = stage({ enabled: false });
    expect((await server.readLists({ refresh: true })).tools).toBeUndefined();
  });

  test('with replicas, one that runs is asked', async () => {
    const { world, server } = stage({ replicas: 2 }, tools('a'));
    server.start();
    await settled();
    world.links[0]?.goes({ kind: 'disconnected', reason: 'ended', killed: false });
    await settled();
    await server.readLists({ refresh: true });
    expect([world.links.length, world.links[1]?.reads.length]).toEqual([2, 8]);
  });
});

describe('the lists of a transient server', () => {
  test('I9: are read by one process that goes when they are known', async () => {
    const { world, server } = stage(transient, tools('a'));
    expect((await server.readLists()).tools).toEqual([{ name: 'a' }]);
    await settled();
    expect([world.links.length, world.alive]).toEqual([1, []]);
  });

  test('are read once for all processes, and again when fresh ones are wanted', async () => {
    const { world, server, call } = stage(transient, { ...tools('a'), answers: true });
    await server.readLists();
    call();
    await settled();
    expect(world.links.map(({ reads }) => reads.length)).toEqual([4, 0]);
    await server.readLists({ refresh: true });
    expect(world.links.at(-1)?.reads.length).toBe(4);
  });

  test('a call that takes the process away from them does not leave them waiting', async () => {
    let list = (_: never[]) => {};
    const slow = new Promise<never[]>((resolve) => {
      list = resolve;
    });
    const { world, server, call } = stage(transient, {});
    const reading = server.readLists();
    await settled();
    const caller = call();
    world.newest.manners = { lists: { 'tools/list': slow } };
    world.newest.opens();
    world.newest.answers();
    await settled();
    expect([caller.result !== undefined, world.links.length]).toEqual([true, 2]);
    list([]);
    world.newest.opens();
    expect((await reading).tools).toEqual([]);
  });

  test('of one that cannot be started, or was stopped, are empty at once', async () => {
    const { world, server } = stage(transient, {});
    const reading = server.readLists();
    await settled();
    world.newest.goes(failure('srv'));
    expect((await reading).tools).toBeUndefined();
    server.stop();
    expect((await server.readLists()).tools).toBeUndefined();
  });
});

describe('a transient server shows', () => {
  test('the newest of its processes, and all pids', async () => {
    const { world, server, call } = stage(transient);
    expect(server.snapshot()).toMatchObject({ state: 'created', detail: 'idle', incarnation: 0 });
    call();
    call();
    await settled();
    expect(server.snapshot()).toMatchObject({
      state: 'connected',
      detail: 'running',
      incarnation: 2,
      inFlight: 2,
      pids: world.links.map(({ pid }) => pid),
    });
    for (const link of [...world.links]) link.answers();
    await settled();
    expect(server.snapshot()).toMatchObject({ state: 'disconnected', detail: 'idle', pids: [], inFlight: 0 });
    server.stop();
    expect(server.snapshot().detail).toBe('stopped');
  });
});

describe('a server whose config is no more', () => {
  test.each([{}, transient])(
    'is gone when nothing is left of it, nor of its predecessor: %o',
    async (changes) => {
      const world = new World();
      world.manners = () => ({ opens: true, goes: 'never' });
      const around = world.surroundings();
      let goes = () => {};
      const predecessor = new Promise<void>((resolve) => {
        goes = resolve;
      });
      const server = new ConfiguredServer(spec(changes), 1, around, predecessor);
      let gone = false;
      void server.retire().then(() => {
        gone = true;
      });
      await settled();
      expect(gone).toBe(false);
      goes();
      await settled();
      expect([gone, around.children()]).toEqual([true, []]);
    },
  );

  test('tells its callers that a repeat may succeed', async () => {
    for (const changes of [{}, transient]) {
      const { server, call } = stage({ ...changes, maxInFlight: 1 }, {});
      const callers = [call(), call()];
      await settled();
      await server.retire();
      for (const caller of callers) expect(caller.error).toMatchObject({ retryable: true, sent: false });
    }
  });
});

describe('orders', () => {
  test('start, stop, restart and reset reach every process', async () => {
    const { world, server } = stage({ replicas: 2 });
    server.start();
    await server.whenDecided();
    expect(world.alive.length).toBe(2);
    server.restart();
    await server.whenDecided();
    expect(world.links.map(({ life }) => life)).toEqual(['gone', 'gone', 'open', 'open']);
    server.stop();
    await server.whenGone();
    expect([world.alive, server.lastStops.length]).toEqual([[], 2]);
    world.manners = () => ({});
    server.start();
    await settled();
    for (const link of world.alive) link.goes(failure('srv', { permanent: true }));
    await settled();
    server.reset();
    await settled();
    expect(world.alive.length).toBe(2);
  });
});

test('ten thousand calls through one server leave nothing behind', async () => {
  const { world, server, call } = stage({ maxInFlight: 100_000 }, { opens: true, answers: true });
  for (let round = 0; round < 100; round += 1) {
    for (let count = 0; count < 100; count += 1) call();
    await settled();
  }
  const { session } = world.newest;
  expect([server.calls, server.failures, session.inFlight, session.waiting]).toEqual([10_000, 0, 0, 0]);
  expect(world.links.length).toBe(1);
  server.stop();
  await server.whenGone();
  expect(world.clock.pending).toBe(0);
});
