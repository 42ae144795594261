/** An item that waits: its size, and who made it. */
export interface Waiter {
  readonly bytes: number;
  readonly caller: string | undefined;
}

/**
 * Calls over `max_in_flight`. Callers take turns: a caller with one waiting call comes next, however many calls another
 * has. The calls of one caller are first in, first out.
 */
export class FairQueue<T extends Waiter> {
  /** The waiting items of each caller, in the order of turns; a Map keeps insertion order. */
  readonly #queues = new Map<string | undefined, Set<T>>();
  #size = 0;
  #bytes = 0;

  get size(): number {
    return this.#size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** How many items of one caller wait. */
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

  /** Removes and returns the next item. */
  shift(): T | undefined {
    const [turn] = this.#queues;
    if (turn === undefined) return undefined;
    const [caller, queue] = turn;
    const [item] = queue;
    if (item === undefined) return undefined;
    this.remove(item);
    // a caller that had its turn moves to the end
    if (queue.size > 0) {
      this.#queues.delete(caller);
      this.#queues.set(caller, queue);
    }
    return item;
  }

  /** Removes and returns all items, in the order of turns. */
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
