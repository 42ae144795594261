/** What waits for a place: how much it weighs, and on whose behalf. */
export interface Waiter {
  readonly bytes: number;
  readonly caller: string | undefined;
}

/**
 * The order in which calls over `max_in_flight` get their turn: callers take turns. Whoever has one call waiting comes
 * next, however many another has. Within one caller it is first come, first served.
 */
export class FairQueue<T extends Waiter> {
  /** Callers that have something waiting, in the order of their turns; a Map keeps it. */
  readonly #queues = new Map<string | undefined, Set<T>>();
  #size = 0;
  #bytes = 0;

  get size(): number {
    return this.#size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** How many of one caller wait. */
  sizeOf(caller: string | undefined): number {
    return this.#queues.get(caller)?.size ?? 0;
  }

  push(item: T): void {
    const queue = this.#queues.get(item.caller);
    if (queue === undefined) this.#queues.set(item.caller, new Set([item]));
    else queue.add(item);
    this.#size += 1;
    this.#bytes += item.bytes;
  }

  /** The next one, taken out. */
  shift(): T | undefined {
    const [turn] = this.#queues;
    if (turn === undefined) return undefined;
    const [caller, queue] = turn;
    const [item] = queue;
    if (item === undefined) return undefined;
    this.remove(item);
    // who had a turn goes to the end
    if (queue.size > 0) {
      this.#queues.delete(caller);
      this.#queues.set(caller, queue);
    }
    return item;
  }

  /** Everybody, in the order of their turns, taken out. */
  takeAll(): T[] {
    const all: T[] = [];
    for (let item = this.shift(); item !== undefined; item = this.shift()) all.push(item);
    return all;
  }

  remove(item: T): boolean {
    const queue = this.#queues.get(item.caller);
    if (queue === undefined || !queue.delete(item)) return false;
    if (queue.size === 0) this.#queues.delete(item.caller);
    this.#size -= 1;
    this.#bytes -= item.bytes;
    return true;
  }
}
