/** The graph of the transient machine, and a pool of simulated processes in which each of its edges can be made to happen. */
import { getNextTransitions, type SnapshotFrom } from 'xstate';
import {
  disconnected,
  failed,
  type ProcessPhase,
  type TransientEvent,
  type TransientInput,
  type TransientMachine,
  type TransientOrder,
  transientMachine,
} from '../../src/machines/index.js';
import {
  everyEdge,
  reports,
  SimulatedPool,
  type SimulatedWorld,
  stateName,
} from '../../src/testing/index.js';
import { settings, type times } from './setting.js';

export type TransientSnapshot = SnapshotFrom<TransientMachine>;

export const poolLimits = {
  spares: 1,
  maxInFlight: 2,
  backoff: { minMs: 500, maxMs: 4_000, factor: 2, jitter: 0 },
};

export const transientInput: TransientInput = {
  ...poolLimits,
  now: () => 0,
  random: () => 0.5,
  availability: () => 'now',
};

/** How a process can end, by its phase. */
export const processEndings = {
  'as told': disconnected('stopped'),
  'clean exit': disconnected('ended'),
  crash: failed({ cause: 'exit', message: 'ended with 1', code: 1, signal: null }),
  'close failed': failed({ cause: 'close', message: 'the session could not be ended' }),
  hopeless: failed({ cause: 'spawn', message: 'no such command', permanent: true }),
};

/** The oldest process in this phase. */
export function oldest({ context }: TransientSnapshot, wanted: ProcessPhase): number | undefined {
  return [...context.processes].find(([, phase]) => phase === wanted)?.[0];
}

/** Everything that can happen, with a name for tables. A process stands for all in its phase. */
export function transientEventsIn(state: TransientSnapshot): Readonly<Record<string, TransientEvent>> {
  const events: Record<string, TransientEvent> = {
    start: { type: 'start' },
    stop: { type: 'stop' },
    restart: { type: 'restart' },
    reset: { type: 'reset' },
    drain: { type: 'drain' },
    discover: { type: 'discover', purpose: 'discovery' },
    'discover for use': { type: 'discover', purpose: 'use' },
    'call.waiting': { type: 'call.waiting' },
  };
  for (const phase of ['free', 'serving', 'leaving'] as const) {
    const process = oldest(state, phase);
    if (process === undefined) continue;
    events[`${phase} call.settled`] = { type: 'call.settled', process };
    events[`${phase} call.gone`] = { type: 'call.gone', process, listsWanted: false };
    events[`${phase} ready`] = { type: 'process.ready', process, listsWanted: false };
    events[`${phase} ready, lists wanted`] = { type: 'process.ready', process, listsWanted: true };
    for (const [how, ending] of Object.entries(processEndings))
      events[`${phase} ended: ${how}`] = { type: 'process.ended', process, ending };
  }
  for (const { eventType } of getNextTransitions(state)) {
    const [, delay] = /^xstate\.after\.([^.]+)\./.exec(eventType) ?? [];
    if (delay) events[`after ${delay}`] = { type: eventType } as unknown as TransientEvent;
  }
  return events;
}

/** What makes a difference later. */
export function transientProjection({ value, context }: TransientSnapshot): string {
  const count = (wanted: ProcessPhase) =>
    [...context.processes.values()].filter((phase) => phase === wanted).length;
  return [
    stateName(value),
    ...(['free', 'serving', 'leaving'] as const).map((phase) => `${count(phase)} ${phase}`),
    `failures ${Math.min(context.failures, 1)}`,
  ].join(', ');
}

/** Orders can be repeated without end: from here on they would only add processes that are leaving. */
const MOST_LEAVING = 2;
const ADDS_LEAVING = /^(start|restart|discover.*)$/;

/** Every edge, its events under their names. `isPossible` leaves out what cannot happen in the world that walks it. */
export function transientGraph(
  isPossible: (state: TransientSnapshot, event: string) => boolean = () => true,
  limits: Partial<TransientInput> = {},
) {
  const names = new Map<TransientEvent, string>();
  const nameOf = (event: TransientEvent) => names.get(event) ?? event.type;
  const edges = everyEdge(transientMachine, {
    input: { ...transientInput, ...limits },
    events: (state) => {
      const leaving = [...state.context.processes.values()].filter((phase) => phase === 'leaving').length;
      return Object.entries(transientEventsIn(state)).flatMap(([name, event]) => {
        if (leaving > MOST_LEAVING && ADDS_LEAVING.test(name)) return [];
        names.set(event, name);
        return isPossible(state, name) ? [event] : [];
      });
    },
    project: transientProjection,
  });
  return edges.map(({ path, event, from, to }) => ({ way: path.map(nameOf), step: nameOf(event), from, to }));
}

/** What the processes of the simulated world do, and in which phase. */
const POSSIBLE = [
  /^(start|stop|restart|reset|drain|discover|call\.waiting|after \w+)$/,
  /^free (ready|ready, lists wanted|ended: crash|ended: hopeless)$/,
  /^serving call\.(settled|gone)$/,
  /^leaving ended: (as told|close failed)$/,
];

export function possibleTransientEdges() {
  return transientGraph((_, name) => POSSIBLE.some((pattern) => pattern.test(name)));
}

const NEVER_MS = 10 ** 9;
/** Limits that no walk reaches: a process ends only when a test makes it end. */
export const endless = { startTimeoutMs: NEVER_MS, discoverTimeoutMs: NEVER_MS, closeTimeoutMs: NEVER_MS };

export function transientHarness(world: SimulatedWorld, over: Partial<typeof times> = endless) {
  world.reset();
  return new SimulatedPool(world, { ...poolLimits, server: settings(world, { ...over, idleTimeoutMs: 0 }) });
}

type Happens = (pool: SimulatedPool, world: SimulatedWorld) => void;
type HappensTo = (pool: SimulatedPool, process: number) => void;

const order =
  (type: TransientOrder['type']): Happens =>
  (pool) =>
    pool.actor.send({ type });

const toPool: Readonly<Record<string, Happens>> = {
  start: order('start'),
  stop: order('stop'),
  restart: order('restart'),
  reset: order('reset'),
  drain: (pool) => pool.actor.send({ type: 'drain' }),
  discover: (pool) => pool.actor.send({ type: 'discover', purpose: 'discovery' }),
  'call.waiting': (pool) => pool.call(),
  'after refill': (_, world) => world.clock.advance(50),
  'after backoff': (pool, world) =>
    world.clock.advance((pool.actor.getSnapshot().context.nextRetryAt ?? 0) - world.clock.now()),
};

const ready =
  (listsWanted: boolean): HappensTo =>
  (pool, process) => {
    pool.listsWanted = listsWanted;
    for (const report of [reports.opened(), reports.listChanged(), reports.discovered()])
      pool.say(process, report);
    pool.listsWanted = false;
  };

const toProcess: Readonly<Record<string, HappensTo>> = {
  'call.settled': (pool, process) => pool.settle(process),
  'call.gone': (pool, process) => {
    pool.processes.get(process)!.call = undefined;
    pool.actor.send({ type: 'call.gone', process, listsWanted: false });
  },
  ready: ready(false),
  'ready, lists wanted': ready(true),
  'ended: crash': (pool, process) => pool.say(process, reports.exited(1)),
  'ended: hopeless': (pool, process) => {
    pool.say(process, reports.failed({ permanent: true }));
    pool.say(process, reports.closed());
  },
  'ended: as told': (pool, process) => pool.say(process, reports.closed()),
  'ended: close failed': (pool, process) => pool.say(process, reports.closeFailed()),
};

/** Makes it happen, and checks the laws. */
export function happensInPool(world: SimulatedWorld, pool: SimulatedPool, name: string): void {
  const [, phase, what = name] = /^(free|serving|leaving) (.*)$/.exec(name) ?? [];
  const process = oldest(pool.actor.getSnapshot(), phase as ProcessPhase);
  const happens = phase === undefined ? toPool[what] : toProcess[what];
  if (happens === undefined) throw new Error(`nothing in this world makes "${name}" happen`);
  if (phase === undefined) toPool[what]?.(pool, world);
  else toProcess[what]?.(pool, process!);
  pool.check();
}
