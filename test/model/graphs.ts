/** The production machines' graphs, as far as their states differ in what they do next. */
import { getNextTransitions, type SnapshotFrom } from 'xstate';
import {
  type Ending,
  type KeeperEvent,
  type KeeperMachine,
  keeperMachine,
  type ServerEvent,
  type ServerMachine,
  serverMachine,
} from '../../src/machines/index.js';
import { everyEdge, SimulatedWorld, stateName } from '../../src/testing/index.js';
import { keeperEvents, serverEvents } from './events.js';
import { defaults, keeperInput, settings, times } from './setting.js';

export type ServerSnapshot = SnapshotFrom<ServerMachine>;
export type KeeperSnapshot = SnapshotFrom<KeeperMachine>;

export function endingName(ending: Ending): string {
  return ending.kind === 'error' ? ending.cause : ending.reason;
}

/** Timers that run and actors that could break, each as the event it would be; no event type of ours lists those. */
function fires<TEvent>(state: ServerSnapshot | KeeperSnapshot): Record<string, TEvent> {
  const types = new Set(getNextTransitions(state).map(({ eventType }) => eventType));
  const events = [...types].flatMap((type) => {
    const [, delay, actor] = /^xstate\.(?:after\.([^.]+)\..*|error\.actor\.(link|permit))$/.exec(type) ?? [];
    const name = delay ? `after ${delay}` : actor && `${actor} broke`;
    return name ? [[name, { type, error: new Error('a bug of ours') } as TEvent] as const] : [];
  });
  return Object.fromEntries(events);
}

/** On its way out a machine has one question left: is this the end that was wanted? */
export function serverTitle({ value, context: { ending } }: ServerSnapshot): string {
  const name = stateName(value);
  return /aborting|closing/.test(name) ? `${name} (${ending.kind === 'error' ? 'failing' : 'wanted'})` : name;
}

export function serverEventsIn(state: ServerSnapshot): Readonly<Record<string, ServerEvent>> {
  return state.status === 'active' ? { ...serverEvents, ...fires<ServerEvent>(state) } : {};
}

export function serverGraph({ idle }: { idle: boolean }) {
  const world = new SimulatedWorld();
  world.idleForMs = idle ? times.idleTimeoutMs : 0;
  return everyEdge(serverMachine, {
    input: { ...settings(world), incarnation: 1 },
    events: (state) => Object.values(serverEventsIn(state)),
    project: (state) => `${serverTitle(state)} ${endingName(state.context.ending)}`,
  });
}

/** Two restarts: one that is immediate and one that waits. */
export const graphPolicy = { ...defaults, maxRestarts: 2, restartWindowMs: 10 ** 9, healthyAfterMs: 10 ** 9 };

export function keeperTitle({ value }: KeeperSnapshot): string {
  return stateName(value);
}

export function keeperEventsIn(state: KeeperSnapshot): Readonly<Record<string, KeeperEvent>> {
  const { incarnation } = state.context;
  // What only an incarnation can say is not said when there is none.
  const all = Object.entries({ ...keeperEvents(incarnation), ...fires<KeeperEvent>(state) });
  return Object.fromEntries(all.filter(([name]) => state.matches('running') || !/^server/.test(name)));
}

/** What makes a difference later: whose wish it was until it is let go, whether it was connected until it ends. */
export function keeperProjection({
  value,
  context: { history, startedBy, connectedAt, policy, verdict },
}: KeeperSnapshot) {
  const place = stateName(value);
  return [
    place,
    ...(/queued/.test(place) && startedBy === 'policy' ? ['a restart'] : []),
    ...(/^running/.test(place) && startedBy === 'trial' ? ['a trial'] : []),
    ...(/^running/.test(place) && connectedAt !== undefined ? ['was connected'] : []),
    ...(/^waiting/.test(place) && verdict.verdict === 'recheck' ? ['a recheck'] : []),
    ...(history.hasConnected ? ['connected before'] : []),
    `failed starts ${Math.min(history.failedStarts, policy.maxRestarts + 1)}`,
    `restarts ${Math.min(history.restarts.length, policy.maxRestarts)}`,
    `streak ${Math.min(history.streak, 1)}`,
  ].join(', ');
}

/**
 * Every edge, its events under their names. `isPossible` leaves out what cannot happen in the world that walks it.
 */
export function keeperGraph(isPossible: (state: KeeperSnapshot, event: string) => boolean = () => true) {
  const names = new Map<KeeperEvent, string>();
  const nameOf = (event: KeeperEvent) => names.get(event) ?? event.type;
  const edges = everyEdge(keeperMachine, {
    input: keeperInput(new SimulatedWorld(), graphPolicy),
    events: (state) =>
      Object.entries(keeperEventsIn(state)).flatMap(([name, event]) => {
        names.set(event, name);
        return isPossible(state, name) ? [event] : [];
      }),
    project: keeperProjection,
  });
  return edges.map(({ path, event, from, to }) => ({ way: path.map(nameOf), step: nameOf(event), from, to }));
}
