import { describe, expect, test } from 'vitest';
import type { StdioSpec } from '../../../src/config/fields/spec.js';
import { ServerCrashedError } from '../../../src/shared/call-errors.js';
import type { Outcome } from '../../../src/shared/call-sink.js';
import { ConfiguredServer } from '../../../src/supervisor/server/configured-server.js';
import { type FakeLinkBehaviour, failure } from '../fake-link.js';
import { Caller, request, settled, spec, World } from '../world.js';

function createServer(changes: Partial<StdioSpec> = {}, behaviour: FakeLinkBehaviour = { opens: true }) {
  const world = new World();
  world.behaviour = () => behaviour;
  const server = new ConfiguredServer(spec(changes), 1, world.serverDeps(), Promise.resolve());
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

describe('the processes that a server starts with', () => {
  test.each([
    ['lazy: none', {}, 0],
    ['eager: one', { start: 'eager' }, 1],
    ['eager with replicas: all of them', { start: 'eager', replicas: 3 }, 3],
    ['transient with spares: the spares', { ...transient, spares: 2 }, 2],
    ['transient without spares: none', { ...transient, start: 'eager' }, 0],
    ['disabled: none', { enabled: false, start: 'eager' }, 0],
    ['disabled and transient: none', { ...transient, enabled: false, spares: 2 }, 0],
  ] as [string, Partial<StdioSpec>, number][])('%s', async (_, changes, processes) => {
    const { world, server } = createServer(changes);
    server.begin();
    await settled();
    expect(world.links.length).toBe(processes);
  });

  test.each([{}, transient])('are none for a disabled server, whose state is disabled: %o', (changes) => {
    const { server } = createServer({ ...changes, enabled: false });
    expect(server.snapshot()).toMatchObject({ state: 'created', detail: 'disabled', pids: [] });
  });
});

describe('replicas', () => {
  test('I1: are never more processes than configured, and a call goes to the least busy one', async () => {
    const { world, server, call, shares } = createServer({ replicas: 3 });
    server.start();
    await settled();
    for (let count = 0; count < 7; count += 1) call();
    await settled();
    expect(shares()).toEqual([3, 2, 2]);
    world.links[2]?.answers();
    call();
    expect(shares()).toEqual([3, 2, 3]);
  });

  test('that run get a call before an idle one is started', async () => {
    const { world, server, call } = createServer({ replicas: 2 });
    server.start();
    await settled();
    world.links[0]?.goes({ kind: 'disconnected', reason: 'ended', killed: false });
    await settled();
    expect([world.alive.length, call().routes]).toEqual([1, [1]]);
    expect(world.links[1]?.calls.length).toBe(1);
  });

  test('a replica in quarantine gets no call while another can take it', async () => {
    const { world, server, call } = createServer({ replicas: 2 });
    server.start();
    await settled();
    world.links[0]?.goes(failure('srv', { permanent: true }));
    await settled();
    const callers = [call(), call(), call()];
    expect([world.links[1]?.calls.length, callers.some(({ isSettled }) => isSettled)]).toEqual([3, false]);
  });

  test('that wait for their next try get no call while another runs, even a busy one', async () => {
    const { world, server, call } = createServer({ replicas: 2 });
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

  test('that are all quarantined: the call gets an error with the reason', async () => {
    const { world, server, call } = createServer({ replicas: 2 });
    server.start();
    await settled();
    for (const link of [...world.links]) link.goes(failure('srv', { permanent: true }));
    await settled();
    expect(call().error.message).toContain('is quarantined');
  });

  test('are shown by the one that needs attention; pids, calls in flight and restarts are summed', async () => {
    const { world, server, call } = createServer({ replicas: 3 });
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

describe('a quarantine', () => {
  const quarantined = async (changes: Partial<StdioSpec>, isListed: boolean) => {
    const { world, server, ...rest } = createServer(changes, isListed ? tools('a') : {});
    if (isListed) await server.readLists();
    else server.start();
    await settled();
    world.newest.goes(failure('srv', { permanent: true }));
    await settled();
    expect(server.snapshot().detail).toBe('quarantined');
    world.behaviour = () => ({ opens: true, lists: { 'tools/list': [{ name: 'b' }] } });
    return { world, server, tried: () => world.links.length > 1, ...rest };
  };

  test('a server whose lists are unknown is tried after the cool-down without a call, and lists', async () => {
    const { world, server, tried } = await quarantined({}, false);
    await world.passes(7_900);
    expect(tried()).toBe(false);
    await world.passes(200);
    expect([tried(), server.snapshot().detail]).toEqual([true, 'running']);
    expect(server.catalog.knownLists().tools).toEqual([{ name: 'b' }]);
  });

  test('an eager server is tried after the cool-down without a call; a lazy one that is listed waits', async () => {
    const eager = await quarantined({ start: 'eager' }, true);
    const lazy = await quarantined({}, true);
    for (const { world } of [eager, lazy]) await world.passes(60_000);
    expect([eager.tried(), lazy.tried()]).toEqual([true, false]);
  });

  test('a server with restart: never is tried by a call only', async () => {
    const { world, call, tried } = await quarantined({ restart: 'never', start: 'eager' }, false);
    await world.passes(60_000);
    expect(tried()).toBe(false);
    call();
    await settled();
    expect(tried()).toBe(true);
  });

  test('a hopeless server whose lists are unknown is tried ever less often', async () => {
    const { world } = await quarantined({}, false);
    world.behaviour = () => ({});
    const starts: number[] = [];
    for (let second = 0; second < 1000; second += 1) {
      await world.passes(1000, 1);
      if (world.newest.isAlive) {
        starts.push(world.clock.now());
        world.newest.goes(failure('srv', { permanent: true }));
      }
    }
    const pauses = starts.slice(1).map((at, index) => Math.round((at - starts[index]!) / 8000));
    expect(pauses).toEqual([2, 4, 8, 16, 32, 32]);
  });

  test('a request for unknown lists makes the try after the cool-down', async () => {
    const { world, server } = await quarantined({ restart: 'never' }, false);
    expect((await server.readLists()).tools).toBeUndefined();
    await world.passes(8_100);
    expect((await server.readLists()).tools).toEqual([{ name: 'b' }]);
  });
});

describe('the statistics of a server', () => {
  test('count calls and failures, and have the durations', async () => {
    const { server, call } = createServer();
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
  test('FR-013: are known after the first start, without hidden tools, each name once', async () => {
    const lists = {
      'tools/list': [{ name: 'a', n: 1 }, { name: 'secret_b' }, { name: 7 }, { name: 'a', n: 2 }],
    };
    const { server } = createServer({ tools: { allow: ['*'], deny: ['secret_*'] } }, { opens: true, lists });
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

  test('start a server that does not run; known lists start nothing', async () => {
    const { world, server } = createServer({}, tools('a'));
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

  test('are read again from the running process on refresh; the old lists stay until the answer', async () => {
    const { world, server } = createServer({}, tools('a'));
    await server.readLists();
    world.newest.behaviour = tools('b');
    const reading = server.readLists({ refresh: true });
    expect(server.catalog.knownLists()?.tools).toEqual([{ name: 'a' }]);
    expect([(await reading).tools, world.links.length]).toEqual([[{ name: 'b' }], 1]);
  });

  test('stay after a stop: a refresh starts nothing', async () => {
    const { world, server } = createServer({}, tools('a'));
    await server.readLists();
    server.stop();
    await settled();
    expect((await server.readLists({ refresh: true })).tools).toEqual([{ name: 'a' }]);
    expect(world.links.length).toBe(1);
  });

  test('keep a list that can no longer be read, and update the others', async () => {
    const { world, server } = createServer({}, tools('a'));
    await server.readLists();
    world.newest.behaviour = { lists: { 'tools/list': new Error('no'), 'prompts/list': [{ name: 'p' }] } };
    expect(await server.readLists({ refresh: true })).toMatchObject({
      tools: [{ name: 'a' }],
      prompts: [{ name: 'p' }],
    });
  });

  test('are unknown at once if the server cannot start', async () => {
    const { world, server } = createServer({}, {});
    const reading = server.readLists();
    await settled();
    world.newest.goes(failure('srv', { permanent: true }));
    expect(await reading).toEqual({ tools: undefined, prompts: undefined, resources: undefined });
    // of the quarantine's cool-down alone
    expect(world.clock.pending).toBe(1);
  });

  test('are waited for a little longer than start_timeout if the server never answers', async () => {
    const { world, server } = createServer({ startTimeoutMs: 5_000 }, {});
    let lists: unknown;
    void server.readLists().then((read) => {
      lists = read;
    });
    await settled();
    await world.passes(6_900);
    expect(lists).toBeUndefined();
    await world.passes(200);
    expect(lists).toBeDefined();
  });

  test('are unknown at once if the server is disabled', async () => {
    const { server } = createServer({ enabled: false });
    expect((await server.readLists({ refresh: true })).tools).toBeUndefined();
  });

  test('are read from a replica that runs', async () => {
    const { world, server } = createServer({ replicas: 2 }, tools('a'));
    server.start();
    await settled();
    world.links[0]?.goes({ kind: 'disconnected', reason: 'ended', killed: false });
    await settled();
    await server.readLists({ refresh: true });
    expect([world.links.length, world.links[1]?.reads.length]).toEqual([2, 8]);
  });
});

describe('the lists of a transient server', () => {
  test('I9: are read by one process that ends when they are known', async () => {
    const { world, server } = createServer(transient, tools('a'));
    expect((await server.readLists()).tools).toEqual([{ name: 'a' }]);
    await settled();
    expect([world.links.length, world.alive]).toEqual([1, []]);
  });

  test('are read once for all processes, and again on refresh', async () => {
    const { world, server, call } = createServer(transient, { ...tools('a'), answers: true });
    await server.readLists();
    call();
    await settled();
    expect(world.links.map(({ reads }) => reads.length)).toEqual([4, 0]);
    await server.readLists({ refresh: true });
    expect(world.links.at(-1)?.reads.length).toBe(4);
  });

  test('are read by another process if a call takes the one that reads them', async () => {
    let list = (_: never[]) => {};
    const slow = new Promise<never[]>((resolve) => {
      list = resolve;
    });
    const { world, server, call } = createServer(transient, {});
    const reading = server.readLists();
    await settled();
    const caller = call();
    world.newest.behaviour = { lists: { 'tools/list': slow } };
    world.newest.opens();
    world.newest.answers();
    await settled();
    expect([caller.result !== undefined, world.links.length]).toEqual([true, 2]);
    list([]);
    world.newest.opens();
    expect((await reading).tools).toEqual([]);
  });

  test('are unknown at once if it cannot start or was stopped', async () => {
    const { world, server } = createServer(transient, {});
    const reading = server.readLists();
    await settled();
    world.newest.goes(failure('srv'));
    expect((await reading).tools).toBeUndefined();
    server.stop();
    expect((await server.readLists()).tools).toBeUndefined();
  });
});

describe('the snapshot of a transient server', () => {
  test('has the state of its newest process and all pids', async () => {
    const { world, server, call } = createServer(transient);
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

describe('a retired server', () => {
  test.each([{}, transient])(
    'is gone when its processes and its predecessor are gone: %o',
    async (changes) => {
      const world = new World();
      world.behaviour = () => ({ opens: true, goes: 'never' });
      const deps = world.serverDeps();
      let goes = () => {};
      const predecessor = new Promise<void>((resolve) => {
        goes = resolve;
      });
      const server = new ConfiguredServer(spec(changes), 1, deps, predecessor);
      let gone = false;
      void server.retire().then(() => {
        gone = true;
      });
      await settled();
      expect(gone).toBe(false);
      goes();
      await settled();
      expect([gone, deps.children()]).toEqual([true, []]);
    },
  );

  test('fails its calls with a retryable error', async () => {
    for (const changes of [{}, transient]) {
      const { server, call } = createServer({ ...changes, maxInFlight: 1 }, {});
      const callers = [call(), call()];
      await settled();
      await server.retire();
      for (const caller of callers) expect(caller.error).toMatchObject({ retryable: true, sent: false });
    }
  });
});

describe('orders to a server', () => {
  test('reach every replica: start, stop, restart and reset', async () => {
    const { world, server } = createServer({ replicas: 2 });
    server.start();
    await server.whenDecided();
    expect(world.alive.length).toBe(2);
    server.restart();
    await server.whenDecided();
    expect(world.links.map(({ life }) => life)).toEqual(['gone', 'gone', 'open', 'open']);
    server.stop();
    await server.whenGone();
    expect([world.alive, server.lastStops.length]).toEqual([[], 2]);
    world.behaviour = () => ({});
    server.start();
    await settled();
    for (const link of world.alive) link.goes(failure('srv', { permanent: true }));
    await settled();
    server.reset();
    await settled();
    expect(world.alive.length).toBe(2);
  });
});

test('ten thousand calls through one server leave no call in flight and no timer', async () => {
  const { world, server, call } = createServer({ maxInFlight: 100_000 }, { opens: true, answers: true });
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
