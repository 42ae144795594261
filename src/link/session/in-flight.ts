import type { Call } from './call.js';

/** More than are usually in flight at once, so that two of them seldom want the same place. */
const PLACES = 1024;

/**
 * Calls by their ids, which only grow: each has the place that its id falls on, and one that is still there when its
 * place is wanted again moves into a Map. A Map alone would do, but not for ten thousand calls a second: one whose
 * entries come and go leaves a chain of worn-out tables behind, through which the collector keeps every call alive until
 * it looks at the whole heap (measured: a fifth of a call's cost).
 */
export class InFlight {
  readonly #places: (Call | undefined)[] = new Array(PLACES).fill(undefined);
  readonly #displaced = new Map<number, Call>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(id: number): Call | undefined {
    const call = this.#places[placeOf(id)];
    return call?.id === id ? call : this.#displaced.get(id);
  }

  /** Its id may not be in use. */
  add(call: Call): void {
    const place = placeOf(call.id);
    const other = this.#places[place];
    if (other !== undefined) this.#displaced.set(other.id, other);
    this.#places[place] = call;
    this.#size += 1;
  }

  /** False where it was not in flight. */
  delete({ id }: Call): boolean {
    const place = placeOf(id);
    if (this.#places[place]?.id === id) this.#places[place] = undefined;
    else if (!this.#displaced.delete(id)) return false;
    this.#size -= 1;
    return true;
  }

  /** The oldest first. */
  all(): Call[] {
    if (this.#size === 0) return [];
    const placed = this.#places.filter((call) => call !== undefined);
    return [...this.#displaced.values(), ...placed].sort((a, b) => a.id - b.id);
  }
}

/** Whatever a server takes for an id falls somewhere. */
function placeOf(id: number): number {
  return id & (PLACES - 1);
}
