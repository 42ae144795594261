/** An item that waits: its size, and whose turn it waits for. */
export interface Waiter {
  readonly bytes: number;
  readonly turn: string | undefined;
}

/**
 * Calls over `max_in_flight`. Callers take turns: a caller with one waiting call comes next, however many calls another
 * has. The calls of one turn are first in, first out.
 */
export class FairQueue<T extends Waiter> {
  /** The waiting items of each turn, in their order; a Map keeps insertion order. */
  readonly #queues = new Map<string | undefined, Set<T>>();
  #size = 0;
  #bytes = 0;

  get size(): number {
    return this.#size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** How many items wait for one turn. */
  sizeOf(turn: string | undefined): number {
    return this.#queues.get(turn)?.size ?? 0;
  }

  push(item: T): void {
    const queue = this.#queues.get(item.turn);
    if (queue === undefined) this.#queues.set(item.turn, new Set([item]));
    else queue.add(item);
    this.#size += 1;
    this.#bytes += item.bytes;
  }

  /** Removes and returns the next item. */
  shift(): T | undefined {
    const [first] = this.#queues;
    if (first === undefined) return undefined;
    const [turn, queue] = first;
    const [item] = queue;
    if (item === undefined) return undefined;
    this.remove(item);
    // a caller that had its turn moves to the end
    if (queue.size > 0) {
      this.#queues.delete(turn);
      this.#queues.set(turn, queue);
    }
    return item;
  }

  /** Removes and returns all items, in the order of turns. */
  takeAll(): T[] {
    const all: T[] = [];
    for (let item = this.shift(); item !== undefined; item = this.shift()) all.push(item);
    return all;
  }

  all(): T[] {
    return [...this.#queues.values()].flatMap((queue) => [...queue]);
  }

  remove(item: T): boolean {
    const queue = this.#queues.get(item.turn);
    if (queue === undefined || !queue.delete(item)) return false;
    if (queue.size === 0) this.#queues.delete(item.turn);
    this.#size -= 1;
    this.#bytes -= item.bytes;
    return true;
  }
}
