import { describe, expect, test } from 'vitest';
import type { AnyActorRef } from 'xstate';
import type { StdioSpec } from '../../../src/config/fields/spec.js';
import type { ListsOwner, Reading } from '../../../src/supervisor/catalog/lists.js';
import { stopped } from '../../../src/supervisor/errors.js';
import { Permits } from '../../../src/supervisor/server/permits.js';
import type { PinChecking } from '../../../src/supervisor/server/pinned-gate.js';
import type { ServerDeps } from '../../../src/supervisor/server/server-deps.js';
import { TransientPool } from '../../../src/supervisor/server/transient-pool.js';
import { type FakeLinkBehaviour, failure } from '../fake-link.js';
import { Caller, EVERY_LIST, listsOwner, request, settled, spec, TRAP, World } from '../world.js';

const GOODBYE = stopped('srv');
/** Does the handshake and answers at once. */
const GOOD: FakeLinkBehaviour = { opens: true, answers: true };

interface Options {
  spec?: Partial<StdioSpec>;
  behaviour?: FakeLinkBehaviour;
  deps?: Partial<ServerDeps>;
  predecessor?: Promise<unknown>;
  pinChecking?: PinChecking;
}

function createPool({
  spec: changes = {},
  behaviour = {},
  deps = {},
  predecessor = Promise.resolve(),
  pinChecking,
}: Options = {}) {
  const world = new World();
  world.behaviour = () => behaviour;
  const serverDeps = world.serverDeps(deps);
  const actors: AnyActorRef[] = [];
  const keep: ServerDeps['keep'] = (...child) => {
    const actor = serverDeps.keep(...child);
    actors.push(actor);
    return actor;
  };
  const state = { listed: [] as Reading[], wantsLists: false, isAwaited: false };
  const lists: ListsOwner = {
    ...listsOwner(),
    get isDue() {
      return state.wantsLists;
    },
    take: (reading) => {
      state.listed.push(reading);
      state.wantsLists = false;
    },
    toRead: (isAllWanted) => (isAllWanted || state.wantsLists ? EVERY_LIST : new Map()),
    get isAwaited() {
      return state.isAwaited;
    },
    giveUp: () => {
      state.isAwaited = false;
    },
  };
  const transients = new TransientPool({
    id: 'srv@1',
    spec: spec({ lifecycle: 'transient', ...changes }),
    deps: { ...serverDeps, keep },
    lists,
    predecessor,
    pinChecking,
  });
  const callers: Caller[] = [];
  const call = (mark = 'x', timeoutMs?: number) => {
    const caller = new Caller();
    callers.push(caller);
    return Object.assign(caller, { handle: transients.send(request(mark, timeoutMs), caller) });
  };
  /** I9, as far as processes count that could still take a call. */
  const check = () => {
    const taking = world.links.filter(({ isAlive, session }) => isAlive && session.state === 'open').length;
    const unsettled = callers.filter(({ isSettled }) => !isSettled).length;
    if (taking > unsettled + (changes.spares ?? 0))
      throw new Error(`I9: ${taking} processes for ${unsettled} calls`);
  };
  /** Without the transient machine. */
  const children = () => serverDeps.children().filter((id) => id !== 'srv@1');
  return { world, transients, call, state, check, actors, children };
}

describe('a transient server', () => {
  test('I9 FR-024 FR-025: starts a process for each call and stops it after the call', async () => {
    const { world, call, check, transients, children } = createPool({ behaviour: GOOD });
    const callers = ['a', 'b', 'c'].map((mark) => call(mark));
    check();
    await settled();
    check();
    await settled();
    expect(callers.map(({ routes }) => routes)).toEqual([[1], [2], [3]]);
    expect(callers.every(({ result }) => result !== undefined)).toBe(true);
    expect(world.links.map(({ calls, orders, life }) => [calls.length, orders, life])).toEqual(
      Array(3).fill([1, ['close'], 'gone']),
    );
    expect([transients.snapshot(), children()]).toMatchObject([{ detail: 'idle', pids: [] }, []]);
    expect(new Set(world.links.map(({ pid }) => pid)).size).toBe(3);
  });

  test('has no process without a call', async () => {
    const { world, transients } = createPool();
    transients.start();
    await settled();
    expect([world.links, transients.snapshot().detail]).toEqual([[], 'idle']);
  });

  test('I2: fails a call with sent: true when its process crashes, and shows the crash', async () => {
    const { world, call, transients } = createPool({ behaviour: { opens: true } });
    const caller = call();
    await settled();
    world.clock.advance(77);
    world.newest.crashes(7);
    await settled();
    expect(caller.error).toMatchObject({ type: 'ServerCrashedError', sent: true });
    expect(transients.snapshot().lastError).toMatchObject({ cause: 'exit', code: 7 });
    expect([transients.snapshot().failedAt, transients.snapshot().states.server]).toEqual([77, 'error']);
  });

  test('I2: fails a call with sent: false and the cause when its process cannot start', async () => {
    const { world, call } = createPool();
    const caller = call();
    await settled();
    world.newest.goes(failure('srv', { message: 'srv: no such command' }));
    await settled();
    expect(caller.error).toMatchObject({ message: 'srv: no such command', sent: false });
  });

  test('treats an open that throws as a failed start, and leaves no actor', async () => {
    const { world, call, children, transients } = createPool({ deps: { permits: new Permits(1) } });
    world.throws = new Error('out of luck');
    expect([call(), call()].map(({ isSettled }) => isSettled)).toEqual([false, false]);
    await settled();
    expect([children(), transients.snapshot().lastError?.cause]).toEqual([[], 'bug']);
    world.throws = undefined;
    call();
    await settled();
    expect(world.links.length).toBe(1);
  });
});

describe('a caller whose callback throws', () => {
  const broken = {
    settle: () => {
      throw new Error('out of order');
    },
  };

  test('is logged, and the process of its call ends', async () => {
    const { world, transients, children } = createPool({ behaviour: GOOD });
    transients.send(request('x'), broken);
    await settled();
    await settled();
    expect([world.newest.life, children(), transients.snapshot().detail]).toEqual(['gone', [], 'idle']);
    expect(world.logs.join()).toContain('out of order');
  });

  test('a throw before its process is up leaves no actor, and the next call gets a process', async () => {
    const { world, call, transients, children } = createPool();
    transients.send(request('x'), broken);
    await settled();
    world.newest.goes(failure('srv', { message: 'srv: no such command' }));
    await settled();
    expect([children(), transients.snapshot().lastError?.message]).toEqual([[], 'srv: no such command']);
    world.behaviour = () => GOOD;
    const caller = call();
    await settled();
    await settled();
    expect([caller.result !== undefined, children()]).toEqual([true, []]);
    expect(world.logs.join()).toContain('out of order');
  });
});

describe('cancelling a transient call', () => {
  test("a cancellation before the handshake stops the call's process and writes nothing", async () => {
    const { world, call } = createPool();
    const caller = call();
    await settled();
    caller.handle?.cancel('enough');
    caller.handle?.cancel();
    await settled();
    expect(caller.error).toMatchObject({ type: 'CancelledError', sent: false });
    expect([world.newest.life, world.newest.calls]).toEqual(['gone', []]);
  });

  test('a call cancelled while it waits for a permit starts no process', async () => {
    const { world, call, children } = createPool({ deps: { permits: new Permits(0) } });
    const caller = call();
    await settled();
    caller.handle?.cancel();
    await settled();
    expect([caller.error.type, world.links, children()]).toEqual(['CancelledError', [], []]);
  });

  test('a call cancelled after it was sent: the server gets notifications/cancelled, and the process stops', async () => {
    const { world, call } = createPool({ behaviour: { opens: true } });
    const caller = call();
    await settled();
    caller.handle?.cancel();
    await settled();
    expect(caller.error).toMatchObject({ type: 'CancelledError', sent: true });
    expect(world.newest.written.map(({ method }) => method)).toEqual([
      'tools/call',
      'notifications/cancelled',
    ]);
    expect(world.newest.life).toBe('gone');
  });

  test('a call cancelled while it waits for a place frees its position for the next call', async () => {
    const { world, call } = createPool({ spec: { maxInFlight: 1 }, behaviour: { opens: true } });
    call('a');
    const second = call('b');
    const third = call('c');
    second.handle?.cancel();
    await settled();
    world.newest.answers();
    await settled();
    expect(second.error).toMatchObject({ type: 'CancelledError', sent: false });
    expect([world.links.length, third.routes]).toEqual([2, [2]]);
  });
});

describe('the timeout of a transient call', () => {
  test('counts while the process starts', async () => {
    const { world, call } = createPool();
    const caller = call('a', 1000);
    await settled();
    await world.passes(1100);
    expect(caller.error).toMatchObject({ type: 'MCPTimeoutError', sent: false });
    expect(world.newest.life).toBe('gone');
  });

  test('counts while the call waits for a place', async () => {
    const { world, call } = createPool({ spec: { maxInFlight: 1 }, behaviour: { opens: true } });
    call('a');
    const caller = call('b', 1000);
    await settled();
    await world.passes(1100);
    expect(caller.error).toMatchObject({ type: 'MCPTimeoutError', sent: false });
    expect(world.links.length).toBe(1);
  });
});

describe('max_in_flight', () => {
  test('I9: makes more calls wait in order; a free place goes to the next', async () => {
    const { world, call, check } = createPool({ spec: { maxInFlight: 2 }, behaviour: { opens: true } });
    const callers = ['a', 'b', 'c', 'd'].map((mark) => call(mark));
    await settled();
    check();
    expect(world.links.length).toBe(2);
    world.links[1]?.answers();
    await settled();
    check();
    expect(callers.map(({ routes }) => routes)).toEqual([[1], [2], [3], []]);
    world.links[0]?.answers();
    world.links[2]?.answers();
    await settled();
    expect(callers.map(({ routes }) => routes)).toEqual([[1], [2], [3], [4]]);
  });

  test('counts a process that stops until it is gone', async () => {
    const { world, call } = createPool({
      spec: { maxInFlight: 1 },
      behaviour: { opens: true, goes: 'never' },
    });
    call('a');
    call('b');
    await settled();
    world.newest.answers();
    await settled();
    expect([world.links.length, world.newest.orders]).toEqual([1, ['close']]);
    world.newest.isBuried();
    await settled();
    expect(world.links.length).toBe(2);
  });

  test('is not raised by the end of a spare', async () => {
    const { world, call, transients } = createPool({
      spec: { maxInFlight: 1, spares: 1 },
      behaviour: { opens: true },
    });
    transients.start();
    await settled();
    call('a');
    const second = call('b');
    world.clock.advance(50);
    await settled();
    const spare = world.links.find(({ calls }) => calls.length === 0)!;
    spare.crashes();
    await settled();
    expect([second.isSettled, second.routes]).toEqual([false, []]);
    expect(world.links.filter(({ calls }) => calls.length > 0).length).toBe(1);
  });

  test('lets 10,000 calls wait and refuses the next', () => {
    const { call } = createPool({ spec: { maxInFlight: 1 } });
    call();
    for (let count = 0; count < 10_000; count += 1) call();
    expect(call().error.type).toBe('OverloadedError');
  });

  test('a waiting call whose tool was blocked meanwhile is refused, and its process never starts', async () => {
    const blocked = stopped('its tool');
    let refusal: typeof blocked | undefined;
    const pinChecking = { isStrict: () => true, refusalOf: () => refusal };
    const { world, call, children, transients } = createPool({
      spec: { maxInFlight: 1 },
      behaviour: { opens: true },
      pinChecking,
    });
    call('a');
    const waits = call('b');
    await settled();
    refusal = blocked;
    world.newest.answers();
    await settled();
    await settled();
    expect(waits.error).toBe(blocked);
    expect([world.links.length, children(), transients.snapshot().detail]).toEqual([1, [], 'idle']);
  });
});

describe('spares', () => {
  test('I9: have done their handshake; a call takes one at once, and another replaces it', async () => {
    const { world, call, transients, check } = createPool({
      spec: { spares: 2 },
      behaviour: { opens: true },
    });
    transients.start();
    await settled();
    check();
    expect(world.alive.length).toBe(2);
    const caller = call();
    expect([caller.routes, world.links[0]?.calls.length]).toEqual([[1], 1]);
    await settled();
    // starting another would keep this call waiting
    expect(world.alive.length).toBe(2);
    world.clock.advance(50);
    await settled();
    check();
    expect(world.alive.length).toBe(3);
    world.links[0]?.answers();
    await settled();
    check();
    expect(world.alive.length).toBe(2);
  });

  test('P11: give their permit back after the handshake', async () => {
    const { world, transients } = createPool({ spec: { spares: 2 }, deps: { permits: new Permits(1) } });
    transients.start();
    await settled();
    expect(world.links.length).toBe(1);
    world.newest.opens();
    await settled();
    expect(world.links.length).toBe(2);
  });

  test('that are ready take a call before those that start', async () => {
    const { world, call, transients } = createPool({ spec: { spares: 2 } });
    transients.start();
    await settled();
    world.links[1]?.opens();
    expect(call().routes).toEqual([2]);
  });

  test('that start take a call before a new process is started', async () => {
    const { world, call, transients } = createPool({ spec: { spares: 1 } });
    transients.start();
    await settled();
    const caller = call();
    world.links[0]?.opens();
    expect(caller.routes).toEqual([1]);
  });

  test('that have died take no call, before their ending is reported', async () => {
    const { world, call, transients } = createPool({ spec: { spares: 1 }, behaviour: { opens: true } });
    transients.start();
    await settled();
    world.newest.dies();
    const caller = call();
    await settled();
    expect([caller.isSettled, caller.routes]).toEqual([false, [2]]);
  });

  test('P9: that fail are tried again with backoff', async () => {
    const { world, transients } = createPool({ spec: { spares: 1 } });
    transients.start();
    const tries: number[] = [];
    for (let count = 0; count < 5; count += 1) {
      await settled();
      tries.push(world.clock.now());
      world.newest.goes(failure('srv'));
      await settled();
      const before = world.links.length;
      while (world.links.length === before) {
        world.clock.advance(50);
        await settled();
      }
    }
    expect(tries).toEqual([0, 500, 1500, 3500, 7500]);
  });

  test('P9: that fail after their handshake are tried again with backoff, after a crash and after a clean exit', async () => {
    for (const code of [1, 0]) {
      const { world, transients } = createPool({ spec: { spares: 1 }, behaviour: { opens: true } });
      transients.start();
      await settled();
      world.newest.crashes(code);
      await settled();
      expect(world.links.length).toBe(1);
      await world.passes(500);
      expect(world.links.length).toBe(2);
      world.newest.crashes(code);
      await world.passes(600);
      expect(world.links.length).toBe(2);
    }
  });

  test('P10: whose command is missing are not tried again before a call or an order', async () => {
    const { world, transients, call } = createPool({ spec: { spares: 1 } });
    transients.start();
    await settled();
    world.newest.goes(failure('srv', { permanent: true }));
    await settled();
    expect(world.clock.pending).toBe(0);
    call();
    await settled();
    expect(world.links.length).toBeGreaterThan(1);
  });

  test('a failure after a successful call has the shortest wait', async () => {
    const { world, transients, call } = createPool({ spec: { spares: 1 } });
    transients.start();
    await settled();
    world.newest.goes(failure('srv'));
    await world.passes(500);
    world.newest.goes(failure('srv'));
    await settled();
    call();
    await settled();
    world.newest.opens();
    world.newest.answers();
    await world.passes(1000);
    const { length } = world.links;
    world.newest.goes(failure('srv'));
    await world.passes(500);
    expect(world.links.length).toBe(length + 1);
  });

  test('are tried at once by reset', async () => {
    const { world, transients } = createPool({ spec: { spares: 1 } });
    transients.start();
    await settled();
    world.newest.goes(failure('srv'));
    await settled();
    transients.reset();
    await settled();
    expect([world.links.length, world.clock.pending]).toEqual([2, 1]);
  });

  test('start tries again at once, and the earlier failures count', async () => {
    const { world, transients } = createPool({ spec: { spares: 1 } });
    transients.start();
    await settled();
    world.newest.goes(failure('srv'));
    await settled();
    expect(transients.snapshot().nextRetryAt).toBe(500);
    transients.start();
    await settled();
    expect([world.links.length, transients.snapshot().nextRetryAt]).toEqual([2, undefined]);
    world.newest.goes(failure('srv'));
    await settled();
    expect(transients.snapshot().nextRetryAt).toBe(1000);
  });

  test('whenDecided resolves when each is ready or has failed', async () => {
    const { world, transients } = createPool({ spec: { spares: 2 } });
    transients.start();
    let decided = false;
    void transients.whenDecided().then(() => {
      decided = true;
    });
    await settled();
    world.links[0]?.opens();
    await settled();
    expect(decided).toBe(false);
    world.links[1]?.goes(failure('srv'));
    await settled();
    expect(decided).toBe(true);
  });
});

describe('stopping a transient server', () => {
  test('I2 I6: stops its spares, fails calls that wait for a place or a start, and refuses later calls', async () => {
    const { world, transients, call } = createPool({ spec: { spares: 1, maxInFlight: 2 } });
    transients.start();
    await settled();
    world.newest.opens();
    const sent = call('a');
    const held = call('b');
    const queued = call('c');
    await settled();
    transients.stop(GOODBYE);
    await transients.whenGone();
    expect(sent.error.sent).toBe(true);
    expect(held.error).toMatchObject({ type: 'ServerUnavailableError', sent: false });
    expect(queued.error).toBe(GOODBYE);
    expect(call().error).toBe(GOODBYE);
    expect([world.alive, transients.snapshot().detail, world.clock.pending]).toEqual([[], 'stopped', 0]);
  });

  test('a stopped server that starts again has its spares back, also when a next try was planned', async () => {
    const { world, transients } = createPool({ spec: { spares: 1 } });
    transients.start();
    await settled();
    world.newest.goes(failure('srv'));
    await settled();
    transients.stop(GOODBYE);
    transients.start();
    await settled();
    expect([world.links.length, world.alive.length]).toEqual([2, 1]);
  });

  test('records how each process ended, for the last stop only', async () => {
    const { world, transients, call } = createPool({
      spec: { spares: 2 },
      behaviour: { opens: true, answers: true },
    });
    transients.start();
    for (let count = 0; count < 3; count += 1) call();
    await settled();
    await settled();
    expect(transients.lastStops).toEqual([]);
    for (const link of world.alive) link.behaviour = { goes: 'killed' };
    transients.stop(GOODBYE);
    await settled();
    for (const link of world.alive) link.close('kill');
    await transients.whenGone();
    expect(transients.lastStops).toEqual(
      Array(2).fill({ kind: 'disconnected', reason: 'stopped', killed: true }),
    );
  });
});

describe('restarting a transient server', () => {
  test('replaces its processes', async () => {
    const { world, transients } = createPool({ spec: { spares: 1 }, behaviour: { opens: true } });
    transients.start();
    await settled();
    transients.restart();
    await settled();
    expect(world.links.map(({ life }) => life)).toEqual(['gone', 'open']);
  });

  test('I6: a stop during the restart leaves it stopped, also while the old processes still stop', async () => {
    const { world, transients } = createPool({
      spec: { spares: 1 },
      behaviour: { opens: true, goes: 'never' },
    });
    transients.start();
    await settled();
    transients.restart();
    await settled();
    transients.stop(GOODBYE);
    for (const link of world.links) link.isBuried();
    await transients.whenGone();
    await settled();
    expect([world.alive, transients.snapshot().detail]).toEqual([[], 'stopped']);
  });

  test('a restart while spares wait for permits creates no endless loop', async () => {
    const { world, transients, children } = createPool({
      spec: { spares: 3 },
      deps: { permits: new Permits(0) },
    });
    transients.start();
    await settled();
    transients.restart();
    await settled();
    expect([world.links, children().length]).toEqual([[], 3]);
  });
});

describe('the lists of a transient server', () => {
  test('are read by a process that stays only as a spare', async () => {
    for (const spares of [0, 1]) {
      const { world, transients, state } = createPool({ spec: { spares }, behaviour: { opens: true } });
      state.wantsLists = true;
      expect(transients.discover()).toBe(true);
      await settled();
      expect([state.listed.length, world.alive.length]).toEqual([1, spares]);
    }
  });

  test('are read again by ready spares', async () => {
    const { world, transients, state } = createPool({ spec: { spares: 1 }, behaviour: { opens: true } });
    transients.start();
    await settled();
    expect(state.listed.length).toBe(0);
    state.wantsLists = true;
    transients.discover();
    await settled();
    expect([state.listed.length, world.links.length]).toEqual([1, 1]);
  });

  test('I9: stop a process that was started to read them when another process was first', async () => {
    const { world, transients, state, call } = createPool();
    state.wantsLists = true;
    call();
    await settled();
    transients.discover();
    await settled();
    world.links[0]?.opens();
    await settled();
    expect(state.listed.length).toBe(1);
    world.links[1]?.opens();
    await settled();
    expect(world.links[1]?.life).toBe('gone');
  });

  test('cannot be read after a stop', async () => {
    const { world, transients, state, call } = createPool();
    call();
    state.isAwaited = true;
    await settled();
    world.newest.goes(failure('srv'));
    await settled();
    // a failed process: no other is started to read the lists
    expect([state.isAwaited, world.links.length]).toEqual([false, 1]);
    transients.stop(GOODBYE);
    expect(transients.discover()).toBe(false);
  });
});

describe('a transient server whose config has changed', () => {
  test('I1: starts nothing before its predecessor is gone', async () => {
    let gone = () => {};
    const predecessor = new Promise<void>((resolve) => {
      gone = resolve;
    });
    const { world, call } = createPool({ predecessor, behaviour: GOOD });
    const caller = call();
    await settled();
    expect(world.links).toEqual([]);
    gone();
    await settled();
    expect(caller.result).toBeDefined();
  });
});

describe('a bug of toolherd in one process', () => {
  test('I5: kills that process and touches no other', async () => {
    const { world, call, transients, children, actors } = createPool({
      behaviour: { opens: true, goes: 'killed' },
    });
    const broken = call('a');
    const other = call('b');
    await settled();
    const [first, second] = world.links;
    // the machine is the first
    actors[1]?.send(TRAP);
    await settled();
    expect([first?.orders, second?.orders, first?.life]).toEqual([['kill'], [], 'gone']);
    expect(broken.error).toMatchObject({ sent: true });
    expect([other.isSettled, children().length, transients.snapshot().lastError?.cause]).toEqual([
      false,
      1,
      'bug',
    ]);
  });
});

test('I2: a bug in the machine fails waiting and new calls, and stops the processes', async () => {
  let isBroken = false;
  const random = () => {
    if (isBroken) throw new Error('a bug of ours');
    return 0.5;
  };
  const { world, call, transients } = createPool({
    spec: { spares: 1, maxInFlight: 1 },
    behaviour: { opens: true },
    deps: { random },
  });
  transients.start();
  await settled();
  const sent = call('a');
  const waits = call('b');
  await world.passes(200);
  isBroken = true;
  world.links.find(({ calls }) => calls.length === 0)?.crashes();
  await settled();
  await settled();
  expect([sent.isSettled, waits.error.sent, call('c').error.sent]).toEqual([true, false, false]);
  expect([world.alive, transients.snapshot().detail]).toEqual([[], 'stopped']);
  expect(world.logs.join()).toContain('a bug of ours');
});

test('three hundred transient calls leave no actor and no timer', async () => {
  const { world, call, transients, children } = createPool({ behaviour: GOOD });
  for (let round = 0; round < 15; round += 1) {
    for (let count = 0; count < 20; count += 1) call();
    await settled();
    world.links.length = 0;
  }
  await transients.whenGone();
  const left = [
    children(),
    world.clock.pending,
    transients.lastStops,
    transients.snapshot().pids,
    transients.snapshot().incarnation,
  ];
  expect(left).toEqual([[], 0, [], [], 300]);
});
