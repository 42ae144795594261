import { describe, expect, test } from 'vitest';
import type { StdioSpec } from '../../../src/config/fields/spec.js';
import type { Reading } from '../../../src/supervisor/catalog/lists.js';
import { replaced, stopped } from '../../../src/supervisor/errors.js';
import { Permits } from '../../../src/supervisor/server/permits.js';
import { Replica } from '../../../src/supervisor/server/replica.js';
import type { ServerDeps } from '../../../src/supervisor/server/server-deps.js';
import { type FakeLinkBehaviour, failure } from '../fake-link.js';
import { Caller, listsOwner, request, settled, spec, TRAP, World } from '../world.js';

const GOODBYE = stopped('srv');

function createReplica(
  changes: Partial<StdioSpec> = {},
  behaviour: FakeLinkBehaviour = {},
  deps: Partial<ServerDeps> = {},
) {
  const world = new World();
  world.behaviour = () => behaviour;
  const serverDeps = world.serverDeps(deps);
  const listed: Reading[] = [];
  const replica = new Replica({
    id: 'srv@1#0',
    spec: spec(changes),
    deps: serverDeps,
    lists: listsOwner({ take: (reading) => void listed.push(reading) }),
    predecessor: Promise.resolve(),
  });
  const call = (mark = 'x', timeoutMs?: number) => {
    const caller = new Caller();
    const handle = replica.gate.send(request(mark, timeoutMs), caller);
    return Object.assign(caller, { handle });
  };
  /** Started, and its handshake done. */
  const up = async () => {
    replica.order('start');
    await settled();
    world.newest.opens();
    await settled();
    return world.newest;
  };
  const marks = () =>
    world.links.map(({ calls }) => calls.map(({ params }) => (params.arguments as { mark: string }).mark));
  return { world, replica, call, up, marks, listed, children: serverDeps.children };
}

describe('a lazy server', () => {
  test('FR-024: is started by the first call, which waits for its handshake and is served', async () => {
    const { world, replica, call } = createReplica();
    expect([replica.detail, world.links.length]).toEqual(['idle', 0]);
    const caller = call();
    await settled();
    expect([replica.detail, world.links.length, caller.isSettled]).toEqual(['running', 1, false]);
    world.newest.opens();
    world.newest.answers();
    expect(caller.result).toBeDefined();
    expect([caller.routes, replica.snapshot().states.server]).toEqual([[1], 'connected.discovering']);
  });

  test('I1: a hundred calls at once start one process', async () => {
    const { world, call, marks } = createReplica();
    for (let mark = 0; mark < 100; mark += 1) call(String(mark));
    await settled();
    world.newest.opens();
    expect([world.links.length, marks()[0]?.length]).toEqual([1, 100]);
  });

  test('FR-023: that cannot start fails its waiting calls, each with the cause', async () => {
    const { world, replica, call } = createReplica();
    const callers = ['a', 'b'].map((mark) => call(mark));
    await settled();
    world.newest.goes(
      failure('srv', { message: 'srv: no such command', fix: 'install it', permanent: true }),
    );
    await settled();
    for (const caller of callers) {
      expect(caller.error).toMatchObject({ type: 'ServerUnavailableError', sent: false, fix: 'install it' });
      expect(caller.error.message).toBe('srv: no such command');
    }
    expect(replica.detail).toBe('quarantined');
    expect(call().error.message).toContain('is quarantined (a restart cannot help)');
  });

  test('FR-023 P12: that never answers fails its waiting calls with MCPTimeoutError', async () => {
    const { world, call } = createReplica({ restart: 'never' });
    const caller = call();
    await settled();
    world.newest.goes({ kind: 'error', cause: 'timeout', message: 'srv: no initialize reply in 30 s' });
    await settled();
    expect(caller.error).toMatchObject({ type: 'MCPTimeoutError', sent: false });
  });
});

describe('a crash', () => {
  test('P4 I2: fails calls in flight at once with sent: true; a later call waits and is served', async () => {
    const { world, replica, call, up, marks } = createReplica();
    const link = await up();
    const running = call('a');
    link.dies(7);
    expect(running.error).toMatchObject({ type: 'ServerCrashedError', sent: true, retryable: false });
    const next = call('b');
    expect([next.isSettled, replica.snapshot().states.keeper]).toEqual([false, 'running.recalled']);
    link.isBuried();
    await settled();
    world.newest.opens();
    world.newest.answers();
    expect(next.result).toBeDefined();
    expect([marks(), next.routes, running.routes]).toEqual([[['a'], ['b']], [2], [1]]);
  });

  test('I2: that is a clean exit, with a call in the same tick, starts the next incarnation for that call', async () => {
    const { world, replica, call, up } = createReplica({ restart: 'never' });
    const link = await up();
    link.dies(0);
    const caller = call();
    link.isBuried();
    await settled();
    expect(replica.context.lastEnding).toMatchObject({ kind: 'disconnected', reason: 'ended' });
    world.newest.opens();
    world.newest.answers();
    expect([caller.result !== undefined, caller.routes, replica.context.restarts]).toEqual([true, [2], 0]);
  });

  test('P4: includes an exit with code 0 during a call', async () => {
    const { world, replica, call, up } = createReplica();
    const link = await up();
    const caller = call();
    link.goes({ kind: 'error', cause: 'exit', code: 0, signal: null, message: 'srv: exited with code 0' });
    await settled();
    expect(caller.error).toMatchObject({ type: 'ServerCrashedError', sent: true });
    expect([replica.detail, replica.context.lastError?.code, replica.context.restarts]).toEqual([
      'running',
      0,
      1,
    ]);
    expect(world.links.length).toBe(2);
  });

  test('P9: makes calls wait for the next try; if that fails they get its error, later calls a refusal with the time', async () => {
    const { world, replica, call, up } = createReplica();
    (await up()).crashes();
    await settled();
    world.newest.opens();
    world.newest.crashes();
    await settled();
    expect(replica.detail).toBe('waiting');
    const waits = call('a');
    expect([waits.isSettled, replica.waitsFor]).toEqual([false, 'retry']);
    await world.passes(500);
    world.newest.goes(failure('srv', { message: 'srv: the disk is full' }));
    await settled();
    expect(waits.error).toMatchObject({
      type: 'ServerUnavailableError',
      message: 'srv: the disk is full',
      sent: false,
    });
    expect(replica.detail).toBe('waiting');
    expect(replica.waitsFor).toBe('person');
    const later = call('b');
    expect(later.error).toMatchObject({
      type: 'ServerUnavailableError',
      retryable: true,
      why: 'srv: the disk is full',
    });
    expect(later.error.message).toBe('srv: could not be started; the next try is in 1.0 s');
  });

  test('FR-023: a crash at the start of a wrong entry fails waiting calls; a later call makes the next try', async () => {
    const { world, replica, call } = createReplica();
    const first = call('a');
    await settled();
    world.newest.goes(failure('srv', { message: 'srv: HTTP 404', looksMisconfigured: true }));
    await settled();
    expect(first.error).toMatchObject({ message: 'srv: HTTP 404', retryable: true });
    expect([replica.detail, replica.waitsFor]).toEqual(['waiting', 'person']);
    expect(call('b').error.message).toBe(
      'srv: could not be started; the next try is in 80.0 s, or with a call in 2.7 s',
    );
    await world.passes(2_667);
    expect(replica.waitsFor).toBe('retry');
    const third = call('c');
    await settled();
    expect([replica.detail, world.links.length]).toEqual(['running', 2]);
    world.newest.opens();
    world.newest.answers();
    expect(third.result).toBeDefined();
  });

  test('P9: lets a call that waits since then make the next try as soon as a new call could', async () => {
    const { world, replica, call, up } = createReplica({
      backoff: { minMs: 8_000, maxMs: 8_000, factor: 1, jitter: 0 },
    });
    (await up()).crashes();
    await settled();
    world.newest.opens();
    world.newest.crashes();
    await settled();
    const waits = call('a');
    await world.passes(2_666);
    expect([replica.snapshot().states.keeper, world.links.length]).toEqual(['waiting.holding', 2]);
    await world.passes(1);
    expect([replica.detail, world.links.length]).toEqual(['running', 3]);
    world.newest.opens();
    world.newest.answers();
    expect(waits.result).toBeDefined();
  });

  test('P9: a crash without a waiting call is followed by the next try at its time', async () => {
    const { world, replica, call, up } = createReplica({
      backoff: { minMs: 8_000, maxMs: 8_000, factor: 1, jitter: 0 },
    });
    (await up()).crashes();
    await settled();
    world.newest.opens();
    world.newest.crashes();
    await settled();
    call('a').handle?.cancel('not wanted any more');
    await world.passes(7_999);
    expect([replica.snapshot().states.keeper, world.links.length]).toEqual(['waiting.callable', 2]);
    await world.passes(1);
    expect([replica.detail, world.links.length]).toEqual(['running', 3]);
  });

  test('P9: that leads to quarantine fails waiting calls with the reason', async () => {
    const { world, replica, call, up } = createReplica({ maxRestarts: 1 });
    (await up()).crashes();
    await settled();
    world.newest.opens();
    world.newest.dies();
    const caller = call();
    world.newest.isBuried();
    await settled();
    expect(replica.detail).toBe('quarantined');
    expect(caller.error.message).toMatch(
      /^srv: is quarantined \(1 restart in 60 s\); a call tries it again in 8\.0 s$/,
    );
    expect(caller.error.fix).toContain('toolherd reset srv');
  });

  test('FR-023: a call after the cool-down of a quarantine waits for one try, and is served or gets its error', async () => {
    const { world, replica, call } = createReplica({ maxRestarts: 0 });
    call();
    await settled();
    world.newest.goes(failure('srv'));
    await world.passes(8_000);
    const second = call('b');
    await settled();
    expect([replica.detail, second.isSettled, world.links.length]).toEqual(['running', false, 2]);
    world.newest.goes(failure('srv', { message: 'srv: still broken' }));
    await settled();
    expect([replica.detail, second.error.message]).toEqual(['quarantined', 'srv: still broken']);
    await world.passes(16_000);
    const third = call('c');
    await settled();
    world.newest.opens();
    world.newest.answers();
    expect([replica.detail, third.result !== undefined]).toEqual(['running', true]);
  });
});

describe('orders while calls wait', () => {
  test('stop: waiting and later calls get the error of the stop', async () => {
    const { world, replica, call } = createReplica();
    const caller = call();
    await settled();
    replica.stop(GOODBYE);
    await settled();
    expect(caller.error).toBe(GOODBYE);
    expect([replica.detail, world.alive.length]).toEqual(['stopped', 0]);
    expect(call().error).toBe(GOODBYE);
  });

  test('I2: stop between two tries: waiting calls get the error of the stop at once', async () => {
    const { world, replica, call, up } = createReplica();
    (await up()).crashes();
    await settled();
    world.newest.opens();
    world.newest.crashes();
    await settled();
    const caller = call();
    expect([replica.detail, caller.isSettled]).toEqual(['waiting', false]);
    replica.stop(GOODBYE);
    expect(caller.error).toBe(GOODBYE);
    expect(world.clock.pending).toBe(0);
  });

  test('restart: calls that wait for the first start are served by the second', async () => {
    const { world, replica, call, marks } = createReplica();
    const caller = call('a');
    await settled();
    replica.order('restart');
    await settled();
    expect([caller.isSettled, world.links.length]).toEqual([false, 2]);
    world.newest.opens();
    world.newest.answers();
    expect([caller.result !== undefined, marks()]).toEqual([true, [[], ['a']]]);
  });

  test('restart: calls in flight get an error, new calls wait', async () => {
    const { world, replica, call, up } = createReplica({}, { goes: 'never' });
    const link = await up();
    const running = call('a');
    replica.order('restart');
    const waiting = call('b');
    expect([running.isSettled, waiting.isSettled, link.orders]).toEqual([false, false, ['close']]);
    link.isBuried();
    await settled();
    expect(running.error).toMatchObject({ sent: true });
    world.newest.opens();
    world.newest.answers();
    expect([waiting.result !== undefined, waiting.routes]).toEqual([true, [2]]);
  });

  test('start while the server stops: calls that came meanwhile are served', async () => {
    const { world, replica, call, up } = createReplica({}, { goes: 'never' });
    const link = await up();
    replica.stop(GOODBYE);
    const caller = call();
    replica.order('start');
    link.isBuried();
    await settled();
    world.newest.opens();
    expect([caller.isSettled, caller.routes]).toEqual([false, [2]]);
  });

  test('reset of a quarantined server: the next call is served', async () => {
    const { world, replica, call } = createReplica();
    call();
    await settled();
    world.newest.goes(failure('srv', { permanent: true }));
    await settled();
    replica.order('reset');
    const caller = call();
    await settled();
    world.newest.opens();
    world.newest.answers();
    expect(caller.result).toBeDefined();
  });

  test('a replaced config: waiting calls get a retryable error', async () => {
    const { replica, call } = createReplica();
    const caller = call();
    await settled();
    replica.stop(replaced('srv'));
    await settled();
    expect(caller.error).toMatchObject({ type: 'ServerUnavailableError', retryable: true, sent: false });
  });
});

describe('the gate of a replica', () => {
  test('I4: is sealed by the machine, also when the link ignores the order to close', async () => {
    const { replica, call, up } = createReplica({}, { goes: 'never' });
    const link = await up();
    link.session.seal = () => {};
    replica.order('restart');
    call();
    expect([replica.gate.isOpen, link.calls]).toEqual([false, []]);
  });
});

describe('an idle server', () => {
  test('stops after idle_timeout; a call during the stop is served by the next incarnation', async () => {
    const { world, replica, call, up } = createReplica({ idleTimeoutMs: 10_000 }, { goes: 'never' });
    const link = await up();
    await world.passes(10_000);
    expect([replica.snapshot().states.server, link.orders, replica.gate.isOpen]).toEqual([
      'connected.closing.asking',
      ['close'],
      false,
    ]);
    const caller = call();
    expect(replica.snapshot().states.keeper).toBe('running.recalled');
    link.goes({ kind: 'disconnected', reason: 'stopped', killed: false });
    await settled();
    world.newest.opens();
    world.newest.answers();
    expect([caller.result !== undefined, caller.routes]).toEqual([true, [2]]);
  });

  test('is not stopped with a call in flight, nor before idle_timeout after the last call', async () => {
    const { world, replica, call, up } = createReplica({ idleTimeoutMs: 10_000, requestTimeoutMs: 60_000 });
    const link = await up();
    call();
    await world.passes(30_000);
    expect(replica.snapshot().states.server).toBe('connected.serving');
    link.answers();
    await world.passes(9_900);
    expect(replica.snapshot().states.server).toBe('connected.serving');
    await world.passes(200);
    expect([replica.detail, replica.snapshot().states.server]).toEqual(['idle', 'disconnected']);
  });

  test('whose lists are read while it runs is not started again for them', async () => {
    const { world, replica, up } = createReplica({ idleTimeoutMs: 10_000 });
    await up();
    replica.discover();
    await world.passes(10_100);
    await world.passes(10_100);
    expect([replica.detail, world.links.length]).toEqual(['idle', 1]);
  });
});

describe('the lists of a replica', () => {
  test('FR-016: are read when it is connected, and again after list_changed', async () => {
    const { world, replica, up, listed } = createReplica({}, { lists: { 'tools/list': [{ name: 'one' }] } });
    const link = await up();
    expect(listed.map(({ tools }) => tools)).toEqual([[{ name: 'one' }]]);
    link.behaviour = { lists: { 'tools/list': [{ name: 'two' }] } };
    link.says('notifications/tools/list_changed');
    await world.passes(100);
    expect(listed.at(-1)?.tools).toEqual([{ name: 'two' }]);
    link.says('notifications/message');
    await settled();
    expect([listed.length, replica.snapshot().states.server]).toEqual([2, 'connected.serving']);
  });

  test('are read again on order', async () => {
    const { replica, up, listed } = createReplica();
    await up();
    replica.discover();
    await settled();
    expect(listed.length).toBe(2);
  });
});

describe('the status of a replica', () => {
  test('has the pid, the calls in flight and the protocol version while it runs', async () => {
    const { replica, call, up } = createReplica();
    expect([replica.snapshot().pids, replica.snapshot().inFlight, replica.snapshot().opened]).toEqual([
      [],
      0,
      undefined,
    ]);
    const link = await up();
    call();
    expect([replica.snapshot().pids, replica.snapshot().inFlight]).toEqual([[link.pid], 1]);
    expect(replica.snapshot().opened?.protocolVersion).toBe('2025-06-18');
    link.crashes();
    await settled();
    expect([replica.snapshot().opened, replica.snapshot().pids]).toEqual([undefined, [link.pid + 1]]);
  });

  test("does not count toolherd's own requests, pings and list readings, as calls in flight", async () => {
    const { replica, call, up } = createReplica();
    const link = await up();
    link.session.send({ method: 'ping', isOwn: true }, { settle: () => undefined });
    expect(replica.snapshot().inFlight).toBe(0);
    call();
    expect(replica.snapshot().inFlight).toBe(1);
  });

  test('has the last error with its time, and how the last stop ended', async () => {
    const { world, replica, up } = createReplica({ restart: 'never' });
    const link = await up();
    world.clock.advance(5_000);
    link.crashes(3);
    await settled();
    expect([replica.context.lastError?.code, replica.snapshot().failedAt, replica.lastStop]).toEqual([
      3,
      5_000,
      undefined,
    ]);
    await up();
    replica.stop(GOODBYE);
    await replica.whenGone();
    expect(replica.lastStop).toEqual({ kind: 'disconnected', reason: 'stopped', killed: false });
  });

  test('whenDecided waits for a start, and resolves at once when nothing starts', async () => {
    const { world, replica } = createReplica();
    await replica.whenDecided();
    replica.order('start');
    let decided = false;
    void replica.whenDecided().then(() => {
      decided = true;
    });
    await settled();
    expect(decided).toBe(false);
    world.newest.opens();
    await settled();
    expect(decided).toBe(true);
  });
});

describe('a bug of toolherd', () => {
  test('I2: a fault in a keeper kills its process, fails waiting calls, and the replica takes no more calls', async () => {
    const random = () => {
      throw new Error('no chance');
    };
    const { world, replica, call, up } = createReplica(
      { healthyAfterMs: 10 ** 9 },
      { goes: 'killed' },
      { random },
    );
    (await up()).crashes();
    await settled();
    // the second restart is planned by chance, and chance is broken
    world.newest.opens();
    world.newest.dies();
    const caller = call();
    world.newest.isBuried();
    await settled();
    expect(caller.error.message).toBe('srv: its keeper broke: no chance');
    expect(call().error.type).toBe('ServerCrashedError');
    expect([replica.detail, replica.waitsFor, replica.snapshot().lastError?.cause]).toEqual([
      'quarantined',
      'person',
      'bug',
    ]);
    await replica.whenGone();
    await replica.whenDecided();
    expect(world.alive).toEqual([]);
  });

  test('a fault in an incarnation kills it and seals its gate, and the next one starts', async () => {
    const { world, replica, call, up } = createReplica({}, { goes: 'killed' });
    const link = await up();
    const running = call('a');
    replica.context.incumbent?.send(TRAP);
    await settled();
    expect([link.orders, running.error.sent]).toEqual([['kill'], true]);
    expect([replica.snapshot().lastError?.cause, world.links.length]).toEqual(['bug', 2]);
    const next = call('b');
    world.newest.opens();
    expect(next.routes).toEqual([2]);
  });

  test('a fault in the opening of a link is a failed start, and its permit is given back', async () => {
    const permits = new Permits(1);
    const { world, replica, call } = createReplica({ maxRestarts: 0 }, {}, { permits });
    world.throws = new Error('out of luck');
    const caller = call();
    await settled();
    expect(caller.error.message).toBe('srv: out of luck');
    let isGranted = false;
    permits.ask(() => {
      isGranted = true;
    });
    expect([replica.detail, isGranted]).toEqual(['quarantined', true]);
  });
});

test('five hundred incarnations leave no actor and no timer', async () => {
  const { world, replica, up, children } = createReplica({
    restart: 'never',
    ping: { intervalMs: 1000, timeoutMs: 100 },
  });
  for (let count = 0; count < 500; count += 1) {
    (await up()).crashes();
    await settled();
    world.links.length = 0;
  }
  expect([replica.context.incarnation, children(), world.clock.pending]).toEqual([500, ['srv@1#0'], 0]);
  replica.release();
  expect(children()).toEqual([]);
});

describe('the statecharts', () => {
  test('are built once: all servers share them', () => {
    const world = new World();
    const deps = world.serverDeps();
    const charts = new Set<unknown>();
    const keep: ServerDeps['keep'] = (id, chart, logic, input) => {
      charts.add(logic);
      return deps.keep(id, chart, logic, input);
    };
    const common = { deps: { ...deps, keep }, lists: listsOwner(), predecessor: Promise.resolve() };
    for (const name of ['a', 'b']) new Replica({ ...common, id: `${name}@1#0`, spec: spec({ name }) });
    expect(charts.size).toBe(1);
  });
});
