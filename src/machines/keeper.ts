/**
 * The keeper: one replica of a configured server. It knows whether the server is wanted, spawns one incarnation after another,
 * reads how each one ended, and lets the policy say what follows.
 *
 * ## States
 *
 * | state | wanted | what is true in it |
 * |---|---|---|
 * | `idle` | no | no incarnation; an order or a call starts one |
 * | `running` | yes | exactly one incarnation, from its creation to its ending |
 * | `waiting` | yes | the last one failed; the next try is at `nextRetryAt` |
 * | `quarantined` | yes | too many failures, or one that another try cannot fix: an order starts it, or `call.waiting` after the cool-down |
 * | `needs_auth` | yes | it wants an authorisation we do not have; a person must act |
 * | `stopped` | no | stopped by order; calls do not start it |
 *
 * These names are the `detail` of a status. (`disabled`, `not_allowed` and `misconfigured` servers have no keeper.)
 *
 * Inside `running`:
 *
 * | state | what is true in it | when the incarnation ends |
 * |---|---|---|
 * | `starting.queued` | created; waits for a permit to start | the policy decides |
 * | `starting.connecting` | has the permit, which is given back on leaving `starting` | the policy decides |
 * | `up` | its handshake is done | the policy decides |
 * | `recalled` | as `up`, and a call came when the gate had been sealed already | as `up`, but it never rests |
 * | `stopping` | told to stop | stopped |
 * | `restarting` | told to stop, and a fresh one is to follow | a fresh one follows |
 *
 * Inside `waiting` and `quarantined`:
 *
 * | state | what is true in it |
 * |---|---|
 * | `holding` | the last try is too recent: a call does not make the next one |
 * | `callable` | a call makes the next try at once, and waits for it |
 *
 * A wait can be long: minutes, for a remote server whose entry looks wrong. A person who has corrected what was wrong
 * calls again, and that call is served. The hold keeps callers that call all the time from making a try with each call.
 * A call that waits since the crash of a connected server makes its try when the hold ends.
 *
 * Out of a quarantine no time leads, only an order or `call.waiting`. That event makes one try, the trial: if its incarnation
 * fails before it is healthy, the next quarantine begins, and its hold (the cool-down) is twice as long. The supervisor sends
 * it for a call and for a reading of lists. At `hold.ended` it also sends it for a server that no call would reach: one
 * whose lists are unknown, or that is eager.
 *
 * `recalled` closes a gap. A server ends without an order (idle, or a clean end), and at that moment a call arrives and
 * waits at the gate. If the keeper forgot it, the call would wait for an incarnation that is never started.
 *
 * ## Orders and reports
 *
 * | event | meaning |
 * |---|---|
 * | `start` | be wanted, now: also ends a wait, a quarantine or a need for authorisation, with one try; history stands |
 * | `stop` | be unwanted, and stay so until an order; the incarnation is told to stop and its ending is awaited |
 * | `restart` | `stop`, then `start`; what is not running is started |
 * | `reset` | forget all failures; a server that waits, is quarantined or needs an authorisation starts at once |
 * | `call.waiting` | a call waits at the gate: starts a server that is idle or `callable`, and no other. Send it in the same tick in which the call begins to wait |
 * | `permit.granted` | from `permit`: go ahead |
 * | `server.connected` | from the incarnation: its handshake is done |
 *
 * The last order wins: `stop` while restarting stops, `start` while stopping restarts. An order is always obeyed and
 * never forgives: only `reset`, a handshake (failed starts), a healthy time (backoff) and the window's passing do.
 *
 * Where an event has no edge it changes nothing, on purpose: `start` of a running server, `stop` of a stopped one,
 * calls that wait for a start already under way or a retry near at hand, calls to a server that was stopped or just given up.
 *
 * ## Tags
 *
 * `running`: there is an incarnation. `up`: its handshake is done and it was not told to stop. `callable`: a call starts it.
 *
 * ## Incarnations
 *
 * Each has its own id (`server.1`, `server.2` …), because one id used twice leaks the first actor. A live one is
 * never stopped as an actor, which would skip its exit actions: it is told to `stop` and its ending awaited. An
 * ended one is removed at once. One that broke (a bug of ours) is an ending with cause `bug`, after `reap`.
 *
 * ## From outside
 *
 * Provide the actors `server` (the server machine with its own link and gate) and `permit`, and the action `reap`. An
 * incarnation that broke ran no exit action: `reap` kills what it owns and seals the gate if that still points at it.
 * Listen to `incarnation.ended`; in its listener the keeper's snapshot already shows what follows. Listen to `hold.ended`:
 * the keeper does not know of calls that came while it was `holding`, so send `call.waiting` if any wait.
 */
import { assign, emit, raise, sendTo, setup, stopChild } from 'xstate';
import {
  type KeeperContext,
  type KeeperEvent,
  type KeeperInput,
  type KeeperReport,
  keeperDelays,
  type StartedBy,
} from './keeper-context.js';
import { unlimited } from './permit.js';
import { bug, type Ending, type Failed } from './restart/ending.js';
import {
  afterEnding,
  afterQuarantine,
  afterRestart,
  cooldownMs,
  decide,
  forgiven,
  type History,
  noHistory,
  pauseAfter,
  type Verdict,
} from './restart/restart-policy.js';
import { serverMachine } from './server.js';

/** The policy decides once, here: at the edge of the window a second decision a moment later could differ. */
function noteEnding(context: KeeperContext, ending: Ending): Partial<KeeperContext> {
  const { connectedAt, policy, startedBy } = context;
  const now = context.now();
  const connectedForMs = connectedAt === undefined ? undefined : now - connectedAt;
  const isTrial = startedBy === 'trial' && (connectedForMs ?? 0) < policy.healthyAfterMs;
  const history = withPast(context, ending, afterEnding(context.history, ending, connectedForMs, policy));
  return {
    lastEnding: ending,
    history,
    verdict: decide(ending, history, policy, now, isTrial),
    ...(ending.kind === 'error' ? { lastError: ending } : {}),
  };
}

/** `wasConnected` may read from disk, so it is asked only where its answer decides. */
function withPast({ wasConnected }: KeeperContext, ending: Ending, history: History): History {
  const isAsked = ending.kind === 'error' && ending.looksMisconfigured && !history.hasConnected;
  return isAsked && wasConnected?.() ? { ...history, hasConnected: true } : history;
}

const machine = setup({
  types: {} as {
    context: KeeperContext;
    events: KeeperEvent;
    input: KeeperInput;
    emitted: KeeperReport;
    tags: 'running' | 'up' | 'callable';
  },
  actors: { server: serverMachine, permit: unlimited },
  actions: {
    /** Leave nothing of the newest incarnation: no process, no open gate. It never throws. */
    reap: () => {},
    startFor: assign({ startedBy: (_, params: { by: StartedBy }) => params.by }),
    spawnIncarnation: assign(({ context, spawn, self }) => {
      const incarnation = context.incarnation + 1;
      const input = { ...context.server, incarnation, keeper: self };
      return {
        incarnation,
        incumbent: spawn('server', { id: `server.${incarnation}`, input }),
        connectedAt: undefined,
      };
    }),
    connect: sendTo(({ context }) => context.incumbent!, { type: 'connect' }),
    stop: sendTo(({ context }) => context.incumbent!, { type: 'stop' }),
    noteRestart: assign(({ context }) => {
      if (context.startedBy !== 'policy') return {};
      return {
        restarts: context.restarts + 1,
        history: afterRestart(context.history, context.policy, context.now()),
      };
    }),
    noteConnected: assign({ connectedAt: ({ context }) => context.now() }),
    noteEnding: assign(({ context }, params: { ending: Ending }) => noteEnding(context, params.ending)),
    reportEnding: emit(({ context }, params: { ending: Ending }) => ({
      type: 'incarnation.ended' as const,
      incarnation: context.incarnation,
      ending: params.ending,
      connected: context.connectedAt !== undefined,
    })),
    reportHoldEnded: emit({ type: 'hold.ended' }),
    passOn: raise({ type: 'ending.noted' }),
    remove: stopChild(({ context }) => context.incumbent!),
    planRetry: assign(({ context }) => {
      const { retryMs, holdMs } = pauseAfter(context.verdict, context.policy.backoff, context.random());
      const now = context.now();
      return { nextRetryAt: now + retryMs, callableAt: now + holdMs };
    }),
    dropRetry: assign({ nextRetryAt: undefined, callableAt: undefined }),
    noteQuarantine: assign(({ context }) => {
      const { verdict, policy, now } = context;
      const history = afterQuarantine(context.history);
      return {
        history,
        quarantineReason: verdict.verdict === 'quarantine' ? verdict.reason : undefined,
        callableAt: now() + cooldownMs(history.quarantines, policy.backoff),
      };
    }),
    dropQuarantine: assign({ quarantineReason: undefined, callableAt: undefined }),
    forget: assign({ history: ({ context }) => forgiven(context.history) }),
  },
  guards: {
    says: ({ context }, params: { verdict: Verdict['verdict'] }) =>
      context.verdict.verdict === params.verdict,
    saysRestartNow: ({ context: { verdict } }) =>
      verdict.verdict === 'restart' && verdict.attempt === 0 && verdict.atLeastMs === undefined,
  },
  delays: keeperDelays,
});

const startFor = {
  order: { target: '#keeper.running', actions: { type: 'startFor', params: { by: 'order' } } },
  call: { target: '#keeper.running', actions: { type: 'startFor', params: { by: 'call' } } },
  policy: { target: '#keeper.running', actions: { type: 'startFor', params: { by: 'policy' } } },
  trial: { target: '#keeper.running', actions: { type: 'startFor', params: { by: 'trial' } } },
} as const;

/** Forget the failures, and try again. */
const afresh = {
  target: '#keeper.running',
  actions: ['forget', { type: 'startFor', params: { by: 'order' } }],
} as const;

export const keeperMachine = machine.createMachine({
  id: 'keeper',
  initial: 'idle',
  context: ({ input }) => ({
    ...input,
    incarnation: 0,
    incumbent: undefined,
    startedBy: 'order',
    connectedAt: undefined,
    history: noHistory,
    restarts: 0,
    lastEnding: undefined,
    verdict: { verdict: 'rest' },
    lastError: undefined,
    nextRetryAt: undefined,
    callableAt: undefined,
    quarantineReason: undefined,
  }),
  on: { reset: { actions: 'forget' } },
  states: {
    idle: {
      on: {
        start: startFor.order,
        restart: startFor.order,
        'call.waiting': startFor.call,
        stop: 'stopped',
      },
    },
    running: {
      tags: 'running',
      entry: 'spawnIncarnation',
      initial: 'starting',
      states: {
        starting: {
          initial: 'queued',
          invoke: {
            id: 'permit',
            src: 'permit',
            input: ({ context: { server } }) => ({ name: server.name, host: server.host }),
            // A permit actor that breaks does not keep the server from starting, and after its grant it is not needed.
            onError: {},
          },
          states: {
            queued: { on: { 'permit.granted': 'connecting', 'xstate.error.actor.permit': 'connecting' } },
            connecting: {
              entry: ['noteRestart', 'connect'],
              on: { 'server.connected': '#keeper.running.up' },
            },
          },
        },
        up: {
          tags: 'up',
          entry: 'noteConnected',
          on: { 'call.waiting': 'recalled' },
        },
        recalled: {
          tags: 'up',
          on: {
            'ending.noted': {
              guard: { type: 'says', params: { verdict: 'rest' } },
              ...startFor.call,
            },
          },
        },
        stopping: {
          entry: 'stop',
          on: {
            stop: {},
            start: 'restarting',
            'ending.noted': '#keeper.stopped',
          },
        },
        restarting: {
          entry: 'stop',
          on: {
            restart: {},
            'ending.noted': startFor.order,
          },
        },
      },
      on: {
        stop: '.stopping',
        restart: '.restarting',
        'xstate.done.actor.server.*': {
          actions: [
            { type: 'noteEnding', params: ({ event }) => ({ ending: event.output }) },
            { type: 'reportEnding', params: ({ event }) => ({ ending: event.output }) },
            'remove',
            'passOn',
          ],
        },
        'xstate.error.actor.server.*': {
          actions: [
            'reap',
            {
              type: 'noteEnding',
              params: ({ context, event }) => ({ ending: broken(context, event.error) }),
            },
            {
              type: 'reportEnding',
              params: ({ context, event }) => ({ ending: broken(context, event.error) }),
            },
            'remove',
            'passOn',
          ],
        },
        'ending.noted': [
          { guard: { type: 'says', params: { verdict: 'quarantine' } }, target: 'quarantined' },
          { guard: { type: 'says', params: { verdict: 'authorise' } }, target: 'needs_auth' },
          { guard: 'saysRestartNow', reenter: true, ...startFor.policy },
          { guard: { type: 'says', params: { verdict: 'restart' } }, target: 'waiting' },
          { guard: { type: 'says', params: { verdict: 'recheck' } }, target: 'waiting' },
          { target: 'idle' },
        ],
      },
    },
    waiting: {
      entry: 'planRetry',
      exit: 'dropRetry',
      initial: 'holding',
      states: {
        holding: { after: { hold: 'callable' } },
        // the restart was decided: the call only brings it forward, so it counts as one
        callable: { tags: 'callable', entry: 'reportHoldEnded', on: { 'call.waiting': startFor.policy } },
      },
      after: { backoff: startFor.policy },
      on: { start: startFor.order, restart: startFor.order, reset: afresh, stop: 'stopped' },
    },
    quarantined: {
      entry: 'noteQuarantine',
      exit: 'dropQuarantine',
      initial: 'holding',
      states: {
        holding: { after: { hold: 'callable' } },
        callable: { tags: 'callable', entry: 'reportHoldEnded', on: { 'call.waiting': startFor.trial } },
      },
      on: { start: startFor.order, restart: startFor.order, reset: afresh, stop: 'stopped' },
    },
    needs_auth: {
      on: { start: startFor.order, restart: startFor.order, reset: afresh, stop: 'stopped' },
    },
    stopped: {
      on: { start: startFor.order, restart: startFor.order },
    },
  },
});

function broken({ server }: KeeperContext, thrown: unknown): Failed {
  return bug(`${server.name}: its incarnation broke`, thrown);
}

export type KeeperMachine = typeof keeperMachine;
