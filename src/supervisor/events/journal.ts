import type { AnyActorRef, AnyEventObject, InspectionEvent, StateValue } from 'xstate';
import type { JournalEntry } from '../../fleet/fleet.js';
import { type DelayName, delayOf, eventLabel } from '../../machines/event-name.js';
import type { Ending } from '../../machines/restart/ending.js';
import {
  type KeeperStateName,
  keeperState,
  type ServerStateName,
  serverState,
  stateName,
  topName,
} from '../../machines/state-name.js';
import { type JournalState, keeperKind, serverKind } from './journal-kind.js';

/** Enough entries for an hour of failures; without a limit the journal would leak memory. */
const KEPT = 200;

export interface Change extends JournalEntry {
  key: string;
  /** Of this incarnation, after the change. */
  state: ServerStateName;
  /** Of its keeper, after the change; undefined for an incarnation without one. */
  detail: KeeperStateName | undefined;
}

/** `peer`: of the connection to another node, whose states are not those of the server. */
export type Chart = 'server' | 'keeper' | 'transient' | 'peer';

/** The actors under the root, by their ids: the key of the server that each belongs to, and its chart. */
export type ActorOwners = Map<string, { key: string; chart: Chart }>;

interface Owner {
  key: string;
  chart: JournalEntry['chart'];
  /** An incarnation without a keeper: a transient one. */
  isAlone: boolean;
}

/** Records every change of state of every server, and why. It only inspects actors: no machine depends on it. */
export class Journal {
  readonly #entries = new Map<string, JournalEntry[]>();
  readonly #since = new Map<string, string>();
  readonly #ownerByActor = new WeakMap<AnyActorRef, Owner>();
  readonly #last = new WeakMap<AnyActorRef, JournalState & { event: AnyEventObject }>();
  /** The last state of the newest incarnation of each keeper. */
  readonly #newest = new WeakMap<AnyActorRef, JournalState>();
  readonly #owners: ActorOwners;
  readonly #now: () => number;
  readonly #redact: (text: string) => string;
  readonly #changed: (change: Change) => void;

  constructor(
    owners: ActorOwners,
    now: () => number,
    redact: (text: string) => string,
    changed: (change: Change) => void,
  ) {
    this.#owners = owners;
    this.#now = now;
    this.#redact = redact;
    this.#changed = changed;
  }

  /**
   * The listener for the root actor's `inspect`. An actor's snapshot is shown only when all that its step set off is
   * over, so the end of an incarnation would be written after its keeper's reaction. So microsteps count for these two.
   */
  readonly inspect = (inspection: InspectionEvent): void => {
    if (inspection.type !== '@xstate.snapshot' && inspection.type !== '@xstate.microstep') return;
    const { snapshot } = inspection;
    const actor = inspection.actorRef as AnyActorRef;
    const owner = this.#ownerOf(actor);
    if (owner === undefined || !('value' in snapshot)) return;
    if (owner.isAlone && inspection.type === '@xstate.microstep') return;
    const state = stateOf(snapshot as unknown as MachineSnapshot);
    const last = this.#last.get(actor);
    // `ending.noted` is raised by the keeper: the cause is the ending before it.
    const event = inspection.event.type === 'ending.noted' && last ? last.event : inspection.event;
    this.#last.set(actor, { ...state, event });
    if (owner.chart === 'server' && !owner.isAlone) this.#newest.set(actor._parent!, state);
    // The first state of a keeper is always `idle`.
    if (state.name === last?.name || (last === undefined && owner.chart === 'keeper')) return;
    const { key, chart } = owner;
    const kind = chart === 'keeper' ? keeperKind(last, state) : serverKind(last, state);
    const at = new Date(this.#now()).toISOString();
    const cause = this.#redact(describeCause(event));
    const entry = {
      at,
      incarnation: state.incarnation,
      chart,
      from: last?.name ?? '',
      to: state.name,
      event: eventLabel(event.type),
      cause,
      ...(kind !== undefined && { kind }),
    };
    this.#write(key, entry);
    this.#changed({ key, ...entry, ...this.#statesAfter(actor, owner, state) });
  };

  /** The states of an incarnation and of its keeper. A snapshot of the other actor may be that before its present step. */
  #statesAfter(actor: AnyActorRef, { chart, isAlone }: Owner, after: JournalState) {
    if (chart === 'server') {
      const keeper = isAlone ? undefined : this.#last.get(actor._parent!);
      return { state: serverState(after.name), detail: keeper && keeperState(keeper.name) };
    }
    const newest = this.#newest.get(actor);
    // the keeper enters `running` before the first step of the incarnation that it spawns
    const isNew = newest?.incarnation !== after.incarnation;
    return { state: isNew ? 'created' : serverState(newest.name), detail: keeperState(after.name) } as const;
  }

  /** Writes what toolherd did for an incarnation between two transitions. */
  note(key: string, incarnation: number, text: string): void {
    const last = this.#entries.get(key)?.findLast((entry) => entry.chart === 'server');
    const state = last?.to ?? '';
    const at = new Date(this.#now()).toISOString();
    const place = { at, incarnation, chart: 'server' as const, from: state, to: state };
    this.#write(key, { ...place, event: 'note', cause: this.#redact(text), kind: 'noted' });
  }

  of(key: string): readonly JournalEntry[] {
    return this.#entries.get(key) ?? [];
  }

  /** The journal of a new server begins with what is known of earlier ones. */
  recall(key: string, earlier: readonly JournalEntry[]): void {
    if (earlier.length > 0 && !this.#entries.has(key)) this.#entries.set(key, [...earlier]);
  }

  /** When the server came into its present state; steps inside a state do not count. */
  since(key: string): string | undefined {
    return this.#since.get(key);
  }

  forget(key: string): void {
    this.#entries.delete(key);
    this.#since.delete(key);
  }

  /** Looked up once for each actor: its last step is inspected after it was released. */
  #ownerOf(actor: AnyActorRef): Owner | undefined {
    const known = this.#ownerByActor.get(actor);
    if (known !== undefined) return known;
    const owner = this.#findOwner(actor);
    if (owner !== undefined) this.#ownerByActor.set(actor, owner);
    return owner;
  }

  /**
   * Of an actor under the root, or of the incarnation of a keeper. A transient machine has none: it changes its state
   * with every call, and its processes have their own entries. A connection to another node has none either.
   */
  #findOwner(actor: AnyActorRef): Owner | undefined {
    const own = this.#owners.get(actor.id);
    if (own?.chart === 'transient' || own?.chart === 'peer') return undefined;
    if (own !== undefined) return { key: own.key, chart: own.chart, isAlone: own.chart === 'server' };
    const parent = this.#owners.get(actor._parent?.id ?? '');
    return parent?.chart === 'keeper' ? { key: parent.key, chart: 'server', isAlone: false } : undefined;
  }

  #write(key: string, entry: JournalEntry): void {
    const entries = this.#entries.get(key) ?? [];
    entries.push(entry);
    if (entries.length > KEPT) entries.shift();
    this.#entries.set(key, entries);
    if (topName(entry.from) !== topName(entry.to)) this.#since.set(key, entry.at);
  }
}

interface MachineSnapshot {
  value: StateValue;
  tags: ReadonlySet<string>;
  context: { incarnation?: number; ending?: Ending };
}

function stateOf({ value, tags, context }: MachineSnapshot): JournalState {
  return { name: stateName(value), tags, incarnation: context.incarnation ?? 0, ending: context.ending };
}

/** What an event means to a person who asks why. */
const WORDS: Readonly<Record<string, string>> = {
  start: 'start was ordered',
  stop: 'stop was ordered',
  restart: 'restart was ordered',
  reset: 'reset was ordered',
  connect: 'it is its turn to start',
  'call.waiting': 'a call came, or a list was wanted',
  'permit.granted': 'it is its turn to start',
  'server.connected': 'the handshake is done',
  'link.opened': 'the handshake is done',
  'link.discovered': 'its lists were read',
  'link.list_changed': 'it says that its lists changed',
  'link.closed': 'closed, nothing of it is left',
  'xstate.init': 'a new incarnation',
};

/** What it means that the time of a delay is over. */
const DELAYS: Readonly<Record<DelayName, string>> = {
  startTimeout: 'no answer to initialize in time',
  discoverTimeout: 'its lists took too long to read',
  closeTimeout: 'it did not exit when asked',
  idleTimeout: 'no call came for idle_timeout',
  backoff: 'the time of the next try came',
  hold: 'from now on a call makes the next try',
  refill: 'the spares that calls have taken are replaced',
};

export function describeCause(event: AnyEventObject): string {
  const { type } = event;
  if (type === 'link.failed') return String(event.failure?.message);
  if (typeof event.message === 'string') return event.message;
  const delay = delayOf(type);
  if (delay !== undefined) return DELAYS[delay];
  if (type.startsWith('xstate.done.actor')) return endingWords(event.output);
  if (type.startsWith('xstate.error.actor')) return 'a fault in toolherd itself';
  return WORDS[type] ?? type;
}

function endingWords(output: unknown): string {
  const ending = output as { kind?: string; message?: string; reason?: string } | undefined;
  if (typeof ending?.message === 'string') return ending.message;
  return ending?.reason === 'idle' ? 'no call came for idle_timeout' : `it was ${ending?.reason ?? 'ended'}`;
}
