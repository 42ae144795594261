import { describe, expect, test } from 'vitest';
import { createActor } from 'xstate';
import { type IncarnationReport, type KeeperOrder, keeperMachine } from '../../src/machines/index.js';
import { noHistory, type RestartPolicy } from '../../src/machines/restart/restart-policy.js';
import {
  crashing,
  healthy,
  obedient,
  reports,
  type Script,
  SimulatedWorld,
  silent,
  stateName,
  stubborn,
  unstartable,
  type WorldOptions,
} from '../../src/testing/index.js';
import { defaults, keeperInput, startKeeper, times } from '../model/setting.js';

const exact: RestartPolicy = { ...defaults, backoff: { ...defaults.backoff, jitter: 0 } };

/** As the policy of a remote server is: it is never given up. */
const remote: RestartPolicy = { ...exact, maxRestarts: Number.POSITIVE_INFINITY };
const wrong = () => unstartable({ looksMisconfigured: true });

function simulateKeeper(script: Script, policy = exact, options: WorldOptions = {}) {
  const world = new SimulatedWorld({ script, ...options });
  const keeper = startKeeper(world, policy);
  const ended: IncarnationReport[] = [];
  keeper.on('incarnation.ended', (report) => ended.push(report));
  return {
    world,
    keeper,
    ended,
    state: () => stateName(keeper.getSnapshot().value),
    context: () => keeper.getSnapshot().context,
    order: (type: KeeperOrder['type']) => keeper.send({ type }),
    call: () => keeper.send({ type: 'call.waiting' }),
    pass: (ms: number) => world.clock.advance(ms),
    opens: () => world.processes.map((process) => process.openedAt),
  };
}

describe('wanted or not', () => {
  test('FR-024: a server is not started before it is needed; the first call starts it', () => {
    const { state, call, pass, opens } = simulateKeeper(() => healthy());
    pass(1_000_000);
    expect(opens()).toEqual([]);
    call();
    pass(100);
    expect(state()).toBe('running.up');
  });

  test('a server stopped by order is not started by calls, only by an order', () => {
    const { state, order, call, pass } = simulateKeeper(() => healthy());
    order('start');
    pass(100);
    order('stop');
    expect(state()).toBe('stopped');
    call();
    order('reset');
    expect(state()).toBe('stopped');
    order('start');
    pass(100);
    expect(state()).toBe('running.up');
  });

  test('I1: restart ends the old incarnation before the new one begins, under a new number', () => {
    const { world, keeper, state, order, pass, opens } = simulateKeeper(() => ({
      ...healthy(),
      close: stepsAfter(300),
    }));
    order('start');
    pass(100);
    order('restart');
    expect(state()).toBe('running.restarting');
    pass(299);
    expect(opens()).toEqual([0]);
    pass(100);
    expect(state()).toBe('running.up');
    expect(opens()).toEqual([0, 400]);
    expect(Object.keys(keeper.getSnapshot().children)).toEqual(['server.2']);
    expect(keeper.getSnapshot().context.restarts).toBe(0);
    world.check();
  });

  test('the last order wins: stop while restarting stops, start while stopping restarts', () => {
    const first = simulateKeeper(() => ({ ...healthy(), close: stepsAfter(300) }));
    first.order('start');
    first.pass(100);
    first.order('restart');
    first.order('stop');
    first.pass(400);
    expect(first.state()).toBe('stopped');

    const second = simulateKeeper(() => ({ ...healthy(), close: stepsAfter(300) }));
    second.order('start');
    second.pass(100);
    second.order('stop');
    second.order('start');
    second.pass(400);
    expect(second.state()).toBe('running.up');
    expect(second.opens()).toHaveLength(2);
  });

  test('stop during the start ends in stopped, not in a retry', () => {
    const { world, state, order, pass } = simulateKeeper(() => silent);
    order('start');
    pass(10);
    order('stop');
    world.say(reports.exited(1));
    expect(state()).toBe('stopped');
    pass(1_000_000);
    expect(world.processes).toHaveLength(1);
  });

  test('FR-024: an idle server rests, and the next call starts a fresh one', () => {
    const { world, state, order, call, pass, opens } = simulateKeeper(() => healthy());
    order('start');
    pass(100);
    world.idleForMs = times.idleTimeoutMs;
    pass(times.idleTimeoutMs);
    expect(state()).toBe('idle');
    world.idleForMs = 0;
    call();
    pass(100);
    expect(state()).toBe('running.up');
    expect(opens()).toHaveLength(2);
  });

  test('a call that waits while its server ends without an order starts the next incarnation', () => {
    const endings: ['idle' | 'crash' | 'clean' | 'bad close', RestartPolicy['restart']][] = [
      ['idle', 'on-failure'],
      ['clean', 'on-failure'],
      ['crash', 'never'],
      ['bad close', 'on-failure'],
    ];
    for (const [how, restart] of endings) {
      const { world, state, order, call, pass } = simulateKeeper(() => ({ ...healthy(), close: [] }), {
        ...exact,
        restart,
      });
      order('start');
      pass(100);
      if (how === 'idle' || how === 'bad close') {
        world.idleForMs = times.idleTimeoutMs;
        pass(times.idleTimeoutMs);
        expect(world.gate).toBeUndefined();
      }
      call();
      expect(state()).toBe('running.recalled');
      if (how === 'idle') world.say(reports.closed());
      else if (how === 'bad close') world.say(reports.closeFailed());
      else world.say(reports.exited(how === 'clean' ? 0 : 1));
      pass(100);
      expect([how, state()]).toEqual([how, 'running.up']);
      expect(world.processes).toHaveLength(2);
    }
  });

  test('a recalled server that failed is handled by the restart policy', () => {
    const { world, state, order, call, pass } = simulateKeeper(() => healthy(), { ...exact, maxRestarts: 0 });
    order('start');
    pass(100);
    call();
    world.say(reports.exited(1));
    expect(state()).toBe('quarantined.holding');
  });
});

describe('after a failure', () => {
  test('FR-023: the first restart is immediate, then the backoff grows, and next_retry_at has the time', () => {
    const { state, context, order, pass, opens } = simulateKeeper(() => crashing(100));
    order('start');
    pass(111);
    expect(opens()).toEqual([0, 110]);
    pass(110);
    expect(state()).toBe('waiting.holding');
    expect(context().nextRetryAt).toBe(720);
    pass(500);
    expect(opens()).toEqual([0, 110, 720]);
    expect(context().nextRetryAt).toBeUndefined();
    pass(1_200);
    expect(opens()).toEqual([0, 110, 720, 1830]);
    expect(context().restarts).toBe(3);
  });

  test('I3: simulated P-9: what dies after every handshake gets max_restarts restarts, then quarantine with the reason', () => {
    const { state, context, order, pass, opens } = simulateKeeper(() => crashing(100));
    order('start');
    pass(1_000_000);
    expect(state()).toBe('quarantined.callable');
    expect(opens()).toHaveLength(6);
    expect(context().quarantineReason).toBe('5 restarts in 60 s');
    expect(context().lastError).toMatchObject({ cause: 'exit', code: 1 });
    expect(context().nextRetryAt).toBeUndefined();
  });

  test('simulated P-12: starts that time out, at any pace, end in quarantine', () => {
    const { state, context, order, pass, opens } = simulateKeeper(() => obedient);
    order('start');
    pass(10_000_000);
    expect(state()).toBe('quarantined.callable');
    expect(opens()).toHaveLength(6);
    expect(opens().at(-1)).toBeGreaterThan(exact.restartWindowMs);
    expect(context().quarantineReason).toBe('6 failed starts in a row');
  });

  test('simulated P-10: a missing command is quarantined at once, without a loop', () => {
    const { state, context, order, pass, opens } = simulateKeeper(() =>
      unstartable({ cause: 'spawn', permanent: true }),
    );
    order('start');
    pass(1_000_000);
    expect(state()).toBe('quarantined.callable');
    expect(opens()).toHaveLength(1);
    expect(context().quarantineReason).toBe('a restart cannot help');
  });

  test('a healthy time makes the next restart immediate again', () => {
    const { state, order, pass, opens, context } = simulateKeeper((incarnation) =>
      crashing(incarnation === 3 ? 30_000 : 100),
    );
    order('start');
    pass(730);
    expect(state()).toBe('running.up');
    expect(opens()).toEqual([0, 110, 720]);
    pass(30_010);
    expect(opens()).toEqual([0, 110, 720, 30_730]);
    expect(context().history.streak).toBe(1);
  });

  test('a server that needs an authorisation waits for a person, and starts after a reset', () => {
    const { world, state, order, call, pass } = simulateKeeper(() => unstartable({ cause: 'auth' }));
    order('start');
    pass(1_000_000);
    expect(state()).toBe('needs_auth');
    expect(world.processes).toHaveLength(1);
    call();
    expect(state()).toBe('needs_auth');
    world.script = () => healthy();
    order('reset');
    pass(100);
    expect(state()).toBe('running.up');
  });

  test('calls do not shorten a wait right after a try; an order does', () => {
    const { state, order, call, pass } = simulateKeeper(() => crashing(100));
    order('start');
    pass(250);
    expect(state()).toBe('waiting.holding');
    call();
    expect(state()).toBe('waiting.holding');
    order('start');
    expect(state()).toBe('running.starting.connecting');
  });

  test('FR-023: what looks misconfigured and was never connected is rechecked slowly, for ever, and reported meanwhile', () => {
    const { world, state, context, order, pass, opens } = simulateKeeper(() => wrong(), remote);
    order('start');
    pass(10);
    expect([state(), context().nextRetryAt]).toEqual(['waiting.holding', 300_010]);
    expect(context().lastError).toMatchObject({ looksMisconfigured: true });
    pass(10_000_000);
    expect(opens().slice(0, 4)).toEqual([0, 300_010, 600_020, 900_030]);
    expect(context().restarts).toBe(33);
    world.script = () => healthy();
    pass(300_010);
    expect(state()).toBe('running.up');
  });

  test('FR-023: a call makes the next try at once, when the last one is a third of backoff.max ago', () => {
    const { world, state, order, call, pass, opens } = simulateKeeper(() => wrong(), remote);
    order('start');
    pass(10 + 9_999);
    call();
    expect([state(), opens()]).toEqual(['waiting.holding', [0]]);
    pass(1);
    expect(state()).toBe('waiting.callable');
    call();
    pass(10);
    expect([state(), opens()]).toEqual(['waiting.holding', [0, 10_010]]);
    pass(10_000);
    world.script = () => healthy();
    call();
    pass(10);
    expect(state()).toBe('running.up');
  });

  test('FR-023: the end of the hold is reported once, when the keeper is callable; a waiting call then makes its try', () => {
    const { keeper, state, order, pass, opens } = simulateKeeper(() => wrong(), remote);
    const reported: string[] = [];
    keeper.on('hold.ended', () => {
      reported.push(state());
      keeper.send({ type: 'call.waiting' });
    });
    order('start');
    pass(10 + 9_999);
    expect(reported).toEqual([]);
    pass(1);
    expect([reported, state(), opens()]).toEqual([
      ['waiting.callable'],
      'running.starting.connecting',
      [0, 10_010],
    ]);
  });

  test('FR-023: a server that was connected once is restarted with backoff for any failure; reset keeps that fact', () => {
    const { state, context, order, pass, opens } = simulateKeeper(
      (incarnation) => (incarnation === 1 ? crashing(100) : wrong()),
      remote,
    );
    order('start');
    pass(110 + 10);
    expect([state(), context().nextRetryAt]).toEqual(['waiting.holding', 620]);
    order('reset');
    pass(10);
    expect([opens(), context().nextRetryAt]).toEqual([[0, 110, 120], 630]);
    pass(1_000_000);
    expect(opens().length).toBeGreaterThan(30);
    expect(context().nextRetryAt! - opens().at(-1)!).toBe(30_010);
  });

  test('a server that was connected before the keeper began is restarted with backoff; that is asked only when needed', () => {
    let asked = 0;
    const world = new SimulatedWorld({ script: () => unstartable() });
    const wasConnected = () => {
      asked += 1;
      return true;
    };
    const input = { ...keeperInput(world, remote), wasConnected };
    const keeper = createActor(world.keeper, { clock: world.clock, input }).start();
    keeper.send({ type: 'start' });
    world.clock.advance(10);
    expect(asked).toBe(0);
    world.script = () => wrong();
    world.clock.advance(100_000);
    expect(asked).toBe(1);
    expect(keeper.getSnapshot().context.nextRetryAt).toBeLessThan(world.clock.now() + 30_001);
  });

  test('max_restarts quarantines a wrong entry too, and max_restarts 0 at once', () => {
    const { state, context, order, pass, opens } = simulateKeeper(() => wrong(), {
      ...exact,
      maxRestarts: 2,
    });
    order('start');
    pass(10_000_000);
    expect([state(), opens()]).toEqual(['quarantined.callable', [0, 300_010, 600_020]]);
    expect(context().quarantineReason).toBe('3 failed starts in a row');
    const strict = simulateKeeper(() => wrong(), { ...exact, maxRestarts: 0 });
    strict.order('start');
    strict.pass(10);
    expect(strict.state()).toBe('quarantined.holding');
  });

  test('a Retry-After of a remote server is obeyed, also before the first restart and by calls', () => {
    const { state, context, order, call, pass, opens } = simulateKeeper(
      () => unstartable({ retryAfterMs: 20_000 }),
      remote,
    );
    order('start');
    pass(10);
    expect([state(), context().nextRetryAt, context().callableAt]).toEqual([
      'waiting.holding',
      20_010,
      20_010,
    ]);
    pass(19_999);
    call();
    expect(opens()).toEqual([0]);
    pass(1);
    expect(opens()).toEqual([0, 20_010]);
  });

  test('reset forgets the failures and tries again; start tries once and forgives nothing', () => {
    const first = simulateKeeper(() => crashing(100));
    first.order('start');
    first.pass(1_000_000);
    first.order('reset');
    first.pass(1_000_000);
    expect(first.state()).toBe('quarantined.callable');
    expect(first.opens()).toHaveLength(12);
    expect(first.context().restarts).toBe(10);

    const second = simulateKeeper(() => unstartable());
    second.order('start');
    second.pass(1_000_000);
    expect(second.opens()).toHaveLength(6);
    second.order('start');
    second.pass(1_000_000);
    expect(second.state()).toBe('quarantined.callable');
    expect(second.opens()).toHaveLength(7);
    expect(second.context().quarantineReason).toBe('7 failed starts in a row');
  });

  test('reset in a wait starts at once, from the beginning of the backoff', () => {
    const { state, order, pass, context } = simulateKeeper(() => crashing(100));
    order('start');
    pass(250);
    order('reset');
    expect(state()).toBe('running.starting.connecting');
    expect(context().history).toEqual({ ...noHistory, hasConnected: true });
  });

  test('a call after the cool-down makes one try; each that fails doubles the cool-down, up to 32 times', () => {
    const { state, order, call, pass, opens, context } = simulateKeeper(() => crashing(100));
    order('start');
    pass(1_000_000);
    expect([state(), opens().length]).toEqual(['quarantined.callable', 6]);
    const cooldowns = [60, 120, 240, 480, 960, 960];
    for (const [index, seconds] of cooldowns.entries()) {
      call();
      call();
      pass(200);
      expect([state(), opens().length]).toEqual(['quarantined.holding', 7 + index]);
      expect(context().quarantineReason).toBe('its one try after a quarantine failed');
      const endsAt = opens().at(-1)! + 110 + seconds * 1000;
      expect(context().callableAt).toBe(endsAt);
      call();
      pass(endsAt - 1 - context().now());
      expect(state()).toBe('quarantined.holding');
      pass(1);
      expect(state()).toBe('quarantined.callable');
    }
    expect(context().restarts).toBe(5);
  });

  test('a try after a quarantine that becomes healthy ends it: the next failure is a first one', () => {
    let isMended = false;
    const { world, state, order, call, pass, context } = simulateKeeper(() =>
      isMended ? healthy() : unstartable({ permanent: true }),
    );
    order('start');
    pass(30_100);
    isMended = true;
    call();
    pass(30_100);
    expect([state(), context().quarantineReason]).toEqual(['running.up', undefined]);
    world.say(reports.exited(1));
    expect(state()).toBe('running.starting.connecting');
    expect(context().history).toMatchObject({ quarantines: 0, failedStarts: 0 });
  });

  test('the reason of a quarantine is cleared when it ends', () => {
    const { state, order, pass, context } = simulateKeeper(() => unstartable({ permanent: true }));
    order('start');
    pass(100);
    expect(state()).toBe('quarantined.holding');
    order('stop');
    expect(context().quarantineReason).toBeUndefined();
    expect(context().lastError?.permanent).toBe(true);
  });

  test('random numbers spread the delay within the jitter', () => {
    const world = new SimulatedWorld({ script: () => crashing(100) });
    const input = { ...keeperInput(world), random: () => 0 };
    const keeper = createActor(world.keeper, { clock: world.clock, input }).start();
    keeper.send({ type: 'start' });
    world.clock.advance(230);
    expect(keeper.getSnapshot().context.nextRetryAt).toBe(220 + 400);
  });
});

describe('permits', () => {
  test('no process is started without a permit, and it is given back when the handshake is done', () => {
    const { world, state, order, pass } = simulateKeeper(() => healthy(), exact, { permitsAreFree: false });
    order('start');
    pass(1_000_000);
    expect(state()).toBe('running.starting.queued');
    expect(world.processes).toEqual([]);
    expect(world.permitsHeld).toBe(1);
    world.grant();
    expect(world.permitsHeld).toBe(1);
    pass(10);
    expect(state()).toBe('running.up');
    expect(world.permitsHeld).toBe(0);
  });

  test('a failed start keeps its permit until its process is gone', () => {
    const { world, order, pass } = simulateKeeper(() => silent, { ...exact, restart: 'never' });
    order('start');
    world.say(reports.failed());
    pass(1_000);
    expect(world.permitsHeld).toBe(1);
    world.say(reports.closed());
    expect(world.permitsHeld).toBe(0);
  });

  test('waiting for a permit can be stopped, and leaves nothing', () => {
    const { world, keeper, state, order } = simulateKeeper(() => healthy(), exact, { permitsAreFree: false });
    order('start');
    order('stop');
    expect(state()).toBe('stopped');
    expect(world.permitsHeld).toBe(0);
    expect(keeper.getSnapshot().children).toEqual({});
    world.grant();
    expect(world.processes).toEqual([]);
  });

  test('I3: a restart counts from when it was let go, not from when it was decided', () => {
    const { world, order, pass, context } = simulateKeeper(() => crashing(100), exact, {
      permitsAreFree: false,
    });
    order('start');
    world.grant();
    pass(50_000);
    expect(context().history.restarts).toEqual([]);
    world.grant();
    expect(context().history.restarts).toEqual([50_000]);
  });

  test('a permit that breaks does not keep a server from starting', () => {
    const { world, state, order, pass } = simulateKeeper(() => healthy(), exact, { permitsAreFree: false });
    order('start');
    world.breakPermit();
    pass(100);
    expect(state()).toBe('running.up');
  });

  test('a permit that breaks after it was granted changes nothing', () => {
    const { world, keeper, state, order, pass } = simulateKeeper(() => healthy(), exact, {
      permitsAreFree: false,
    });
    order('start');
    world.grant();
    world.breakPermit();
    expect(keeper.getSnapshot().status).toBe('active');
    expect(state()).toBe('running.starting.connecting');
    pass(100);
    expect(state()).toBe('running.up');
  });

  test('every start begins at once if there is no limit', () => {
    const world = new SimulatedWorld({ script: () => healthy() });
    const machine = keeperMachine.provide({ actors: { server: world.server } });
    const keeper = createActor(machine, { clock: world.clock, input: keeperInput(world) }).start();
    keeper.send({ type: 'start' });
    world.clock.advance(100);
    expect(stateName(keeper.getSnapshot().value)).toBe('running.up');
  });
});

describe('incarnations', () => {
  test('an ended one is removed and its last state stays readable', () => {
    const { keeper, order, pass, context } = simulateKeeper(() => crashing(100));
    order('start');
    pass(250);
    expect(keeper.getSnapshot().children).toEqual({});
    expect(context().incarnation).toBe(2);
    expect(context().incumbent?.getSnapshot().value).toBe('error');
  });

  test('each ending is reported once, with what follows already visible', () => {
    const { keeper, ended, order, pass } = simulateKeeper((incarnation) =>
      incarnation === 1 ? crashing(100) : unstartable(),
    );
    const seen: string[] = [];
    keeper.on('incarnation.ended', () => seen.push(stateName(keeper.getSnapshot().value)));
    order('start');
    pass(150);
    expect(ended.map(({ incarnation, connected, ending }) => [incarnation, connected, ending.kind])).toEqual([
      [1, true, 'error'],
      [2, false, 'error'],
    ]);
    expect(seen).toEqual(['running.starting.queued', 'waiting.holding']);
  });

  test('I5: an incarnation that breaks ends with cause bug, is reaped, and is restarted', () => {
    const { world, keeper, state, order, pass, context } = simulateKeeper(() => healthy());
    order('start');
    pass(100);
    world.breakServer();
    expect(context().lastError).toEqual({
      kind: 'error',
      cause: 'bug',
      message: 'github: its incarnation broke: the incarnation broke',
    });
    expect(world.alive.map((process) => process.incarnation)).toEqual([2]);
    expect(Object.keys(keeper.getSnapshot().children)).toEqual(['server.2', 'permit']);
    pass(100);
    expect(state()).toBe('running.up');
  });

  test('a server that the memory budget stops rests, and the next call starts it', () => {
    const { state, context, order, call, pass } = simulateKeeper(() => healthy());
    order('start');
    pass(100);
    context().incumbent?.send({ type: 'stop' });
    expect(state()).toBe('idle');
    call();
    pass(100);
    expect(state()).toBe('running.up');
  });

  test('I7: a stop against a process that ignores every polite word takes the ladder and no longer', () => {
    const { world, state, order, pass } = simulateKeeper(() => ({ ...healthy(), ...stubborn, close: [] }));
    order('start');
    pass(100);
    order('stop');
    pass(times.closeTimeoutMs - 1);
    expect(state()).toBe('running.stopping');
    pass(1);
    expect(state()).toBe('stopped');
    expect(world.alive).toEqual([]);
  });
});

function stepsAfter(afterMs: number) {
  return [{ afterMs, report: reports.closed() }];
}
