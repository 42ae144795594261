import type { AnyActorRef, InspectionEvent, StateValue } from 'xstate';
import type { JournalEntry } from '../ipc/fleet.js';
import { describeCause } from './causes.js';
import { stateName } from './state-name.js';

/** Enough for the story of a bad hour; a journal that grows for ever is a leak. */
const KEPT = 200;

export interface Change extends JournalEntry {
  server: string;
}

/** Writes down every change of state of every server, and why. It only listens: no machine knows of it. */
export class Journal {
  readonly #entries = new Map<string, JournalEntry[]>();
  readonly #last = new WeakMap<AnyActorRef, string>();
  readonly #incarnations = new Map<string, number>();
  readonly #now: () => number;
  readonly #redact: (text: string) => string;
  readonly #changed: (change: Change) => void;

  constructor(now: () => number, redact: (text: string) => string, changed: (change: Change) => void) {
    this.#now = now;
    this.#redact = redact;
    this.#changed = changed;
  }

  /** The listener for the root actor's `inspect`. */
  readonly inspect = (inspection: InspectionEvent): void => {
    if (inspection.type !== '@xstate.snapshot') return;
    const { actorRef, snapshot, event } = inspection;
    const place = placeOf(actorRef as AnyActorRef);
    if (place === undefined || !('value' in snapshot)) return;
    const to = stateName(snapshot.value as StateValue);
    const from = this.#last.get(actorRef as AnyActorRef);
    this.#last.set(actorRef as AnyActorRef, to);
    if (to === from) return;
    if (place.chart === 'server') this.#incarnations.set(place.server, place.incarnation);
    // An idle keeper at the beginning is no news.
    if (from === undefined && place.chart === 'keeper') return;
    this.#write(place, from ?? '', to, describeCause(event));
  };

  of(server: string): JournalEntry[] {
    return [...(this.#entries.get(server) ?? [])];
  }

  /** When the server came into its present state. */
  since(server: string): string | undefined {
    return this.#entries.get(server)?.at(-1)?.at;
  }

  forget(server: string): void {
    this.#entries.delete(server);
  }

  #write(place: Place, from: string, to: string, cause: string): void {
    const { server, chart } = place;
    const entry: JournalEntry = {
      at: new Date(this.#now()).toISOString(),
      incarnation: place.chart === 'server' ? place.incarnation : (this.#incarnations.get(server) ?? 0),
      chart,
      from,
      to,
      cause: this.#redact(cause),
    };
    const entries = this.#entries.get(server) ?? [];
    entries.push(entry);
    if (entries.length > KEPT) entries.shift();
    this.#entries.set(server, entries);
    this.#changed({ server, ...entry });
  }
}

interface Place {
  server: string;
  chart: 'server' | 'keeper';
  incarnation: number;
}

/** Which server an actor belongs to, by its id: `name@1#0` a keeper, `server.3` its child, `name@1.3` a transient one. */
function placeOf(actor: AnyActorRef): Place | undefined {
  const keeper = /^(.*)@\d+#\d+$/s.exec(actor.id);
  if (keeper !== null) return { server: keeper[1]!, chart: 'keeper', incarnation: 0 };
  const transient = /^(.*)@\d+\.(\d+)$/s.exec(actor.id);
  if (transient !== null) return { server: transient[1]!, chart: 'server', incarnation: Number(transient[2]) };
  const child = /^server\.(\d+)$/.exec(actor.id);
  const parent = child === null ? null : /^(.*)@\d+#\d+$/s.exec(actor._parent?.id ?? '');
  if (child === null || parent === null) return undefined;
  return { server: parent[1]!, chart: 'server', incarnation: Number(child[1]) };
}
