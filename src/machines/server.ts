/**
 * The server machine: one incarnation of a configured server, from `created` to one of its two ends.
 *
 * An incarnation is never revived. `error` and `disconnected` are final, and their output says how it came to its
 * end; whether a fresh one follows is for the keeper to decide. So both are true: the states are terminal, and
 * crashed servers come back.
 *
 * ## States
 *
 * | state | what is true in it |
 * |---|---|
 * | `created` | it exists and has no process; it waits for `connect` (for its turn to start) |
 * | `connecting.opening` | the link starts the process and shakes hands; `startTimeout` runs |
 * | `connecting.aborting` | it will not be connected any more; the process has to go first |
 * | `connected.discovering` | calls pass; the lists of tools, prompts and resources are being read |
 * | `connected.serving` | calls pass; `idleTimeout` runs |
 * | `connected.closing` | no new call passes; the process has to go |
 * | `disconnected` | final: gone, as it was wanted |
 * | `error` | final: gone, because of a failure |
 *
 * `aborting` and `closing` are the same way out, walked from two places: `asking` (the link runs its stop sequence) and,
 * if that has not ended after `closeTimeout`, `killing`. There is no timer in `killing`. What KILL does not remove is
 * in the hands of the kernel. To call it gone would start a second process beside the first.
 *
 * ## Laws
 *
 * - *Final means gone.* Both final states are entered only by a report that nothing is left, from `created`, where
 *   nothing was ever there, or after `reap`.
 * - *Stop always wins.* It is an edge of every state that is not already on its way out, and a way out has no edge
 *   back.
 * - *The first cause stands.* Once it is leaving, no later report or order changes why. `context.ending` is the end it
 *   is heading for: an ordered stop, unless something else came first.
 * - *The gate follows the states.* `openGate` runs on entering `connected`, `sealGate` on entering `closing` and on
 *   leaving `connected`, and nothing else writes it. Both must be idempotent.
 *
 * ## Events
 *
 * | event | taken in | otherwise ignored, because |
 * |---|---|---|
 * | `connect` | created | it was obeyed already |
 * | `stop` | created, opening, discovering, serving | it is leaving already |
 * | `rest` | serving, and no call is in flight | it is needed, or not there yet, or leaving already |
 * | `link.opened` | opening | too late: it is leaving |
 * | `link.discovered` | discovering | the wait for it was given up |
 * | `link.list_changed` | discovering, serving | before the handshake all is read anyway; later no list is read |
 * | `link.failed` | opening, discovering, serving | the first cause stands |
 * | `link.hung` | discovering, serving | before the handshake `startTimeout` applies, later `closeTimeout` |
 * | `link.exited`, `link.closed`, `link.close_failed` | all but created | nothing was opened |
 *
 * A link that says it is closed without having been asked is believed: a state that claims a process which does not
 * exist would be worse.
 *
 * ## Tags
 *
 * `reading`: its lists are being read. `leaving`: it is on its way out.
 *
 * ## From outside
 *
 * Provide the actor `link` and the actions `openGate`, `sealGate`, `reap`. None of them may throw.
 */
import { assign, fromCallback, sendTo, setup } from 'xstate';
import type { LinkInput, LinkOrder, LinkReport } from './link-protocol.js';
import { seconds } from './restart/durations.js';
import { bug, disconnected, type Ending, failed } from './restart/ending.js';
import { type ServerContext, type ServerEvent, type ServerInput, serverDelays } from './server-context.js';

const machine = setup({
  types: {} as {
    context: ServerContext;
    events: ServerEvent;
    input: ServerInput;
    output: Ending;
    tags: 'reading' | 'leaving';
  },
  actors: {
    link: fromCallback<LinkOrder, LinkInput>(() => {
      throw new Error('no link was provided to the server machine');
    }),
  },
  actions: {
    openGate: () => {},
    sealGate: () => {},
    /** A link that broke cannot be asked to close: the process table removes what this incarnation owns. */
    reap: () => {},
    endAs: assign({ ending: (_, params: { ending: Ending }) => params.ending }),
    order: sendTo('link', (_, params: LinkOrder) => params),
  },
  guards: {
    endsWell: ({ context }) => context.ending.kind === 'disconnected',
    isClean: (_, params: { code: number | null }) => params.code === 0,
    isUnused: ({ context }) => context.idleForMs() > 0,
    isIdle: ({ context }) => context.idleTimeoutMs > 0 && context.idleForMs() >= context.idleTimeoutMs,
  },
  delays: serverDelays,
});

/** An incarnation may live without a keeper (a transient one, a test); then it reports to no actor. */
const reportConnected = machine.enqueueActions(({ context: { keeper, incarnation }, enqueue }) => {
  if (keeper) enqueue.sendTo(keeper, { type: 'server.connected', incarnation });
});

/** The states on the way out. No later event keeps the process or changes the cause. */
const leaving = machine.createStateConfig({
  tags: 'leaving',
  initial: 'asking',
  states: {
    asking: {
      entry: { type: 'order', params: { type: 'close' } },
      after: { closeTimeout: 'killing' },
    },
    killing: { entry: { type: 'order', params: { type: 'kill' } } },
  },
  on: {
    'link.closed': [
      {
        guard: 'endsWell',
        target: '#server.disconnected',
        actions: {
          type: 'endAs',
          params: ({ context: { ending }, event: { killed } }) => ({
            ending: ending.kind === 'disconnected' ? { ...ending, killed } : ending,
          }),
        },
      },
      { target: '#server.error' },
    ],
    'link.exited': [{ guard: 'endsWell', target: '#server.disconnected' }, { target: '#server.error' }],
    'link.close_failed': {
      target: '#server.error',
      actions: {
        type: 'endAs',
        params: ({ context: { ending }, event: { message } }) => ({
          ending: ending.kind === 'error' ? ending : failed({ cause: 'close', message }),
        }),
      },
    },
    stop: {},
    'link.failed': {},
    'link.hung': {},
  },
});

export const serverMachine = machine.createMachine({
  id: 'server',
  initial: 'created',
  context: ({ input }) => ({ ...input, ending: disconnected('stopped') }),
  output: ({ context }) => context.ending,
  invoke: {
    id: 'link',
    src: 'link',
    input: ({ context: { name, incarnation, host } }) => ({ name, incarnation, host }),
    onError: {
      target: '.error',
      actions: [
        'reap',
        {
          type: 'endAs',
          params: ({ context, event }) => ({ ending: bug(`${context.name}: its link failed`, event.error) }),
        },
      ],
    },
  },
  states: {
    created: {
      on: { connect: 'connecting', stop: 'disconnected' },
    },
    connecting: {
      initial: 'opening',
      states: {
        opening: {
          entry: { type: 'order', params: { type: 'open' } },
          after: {
            startTimeout: {
              target: 'aborting',
              actions: {
                type: 'endAs',
                params: ({ context }) => ({ ending: noHandshake(context) }),
              },
            },
          },
          on: {
            'link.opened': '#server.connected',
            stop: 'aborting',
          },
        },
        aborting: leaving,
      },
      on: {
        'link.failed': {
          target: '.aborting',
          actions: { type: 'endAs', params: ({ event }) => ({ ending: failed(event.failure) }) },
        },
        'link.exited': {
          target: 'error',
          actions: { type: 'endAs', params: ({ event }) => ({ ending: exited(event) }) },
        },
        'link.closed': {
          target: 'error',
          actions: { type: 'endAs', params: ({ context }) => ({ ending: closedUnasked(context) }) },
        },
        'link.close_failed': {
          target: 'error',
          actions: { type: 'endAs', params: ({ context }) => ({ ending: closedUnasked(context) }) },
        },
      },
    },
    connected: {
      initial: 'discovering',
      entry: ['openGate', reportConnected],
      exit: 'sealGate',
      states: {
        discovering: {
          tags: 'reading',
          entry: { type: 'order', params: { type: 'discover' } },
          after: { discoverTimeout: 'serving' },
          on: { 'link.discovered': 'serving', 'link.list_changed': { target: 'discovering', reenter: true } },
        },
        serving: {
          after: {
            idleTimeout: [
              {
                guard: 'isIdle',
                target: 'closing',
                actions: { type: 'endAs', params: { ending: disconnected('idle') } },
              },
              { target: 'serving', reenter: true },
            ],
          },
          on: {
            'link.list_changed': 'discovering',
            rest: {
              guard: 'isUnused',
              target: 'closing',
              actions: {
                type: 'endAs',
                params: ({ event: { message } }) => ({ ending: { ...disconnected('rested'), message } }),
              },
            },
          },
        },
        closing: { ...leaving, entry: 'sealGate' },
      },
      on: {
        stop: '.closing',
        'link.failed': {
          target: '.closing',
          actions: { type: 'endAs', params: ({ event }) => ({ ending: failed(event.failure) }) },
        },
        'link.hung': {
          target: '.closing.killing',
          actions: {
            type: 'endAs',
            params: ({ event }) => ({ ending: failed({ cause: 'hung', message: event.message }) }),
          },
        },
        'link.exited': [
          {
            guard: { type: 'isClean', params: ({ event }) => event },
            target: 'disconnected',
            actions: { type: 'endAs', params: { ending: disconnected('ended') } },
          },
          {
            target: 'error',
            actions: { type: 'endAs', params: ({ event }) => ({ ending: exited(event) }) },
          },
        ],
        'link.closed': {
          target: 'error',
          actions: { type: 'endAs', params: ({ context }) => ({ ending: closedUnasked(context) }) },
        },
        'link.close_failed': {
          target: 'error',
          actions: { type: 'endAs', params: ({ context }) => ({ ending: closedUnasked(context) }) },
        },
      },
    },
    error: { type: 'final' },
    disconnected: { type: 'final' },
  },
});

function noHandshake({ name, startTimeoutMs }: ServerContext): Ending {
  return failed({
    cause: 'timeout',
    message: `${name}: no answer to initialize in ${seconds(startTimeoutMs)}`,
  });
}

function exited({ type: _, ...how }: Extract<LinkReport, { type: 'link.exited' }>): Ending {
  return failed({ cause: 'exit', ...how });
}

function closedUnasked({ name }: ServerContext): Ending {
  return failed({ cause: 'lost', message: `${name}: its link closed without having been asked` });
}

export type ServerMachine = typeof serverMachine;
