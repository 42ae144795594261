/**
 * The transient machine: one server with `lifecycle: transient`. Each call gets a fresh process, which ends after it.
 * `spares` processes wait with their handshake done, so that a call need not wait for a start.
 *
 * Each process is an incarnation with a server machine. This machine decides when a process is started, which one takes
 * a call, and when one has to go.
 *
 * ## States
 *
 * | state | calls | what is true in it |
 * |---|---|---|
 * | `open.stocked` | pass | the spares wait or start; a spare that is missing is started with the next event |
 * | `open.refilling` | pass | a call has taken a process: missing spares are started when `refill` fires |
 * | `open.waiting` | pass | a spare failed: missing spares are started at `nextRetryAt`, or by an order |
 * | `open.quarantined` | pass | a spare failed, and trying again cannot help: a call, an order or the end of another process brings the next try |
 * | `draining` | refused | its config is gone; the processes that have their calls end after them, all others are leaving |
 * | `stopped` | refused | stopped by order; every process is leaving |
 *
 * `refilling` exists because to start a process takes the daemon some milliseconds, and the call that took the spare
 * should not wait for them.
 *
 * A wait and a quarantine concern spares only, so the `detail` of a status shows neither. A call gets a process in any
 * case: its caller learns from the failure of that process what is wrong.
 *
 * ## Processes
 *
 * | phase | what is true | next |
 * |---|---|---|
 * | `free` | it starts, or waits as a spare | `serving` with a call; `leaving` as surplus or by order |
 * | `serving` | it has its one call | `leaving` when the call has its outcome |
 * | `leaving` | it was told to stop | removed by `process.ended` |
 *
 * ## Laws
 *
 * - *One call a process.* No process that has left `free` comes back to it, except by `call.gone`: then it had no call.
 * - *As few as possible.* There are never more processes than calls, spares and those that are leaving, and one while
 *   the lists are wanted. At most `maxInFlight` processes are `serving` or `leaving` because of a call.
 * - *Stop always wins.* It is an edge of every state. After it nothing starts until an order, and no timer runs. The same
 *   holds for `drain`, after which only `stop` is obeyed.
 * - *Failing spares come later and later.* Each failure of a `free` process, also a clean exit, lengthens the wait for the
 *   next try. A process that ended as it was told to proves the server works: the next failure waits the shortest time.
 *
 * ## Events
 *
 * | event | meaning | ignored |
 * |---|---|---|
 * | `start` | take calls, and start the missing spares; also ends a wait or a quarantine, with one try; the failures stand | |
 * | `stop` | every process leaves, waiting calls are refused | |
 * | `drain` | free processes leave, waiting calls are refused; the config is gone, so no other order than `stop` follows | while stopped |
 * | `restart` | every process leaves, fresh spares start at once; they do not wait for the old ones | |
 * | `reset` | forget the failures; missing spares start at once unless it is stopped | |
 * | `discover` | free processes read the lists; without one, a process is started for it | while stopped |
 * | `call.waiting` | at least one call waits for a process | while `maxInFlight` processes are taken |
 * | `call.settled` | the call of this process has its outcome | unless it is serving |
 * | `call.gone` | the call left before this process got it | unless it is serving |
 * | `process.ready` | its handshake is done, or it has read lists: it leaves if it is surplus | while it is needed |
 * | `process.ended` | nothing of this process is left | |
 *
 * The machine does not count waiting calls, because they leave by a timeout or a cancellation at any time. Send
 * `call.waiting` when a call begins to wait, and again after each hand-over and each `process.ended` while calls wait.
 *
 * ## Tags
 *
 * `open`: calls pass.
 *
 * ## From outside
 *
 * Listen to its decisions and carry them out. In a listener the machine's snapshot already shows what follows.
 *
 * | decision | what to do |
 * |---|---|
 * | `process.launch` | start a process with this number |
 * | `process.serve` | give it the call that has waited longest; report `call.gone` if none waits any more |
 * | `process.finish` | stop it after its call, when the outcome is on its way to the caller |
 * | `process.stop` | stop it at once |
 * | `lists.read` | have the free processes read the lists |
 * | `calls.refuse` | refuse the calls that wait |
 */
import { assign, emit, raise, setup } from 'xstate';
import type { StartPurpose } from './permit.js';
import type { Ending } from './restart/ending.js';
import { backoffMs } from './restart/restart-policy.js';
import {
  freeProcesses,
  type ProcessPhase,
  type TransientContext,
  type TransientDecision,
  type TransientEvent,
  type TransientInput,
  transientDelays,
} from './transient-context.js';

interface OneProcess {
  process: number;
}

const machine = setup({
  types: {} as {
    context: TransientContext;
    events: TransientEvent;
    input: TransientInput;
    emitted: TransientDecision;
    tags: 'open';
  },
  actions: {
    launch: emit((_, { process, purpose }: OneProcess & { purpose: StartPurpose }) => ({
      type: 'process.launch' as const,
      process,
      purpose,
    })),
    serve: emit((_, { process }: OneProcess) => ({ type: 'process.serve' as const, process })),
    finish: emit((_, { process }: OneProcess) => ({ type: 'process.finish' as const, process })),
    stop: emit((_, { process }: OneProcess) => ({ type: 'process.stop' as const, process })),
    readLists: emit((_, { purpose }: { purpose: StartPurpose }) => ({
      type: 'lists.read' as const,
      purpose,
    })),
    refuseCalls: emit({ type: 'calls.refuse' }),
    add: assign(({ context }, { process, phase }: OneProcess & { phase: ProcessPhase }) => ({
      incarnation: process,
      processes: new Map(context.processes).set(process, phase),
    })),
    setPhase: assign({
      processes: ({ context }, { process, phase }: OneProcess & { phase: ProcessPhase }) =>
        new Map(context.processes).set(process, phase),
    }),
    remove: assign(({ context }, { process, ending }: OneProcess & { ending: Ending }) => {
      const processes = new Map(context.processes);
      processes.delete(process);
      return {
        processes,
        ...(isAsTold(ending) ? { failures: 0 } : {}),
        ...(ending.kind === 'error' ? { lastError: ending } : {}),
      };
    }),
    noteStop: assign({
      lastStops: ({ context }, { ending }: { ending: Ending }) => [...context.lastStops, ending],
    }),
    forgetStops: assign({ lastStops: [] }),
    forgetFailures: assign({ failures: 0 }),
    planRetry: assign(({ context: { failures, backoff, random, now } }) => ({
      failures: failures + 1,
      nextRetryAt: now() + backoffMs(failures + 1, backoff, random()),
    })),
    dropRetry: assign({ nextRetryAt: undefined }),
  },
  guards: {
    hasRoom: ({ context }) => hasRoom(context),
    hasRoomAndSpares: ({ context }) => hasRoom(context) && context.spares > 0,
    hasFree: ({ context }) => freeProcesses(context).length > 0,
    isServing: ({ context }, { process }: OneProcess) => context.processes.get(process) === 'serving',
    isSurplus: ({ context }, { process, listsWanted }: OneProcess & { listsWanted: boolean }) => {
      const free = freeProcesses(context);
      return !listsWanted && free.includes(process) && free.length > context.spares;
    },
    isFailedSpare: ({ context }, { process, ending }: OneProcess & { ending: Ending }) =>
      isFailedSpare(context, process, ending),
    isHopelessSpare: ({ context }, { process, ending }: OneProcess & { ending: Ending }) =>
      isFailedSpare(context, process, ending) && ending.kind === 'error' && ending.permanent === true,
  },
  delays: transientDelays,
});

/** A process that takes calls now, else one that starts, else a fresh one. */
const serve = machine.enqueueActions(({ context, enqueue }) => {
  const free = freeProcesses(context);
  const chosen = free.find((process) => context.availability(process) === 'now') ?? free[0];
  const process = chosen ?? context.incarnation + 1;
  enqueue({ type: chosen === undefined ? 'add' : 'setPhase', params: { process, phase: 'serving' } });
  if (chosen === undefined) enqueue({ type: 'launch', params: { process, purpose: 'use' } });
  enqueue({ type: 'serve', params: { process } });
});

const refill = machine.enqueueActions(({ context, enqueue }) => {
  const missing = context.spares - freeProcesses(context).length;
  for (let count = 1; count <= missing; count += 1) {
    const process = context.incarnation + count;
    enqueue({ type: 'add', params: { process, phase: 'free' } });
    enqueue({ type: 'launch', params: { process, purpose: 'use' } });
  }
});

const launchToRead = machine.enqueueActions(({ context, event, enqueue }) => {
  const process = context.incarnation + 1;
  const purpose = event.type === 'discover' ? event.purpose : 'discovery';
  enqueue({ type: 'add', params: { process, phase: 'free' } });
  enqueue({ type: 'launch', params: { process, purpose } });
});

const stopAll = machine.enqueueActions(({ context, enqueue }) => {
  for (const [process, phase] of context.processes) {
    if (phase === 'leaving') continue;
    enqueue({ type: 'setPhase', params: { process, phase: 'leaving' } });
    enqueue({ type: 'stop', params: { process } });
  }
});

const stopFree = machine.enqueueActions(({ context, enqueue }) => {
  for (const [process, phase] of context.processes) {
    if (phase !== 'free') continue;
    enqueue({ type: 'setPhase', params: { process, phase: 'leaving' } });
    enqueue({ type: 'stop', params: { process } });
  }
});

const refilled = { target: '#transient.open.stocked', actions: refill } as const;

export const transientMachine = machine.createMachine({
  id: 'transient',
  initial: 'open',
  context: ({ input }) => ({
    ...input,
    incarnation: 0,
    processes: new Map(),
    failures: 0,
    nextRetryAt: undefined,
    lastError: undefined,
    lastStops: [],
  }),
  states: {
    open: {
      tags: 'open',
      initial: 'stocked',
      states: {
        stocked: {
          on: {
            'call.waiting': [
              { guard: 'hasRoomAndSpares', target: 'refilling', actions: serve },
              { guard: 'hasRoom', actions: serve },
            ],
          },
        },
        refilling: { after: { refill: refilled } },
        waiting: {
          entry: 'planRetry',
          exit: 'dropRetry',
          after: { backoff: refilled },
          on: {
            // the next try keeps its time
            'process.ended': { actions: { type: 'remove', params: ({ event }) => event } },
          },
        },
        quarantined: {
          on: { 'call.waiting': { guard: 'hasRoom', target: 'refilling', actions: serve } },
        },
      },
      on: {
        start: refilled,
        restart: { target: '.stocked', actions: [stopAll, refill] },
        reset: { target: '.stocked', actions: ['forgetFailures', refill] },
        stop: { target: 'stopped', actions: ['forgetStops', 'refuseCalls', stopAll] },
        drain: { target: 'draining', actions: ['forgetStops', 'refuseCalls', stopFree] },
        discover: [
          { guard: 'hasFree', actions: { type: 'readLists', params: ({ event }) => event } },
          { actions: launchToRead },
        ],
        'call.waiting': { guard: 'hasRoom', actions: serve },
        'call.settled': {
          guard: { type: 'isServing', params: ({ event }) => event },
          actions: [
            { type: 'setPhase', params: ({ event: { process } }) => ({ process, phase: 'leaving' }) },
            { type: 'finish', params: ({ event }) => event },
          ],
        },
        'call.gone': {
          guard: { type: 'isServing', params: ({ event }) => event },
          actions: [
            { type: 'setPhase', params: ({ event: { process } }) => ({ process, phase: 'free' }) },
            raise(({ event }) => ({ ...event, type: 'process.ready' as const })),
          ],
        },
        'process.ready': {
          guard: { type: 'isSurplus', params: ({ event }) => event },
          actions: [
            { type: 'setPhase', params: ({ event: { process } }) => ({ process, phase: 'leaving' }) },
            { type: 'stop', params: ({ event }) => event },
          ],
        },
        'process.ended': [
          {
            guard: { type: 'isHopelessSpare', params: ({ event }) => event },
            target: '.quarantined',
            actions: { type: 'remove', params: ({ event }) => event },
          },
          {
            guard: { type: 'isFailedSpare', params: ({ event }) => event },
            target: '.waiting',
            actions: { type: 'remove', params: ({ event }) => event },
          },
          {
            target: '.stocked',
            actions: [{ type: 'remove', params: ({ event }) => event }, refill],
          },
        ],
      },
    },
    draining: {
      on: {
        stop: { target: 'stopped', actions: ['forgetStops', stopAll] },
        'call.settled': {
          guard: { type: 'isServing', params: ({ event }) => event },
          actions: [
            { type: 'setPhase', params: ({ event: { process } }) => ({ process, phase: 'leaving' }) },
            { type: 'finish', params: ({ event }) => event },
          ],
        },
        'call.gone': {
          guard: { type: 'isServing', params: ({ event }) => event },
          actions: [
            { type: 'setPhase', params: ({ event: { process } }) => ({ process, phase: 'leaving' }) },
            { type: 'stop', params: ({ event }) => event },
          ],
        },
        'process.ended': {
          actions: [
            { type: 'remove', params: ({ event }) => event },
            { type: 'noteStop', params: ({ event }) => event },
          ],
        },
      },
    },
    stopped: {
      on: {
        start: refilled,
        restart: refilled,
        reset: { actions: 'forgetFailures' },
        stop: { actions: 'forgetStops' },
        'process.ended': {
          actions: [
            { type: 'remove', params: ({ event }) => event },
            { type: 'noteStop', params: ({ event }) => event },
          ],
        },
      },
    },
  },
});

/** Processes that are leaving keep their room until nothing of them is left. */
function hasRoom(context: TransientContext): boolean {
  return context.processes.size - freeProcesses(context).length < context.maxInFlight;
}

function isAsTold(ending: Ending): boolean {
  return ending.kind === 'disconnected' && ending.reason === 'stopped';
}

/** A clean exit of a process that waits for a call is a failure too: replaced at once, it would make a loop. */
function isFailedSpare({ processes, spares }: TransientContext, process: number, ending: Ending): boolean {
  return spares > 0 && processes.get(process) === 'free' && !isAsTold(ending);
}

export type TransientMachine = typeof transientMachine;
