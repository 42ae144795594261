import { describe, expect, test } from 'vitest';
import {
  keeperMachine,
  type ProcessPhase,
  serverMachine,
  transientMachine,
} from '../../src/machines/index.js';
import { stateName } from '../../src/testing/index.js';
import { keeperEvents, serverEvents } from './events.js';
import {
  endingName,
  type KeeperSnapshot,
  keeperEventsIn,
  keeperGraph,
  keeperTitle,
  serverEventsIn,
  serverGraph,
  serverTitle,
} from './graphs.js';
import { type Ignored, transitionTable } from './table.js';
import { oldest, type TransientSnapshot, transientEventsIn, transientGraph } from './transient-harness.js';

const serverIgnores: readonly Ignored[] = [
  { event: /^connect$/, in: /^connect/, because: 'it was obeyed already' },
  { event: /^stop$/, in: /aborting|closing/, because: 'it is leaving already' },
  { event: /^rest$/, in: /^(created|connecting|connected\.discovering)/, because: 'it is not in use yet' },
  { event: /^rest$/, in: /closing/, because: 'it is leaving already' },
  { event: /^link\./, in: /^created/, because: 'nothing was opened' },
  { event: /^link\.opened/, in: /^connecting\.aborting/, because: 'too late, it is leaving' },
  { event: /^link\.opened/, in: /^connected/, because: 'it was opened already' },
  {
    event: /^link\.(discovered|list_changed)/,
    in: /^connecting/,
    because: 'before the handshake all is still to be read',
  },
  { event: /^link\.discovered/, in: /serving/, because: 'the wait for it was given up' },
  {
    event: /^link\.(discovered|list_changed)/,
    in: /closing/,
    because: 'no list is read any more',
  },
  { event: /^link\.hung/, in: /opening/, because: 'start_timeout speaks before the handshake' },
  { event: /^link\.(failed|hung)/, in: /aborting|closing/, because: 'the first cause stands' },
];

const inUse: Ignored = { event: /^rest$/, in: /serving/, because: 'a call is in flight' };

const keeperIgnores: readonly Ignored[] = [
  {
    event: /^start$/,
    in: /^running\.(starting|up|recalled|restarting)/,
    because: 'it is running, or will be',
  },
  { event: /^restart$/, in: /restarting/, because: 'it is obeyed already' },
  { event: /^stop$/, in: /stopping|stopped/, because: 'it is obeyed already' },
  { event: /^reset$/, in: /./, because: 'there is nothing to forget' },
  { event: /^call\.waiting/, in: /starting|restarting/, because: 'the next handshake serves it' },
  { event: /^call\.waiting/, in: /recalled/, because: 'it is known that calls wait' },
  { event: /^call\.waiting/, in: /\.holding/, because: 'the last try is too recent' },
  {
    event: /^call\.waiting/,
    in: /stopping|stopped/,
    because: 'calls do not start what was stopped by order',
  },
  { event: /^call\.waiting/, in: /needs_auth/, because: 'it was given up until a person acts' },
  { event: /^permit\.granted/, in: /^(?!running\.starting\.queued)/, because: 'nothing is queued' },
  { event: /^permit broke/, in: /connecting/, because: 'it was granted already' },
  { event: /^server\.connected/, in: /queued/, because: 'it was not told to connect' },
  { event: /^server\.connected/, in: /up|recalled/, because: 'it is connected already' },
  { event: /^server\.connected/, in: /running\.(stopping|restarting)/, because: 'too late, it is leaving' },
];

const transientIgnores: readonly Ignored[] = [
  { event: /^(start|reset)$/, in: /^open\.stocked/, because: 'no spare is missing, no failure is counted' },
  { event: /^restart$/, in: /spares 0, no process/, because: 'no process runs, and no spare is wanted' },
  { event: /^(stop|reset)$/, in: /^stopped/, because: 'it is obeyed already' },
  { event: /^(drain|discover|call\.waiting)/, in: /^stopped/, because: 'it was stopped by order' },
  { event: /^drain$/, in: /^draining/, because: 'it is obeyed already' },
  {
    event: /^(start|restart|reset|discover|call\.waiting)/,
    in: /^draining/,
    because: 'its config is gone: nothing of it starts',
  },
  { event: /^call\.waiting$/, in: /full/, because: 'max_in_flight processes are taken' },
  { event: /^(free|leaving) call\./, in: /./, because: 'it has no call' },
  { event: /^serving ready/, in: /./, because: 'it has a call' },
  { event: /^leaving ready/, in: /./, because: 'it is leaving already' },
  { event: /^free ready$/, in: /spares 1/, because: 'it is needed as a spare' },
  { event: /^free ready, lists wanted$/, in: /./, because: 'it is needed for the lists' },
];

/** The first snapshot the walk meets stands for its state: what it came from is in the other layers. */
function firstOf<TSnapshot>(
  edges: readonly { from: TSnapshot }[],
  title: (state: TSnapshot) => string,
): Map<string, TSnapshot> {
  const states = new Map<string, TSnapshot>();
  for (const { from } of edges) if (!states.has(title(from))) states.set(title(from), from);
  return states;
}

describe('layer 0: the whole transition table equals the reviewed one, and every ignored event has a reason', () => {
  test('the server machine has the reviewed table', async () => {
    const table = (idle: boolean) =>
      transitionTable(serverMachine, {
        states: firstOf(serverGraph({ idle }), serverTitle),
        events: serverEventsIn,
        name: ({ value }) => stateName(value),
        changes: (before, after) => {
          const [was, is] = [before.context.ending, after.context.ending];
          return was === is
            ? []
            : [`ends as ${endingName(is)}${is.kind === 'disconnected' && is.killed ? ' killed' : ''}`];
        },
        ignored: idle ? serverIgnores : [...serverIgnores, inUse],
      });
    const busy = table(false);
    await expect(busy).toMatchFileSnapshot('server-table.txt');
    const idle = table(true).split('\n');
    const rows = idle.filter((row) => /after idleTimeout|^ {2}rest .*ends as/.test(row));
    expect(rows).toEqual([
      expect.stringMatching(/ connected\.closing\.asking · ends as rested · sealGate · tell link close/),
      expect.stringMatching(/ connected\.closing\.asking · ends as idle · sealGate · tell link close/),
    ]);
  });

  test('the keeper has the reviewed table', async () => {
    const table = transitionTable(keeperMachine, {
      states: firstOf(keeperGraph(), keeperTitle),
      events: keeperEventsIn,
      name: ({ value }) => stateName(value),
      changes: ({ context: was }, { context: is }) => [
        ...(is.incarnation === was.incarnation ? [] : [`spawn server.${is.incarnation} for ${is.startedBy}`]),
        ...(is.history === was.history ? [] : [historyOf(is)]),
        ...(is.nextRetryAt === was.nextRetryAt ? [] : [`next try ${is.nextRetryAt ?? 'none'}`]),
        ...(is.callableAt === was.callableAt ? [] : [`by a call from ${is.callableAt ?? 'none'}`]),
        ...(is.quarantineReason === was.quarantineReason
          ? []
          : [`given up: ${is.quarantineReason ?? 'no more'}`]),
      ],
      ignored: keeperIgnores,
    });
    await expect(table).toMatchFileSnapshot('keeper-table.txt');
  });

  test('the transient server has the reviewed table', async () => {
    const maxInFlight = 3;
    const title = ({ value, context: { processes, spares }, ...state }: TransientSnapshot) => {
      const free = [...processes.values()].filter((phase) => phase === 'free').length;
      const isFull = state.tags.has('open') && processes.size - free >= maxInFlight;
      const isEmpty = state.tags.has('open') && processes.size === 0;
      return `${stateName(value)}, spares ${spares}${isFull ? ', full' : ''}${isEmpty ? ', no process' : ''}`;
    };
    const edges = [1, 0].flatMap((spares) => transientGraph(() => true, { spares, maxInFlight }));
    // a section shows what an event does to each phase, so its state has a process in each, or none at all
    const hasEachPhase = ({ from }: { from: TransientSnapshot }) =>
      from.context.processes.size === 0 || phasesIn(from).every((phase) => oldest(from, phase) !== undefined);
    const table = transitionTable(transientMachine, {
      states: firstOf(edges.filter(hasEachPhase), title),
      events: transientEventsIn,
      name: ({ value }) => stateName(value),
      changes: ({ context: was }, { context: is }) => [
        ...[...new Set([...was.processes.keys(), ...is.processes.keys()])]
          .filter((process) => was.processes.get(process) !== is.processes.get(process))
          .map((process) => `${process} ${is.processes.get(process) ?? 'removed'}`),
        ...(is.failures === was.failures ? [] : [`failures ${is.failures}`]),
        ...(is.nextRetryAt === was.nextRetryAt ? [] : [`next try ${is.nextRetryAt ?? 'none'}`]),
        ...(is.lastError === was.lastError ? [] : [`last error ${is.lastError?.cause}`]),
        ...(is.lastStops.length === was.lastStops.length ? [] : [`stops noted: ${is.lastStops.length}`]),
      ],
      ignored: transientIgnores,
    });
    await expect(table).toMatchFileSnapshot('transient-table.txt');
  });

  test('the tables hold every event a machine knows', () => {
    const server = Object.values(serverEvents).map(({ type }) => type);
    expect(new Set(server)).toEqual(new Set(known(serverMachine)));
    const keeper = Object.values(keeperEvents(1)).map(({ type }) => type.replace(/server\.1$/, 'server.*'));
    expect(new Set(keeper)).toEqual(new Set(known(keeperMachine)));
    const transient = transientGraph().flatMap(({ from }) =>
      Object.values(transientEventsIn(from)).map(({ type }) => type),
    );
    expect(new Set(transient.filter((type) => !type.startsWith('xstate.')))).toEqual(
      new Set(known(transientMachine)),
    );
  });
});

function phasesIn(state: TransientSnapshot): ProcessPhase[] {
  if (state.hasTag('open')) return ['free', 'serving', 'leaving'];
  return state.matches('draining') ? ['serving', 'leaving'] : ['leaving'];
}

function known(machine: typeof serverMachine | typeof keeperMachine | typeof transientMachine): string[] {
  const internal = /^xstate\.after\.|^xstate\.error\.actor\.(link|permit)$|^ending\.noted$/;
  return machine.events.filter((type) => !internal.test(type));
}

function historyOf({ history }: KeeperSnapshot['context']): string {
  const counts = `history ${history.restarts.length}/${history.failedStarts}/${history.streak}`;
  const quarantines = history.quarantines > 0 ? ` quarantine ${history.quarantines}` : '';
  return `${counts}${quarantines}${history.hasConnected ? ' connected before' : ''}`;
}
