import type { AnyActorRef, AnyEventObject, InspectionEvent, StateValue } from 'xstate';
import type { JournalEntry } from '../../fleet/fleet.js';
import { stateName, topName } from '../../machines/state-name.js';
import { describeCause } from './causes.js';

/** Enough for the story of a bad hour; a journal that grows for ever is a leak. */
const KEPT = 200;

export interface Change extends JournalEntry {
  key: string;
}

/** Writes down every change of state of every server, and why. It only listens: no machine knows of it. */
export class Journal {
  readonly #entries = new Map<string, JournalEntry[]>();
  readonly #since = new Map<string, string>();
  readonly #last = new WeakMap<AnyActorRef, { state: string; event: AnyEventObject }>();
  readonly #now: () => number;
  readonly #redact: (text: string) => string;
  readonly #changed: (change: Change) => void;

  constructor(now: () => number, redact: (text: string) => string, changed: (change: Change) => void) {
    this.#now = now;
    this.#redact = redact;
    this.#changed = changed;
  }

  /**
   * The listener for the root actor's `inspect`. An actor's snapshot is shown only when all that its step set off is
   * over, so the end of an incarnation would stand behind what its keeper made of it: for these two the steps count.
   */
  readonly inspect = (inspection: InspectionEvent): void => {
    if (inspection.type !== '@xstate.snapshot' && inspection.type !== '@xstate.microstep') return;
    const { snapshot } = inspection;
    const actor = inspection.actorRef as AnyActorRef;
    const place = placeOf(actor);
    if (place === undefined || !('value' in snapshot)) return;
    if (place.isAlone && inspection.type === '@xstate.microstep') return;
    const state = stateName(snapshot.value as StateValue);
    const last = this.#last.get(actor);
    // What a keeper says to itself about an ending is no cause; the ending is.
    const event = inspection.event.type === 'ending.noted' && last ? last.event : inspection.event;
    this.#last.set(actor, { state, event });
    // An idle keeper at the beginning is no news.
    if (state === last?.state || (last === undefined && place.chart === 'keeper')) return;
    const { incarnation = 0 } = (snapshot as unknown as { context: { incarnation?: number } }).context;
    const { key, chart } = place;
    const at = new Date(this.#now()).toISOString();
    const cause = this.#redact(describeCause(event));
    this.#write(key, { at, incarnation, chart, from: last?.state ?? '', to: state, cause });
  };

  of(key: string): JournalEntry[] {
    return [...(this.#entries.get(key) ?? [])];
  }

  /** When the server came into its present state; steps inside a state do not count. */
  since(key: string): string | undefined {
    return this.#since.get(key);
  }

  forget(key: string): void {
    this.#entries.delete(key);
    this.#since.delete(key);
  }

  #write(key: string, entry: JournalEntry): void {
    const entries = this.#entries.get(key) ?? [];
    entries.push(entry);
    if (entries.length > KEPT) entries.shift();
    this.#entries.set(key, entries);
    if (topName(entry.from) !== topName(entry.to)) this.#since.set(key, entry.at);
    this.#changed({ key, ...entry });
  }
}

interface Place {
  key: string;
  chart: 'server' | 'keeper';
  /** An incarnation without a keeper: a transient one. */
  isAlone: boolean;
}

/** Which server an actor belongs to, by its id: `slot@1#0` a keeper, `server.3` its child, `slot@1.3` a transient one. */
function placeOf(actor: AnyActorRef): Place | undefined {
  const keeper = KEEPER_ID.exec(actor.id);
  if (keeper !== null) return { key: keeper[1]!, chart: 'keeper', isAlone: false };
  const transient = /^(.*)@\d+\.\d+$/s.exec(actor.id);
  if (transient !== null) return { key: transient[1]!, chart: 'server', isAlone: true };
  const parent = /^server\.\d+$/.test(actor.id) ? KEEPER_ID.exec(actor._parent?.id ?? '') : null;
  return parent === null ? undefined : { key: parent[1]!, chart: 'server', isAlone: false };
}

const KEEPER_ID = /^(.*)@\d+#\d+$/s;
