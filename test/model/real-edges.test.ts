import { describe, expect, test } from 'vitest';
import { serverGraph, serverTitle } from './graphs.js';
import { type HarnessOptions, labelOf, RealHarness } from './real-harness.js';
import { type StepName, steps } from './real-steps.js';

/** Every edge of the server machine that a real process walked, in all tests of this file. */
const walked = new Set<string>();

async function walk(options: HarnessOptions, way: readonly StepName[]): Promise<RealHarness> {
  const harness = new RealHarness(options, (edge) => walked.add(edge));
  for (const name of way) {
    await steps[name](harness);
    await new Promise(setImmediate);
    harness.check();
  }
  return harness;
}

const connecting = 'running.starting.connecting';
const queued = 'running.starting.queued';
/** Longer than the time in which a call may not make the next try. */
const long = { minMs: 30_000, maxMs: 30_000, factor: 1, jitter: 0 };
const ordersThatStart = { start: connecting, restart: connecting } as const;

interface Place {
  way: StepName[];
  options?: HarnessOptions;
  /** No permit is to be had until the end of the way. */
  isQueued?: boolean;
  /** What can happen there, and where it leads. */
  then: Partial<Record<StepName, string>>;
}

/** Where a keeper can be, how it gets there, and what follows there from everything that can happen. */
const places: Record<string, Place> = {
  idle: {
    way: [],
    then: { ...ordersThatStart, call: connecting, wake: connecting, stop: 'stopped', reset: 'idle' },
  },
  [queued]: {
    way: ['start'],
    isQueued: true,
    then: { start: queued, restart: queued, call: queued, reset: queued, stop: 'stopped' },
  },
  [connecting]: {
    way: ['start'],
    then: {
      start: connecting,
      call: connecting,
      reset: connecting,
      restart: 'running.restarting',
      stop: 'running.stopping',
      open: 'running.up',
      refuse: 'waiting.holding',
      exitAtStart: 'waiting.holding',
      go: 'waiting.holding',
      startTimeout: connecting,
    },
  },
  'running.up': {
    way: ['start', 'open'],
    then: {
      start: 'running.up',
      wake: 'running.up',
      reset: 'running.up',
      restart: 'running.restarting',
      stop: 'running.stopping',
      idle: 'running.up',
      rest: 'running.up',
      crash: connecting,
      exit: connecting,
      shut: connecting,
      hang: connecting,
      end: 'idle',
    },
  },
  'running.recalled': {
    way: ['start', 'open', 'idle', 'call'],
    then: {
      start: 'running.recalled',
      call: 'running.recalled',
      reset: 'running.recalled',
      restart: 'running.restarting',
      stop: 'running.stopping',
      go: connecting,
      kill: connecting,
    },
  },
  'running.stopping': {
    way: ['start', 'open', 'stop'],
    then: {
      start: 'running.restarting',
      restart: 'running.restarting',
      stop: 'running.stopping',
      call: 'running.stopping',
      reset: 'running.stopping',
      go: 'stopped',
      kill: 'stopped',
      crash: 'stopped',
    },
  },
  'running.restarting': {
    way: ['start', 'open', 'restart'],
    then: {
      start: 'running.restarting',
      restart: 'running.restarting',
      stop: 'running.stopping',
      call: 'running.restarting',
      reset: 'running.restarting',
      go: connecting,
      kill: connecting,
    },
  },
  'waiting.holding': {
    way: ['start', 'open', 'crash', 'open', 'crash'],
    options: { spec: { backoff: long } },
    then: {
      ...ordersThatStart,
      reset: connecting,
      call: 'waiting.holding',
      wake: 'waiting.holding',
      stop: 'stopped',
      hold: 'waiting.callable',
      backoff: connecting,
    },
  },
  'waiting.callable': {
    way: ['start', 'open', 'crash', 'open', 'crash', 'hold'],
    options: { spec: { backoff: long } },
    then: {
      ...ordersThatStart,
      reset: connecting,
      call: connecting,
      wake: connecting,
      stop: 'stopped',
      backoff: connecting,
    },
  },
  'quarantined.holding': {
    way: ['start', 'open', 'crash', 'open', 'crash'],
    options: { spec: { maxRestarts: 1 } },
    then: {
      ...ordersThatStart,
      reset: connecting,
      call: 'quarantined.holding',
      wake: 'quarantined.holding',
      stop: 'stopped',
      hold: 'quarantined.callable',
    },
  },
  'quarantined.callable': {
    way: ['start', 'open', 'crash', 'open', 'crash', 'hold'],
    options: { spec: { maxRestarts: 1 } },
    then: { ...ordersThatStart, reset: connecting, call: connecting, wake: connecting, stop: 'stopped' },
  },
  stopped: {
    way: ['stop'],
    then: { ...ordersThatStart, reset: 'stopped', call: 'stopped', wake: 'stopped', stop: 'stopped' },
  },
};

describe('layer 1, real processes: every edge of the keeper leads where it should', () => {
  test.each(Object.entries(places))(
    'I1 I2 I4 I5 I6 I10: each edge from %s leads where it should',
    async (from, { way, options = {}, isQueued, then }) => {
      for (const [name, to] of Object.entries(then)) {
        const harness = new RealHarness(options, (edge) => walked.add(edge));
        const giveBack = isQueued ? harness.permits.ask(() => {}) : () => {};
        for (const step of way) await steps[step](harness);
        await harness.reaches(from);
        await steps[name as StepName](harness);
        await harness.until(`${from} · ${name} → ${to}`, () => harness.keeper === to);
        harness.check();
        giveBack();
        await harness.end();
      }
    },
  );

  test('a permit that is given back lets the next start begin', async () => {
    const harness = new RealHarness({}, (edge) => walked.add(edge));
    const giveBack = harness.permits.ask(() => {});
    harness.replica.order('start');
    await harness.reaches(queued);
    expect(harness.world.processes).toEqual([]);
    giveBack();
    await harness.reaches(connecting);
    await harness.end();
  });

  test('P4: a call at the moment of a crash waits, and is served by the next incarnation', async () => {
    const harness = await walk({}, ['start', 'open']);
    let next: ReturnType<RealHarness['call']> | undefined;
    const crashed = harness.call('exit', () => {
      expect(harness.keeper).toBe('running.up');
      next = harness.call('pid');
      expect(harness.keeper).toBe('running.recalled');
    });
    await harness.reaches(connecting);
    expect(crashed.error).toMatchObject({ type: 'ServerCrashedError', sent: true });
    harness.world.say('open');
    await harness.until('the waiting call is served', () => next?.isSettled === true);
    expect([next?.routes, harness.world.noted.map(({ mark }) => mark)]).toEqual([[2], ['m0', 'm1']]);
    await harness.end();
  });

  test('P10: a missing command is quarantined at once', async () => {
    const harness = await walk({ spec: { command: '/no/such/command' } }, ['start']);
    await harness.reaches('quarantined.holding');
    expect(harness.replica.snapshot().lastError).toMatchObject({ cause: 'spawn', permanent: true });
    await harness.end();
  });
});

describe('layer 1, real processes: every edge of the server machine that they can produce', () => {
  const held: HarnessOptions = { lists: 'held' };
  const ways: [HarnessOptions, StepName[]][] = [
    [{}, ['start', 'changedEarly', 'open']],
    [{}, ['start', 'stop', 'start', 'changedEarly', 'go']],
    [{}, ['start', 'stop', 'kill']],
    [{}, ['start', 'stop', 'killAndStop']],
    [{}, ['start', 'startTimeout', 'killAndStop']],
    [{}, ['start', 'open', 'stop', 'killAndStop']],
    [{}, ['start', 'open', 'served', 'hang']],
    [{}, ['start', 'startTimeout', 'stop', 'changedEarly', 'go']],
    [{}, ['start', 'startTimeout', 'kill']],
    [held, ['start', 'open', 'changed', 'listed']],
    [held, ['start', 'open', 'discoverTimeout', 'listed']],
    [held, ['start', 'open', 'stop', 'go']],
    [held, ['start', 'open', 'exit']],
    [held, ['start', 'open', 'end']],
    [{}, ['start', 'open', 'served', 'end']],
    [held, ['start', 'open', 'shut']],
    [held, ['start', 'open', 'hang']],
    [{}, ['start', 'open', 'served', 'changed']],
    [{}, ['start', 'open', 'call', 'idle']],
    [{}, ['start', 'open', 'call', 'rest']],
    [{}, ['start', 'open', 'rest', 'call', 'go']],
    [{}, ['start', 'open', 'stop', 'start', 'changedEarly', 'kill']],
  ];

  test.each(ways.map(([options, way]) => ({ options, way, title: way.join(' > ') })))(
    'I4 I5: $title',
    async ({ options, way }) => {
      const harness = await walk(options, way);
      await harness.end();
    },
  );

  test('I5: stop while it is being killed for hanging', async () => {
    const harness = await walk({}, ['start', 'open']);
    process.kill(harness.pid, 'SIGSTOP');
    harness.fire('ping');
    await harness.reaches('connected.closing.killing (failing)');
    harness.stop();
    await harness.reaches('stopped');
    await harness.end();
  });

  /** What no process can do, and why. */
  const impossible: [from: RegExp, event: RegExp, because: string][] = [
    [/./, /^xstate\.error\.actor\.link$/, 'a link that throws is a bug of ours'],
    [/./, /^link\.close_failed$/, 'nothing survives SIGKILL here'],
    [/^(?!created)/, /^connect$/, 'a keeper says it once'],
    [/^(?!connected\.serving)/, /^rest$/, 'only a serving incarnation gets it'],
    [/^created/, /^link\./, 'nothing was opened'],
    [
      /opening|discovering/,
      /^link\.exited 0$/,
      'an exit that leaves a question open is no goodbye, whatever its code',
    ],
    [
      /^(?!connecting\.opening)/,
      /^link\.opened$/,
      'there is one handshake, and none for one that is leaving',
    ],
    [/^connecting\.opening/, /^link\.(discovered|hung)$/, 'it was not asked yet'],
    [/^connect(ing|ed)\.(opening|discovering|serving)/, /^link\.closed/, 'it was not asked to close'],
    [
      /closing|aborting/,
      /^link\.(discovered|exited|failed|hung)/,
      'a link that was told to close says only that it is closed',
    ],
    [
      /closing\.asking \(failing\)/,
      /./,
      'a link reports a failure when all is over, so this is left in the same breath',
    ],
    [
      /killing/,
      /^link\.closed$/,
      'what goes before the signal comes was asked before, and is closed by then',
    ],
    [/killing/, /^link\.list_changed$/, 'it is dead before it can send a notification'],
    [/aborting\.asking/, /^link\.closed killed$/, 'the stop sequence of these tests never reaches KILL'],
    [/closing\.asking/, /^link\.closed killed$/, 'the stop sequence of these tests never reaches KILL'],
  ];

  test('no edge was left out', () => {
    const edges = new Set(
      [true, false].flatMap((idle) =>
        serverGraph({ idle }).map(({ from, event }) => `${serverTitle(from)} · ${labelOf(event)}`),
      ),
    );
    const unused = new Set(impossible);
    const expected = [...edges].filter((edge) => {
      const [from = '', event = ''] = edge.split(' · ');
      const reasons = impossible.filter(([state, type]) => state.test(from) && type.test(event));
      for (const reason of reasons) unused.delete(reason);
      return reasons.length === 0;
    });
    expect(
      expected.filter((edge) => !walked.has(edge)),
      'possible and not walked',
    ).toEqual([]);
    expect(
      [...walked].filter((edge) => !edges.has(edge)),
      'walked and not in the graph',
    ).toEqual([]);
    expect([...unused], 'reasons for nothing').toEqual([]);
    expect(expected.length).toBeGreaterThan(25);
  });
});
