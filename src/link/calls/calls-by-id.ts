import type { Call } from './call.js';

/** More than are usually in flight at once, so that two calls seldom share a slot. */
const SLOTS = 1024;

/**
 * Calls by their ids, which only grow. A call's slot is its id modulo the number of slots; a call that is still there
 * when a later one needs its slot moves to a Map. A Map alone is too slow for ten thousand calls a second: with high
 * churn it keeps old hash tables, and with them every finished call, alive until a major garbage collection (measured: a
 * fifth of a call's cost).
 */
export class CallsById {
  readonly #slots: (Call | undefined)[] = new Array(SLOTS).fill(undefined);
  readonly #displaced = new Map<number, Call>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(id: number): Call | undefined {
    const call = this.#slots[slotOf(id)];
    return call?.id === id ? call : this.#displaced.get(id);
  }

  /** Its id must not be in use. */
  add(call: Call): void {
    const slot = slotOf(call.id);
    const other = this.#slots[slot];
    if (other !== undefined) this.#displaced.set(other.id, other);
    this.#slots[slot] = call;
    this.#size += 1;
  }

  /** False where it was not in flight. */
  delete({ id }: Call): boolean {
    const slot = slotOf(id);
    if (this.#slots[slot]?.id === id) this.#slots[slot] = undefined;
    else if (!this.#displaced.delete(id)) return false;
    this.#size -= 1;
    return true;
  }

  /** The oldest first. */
  all(): Call[] {
    if (this.#size === 0) return [];
    const inSlots = this.#slots.filter((call) => call !== undefined);
    return [...this.#displaced.values(), ...inSlots].sort((a, b) => a.id - b.id);
  }
}

/** Any number that a server sends as an id has a slot. */
function slotOf(id: number): number {
  return id & (SLOTS - 1);
}
