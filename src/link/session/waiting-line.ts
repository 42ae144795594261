/** What waits for a place: how much it weighs, and on whose behalf. */
export interface Waiter {
  readonly bytes: number;
  /** Opaque; a line that is fair between callers shares the turns by it. */
  readonly caller: string | undefined;
}

/**
 * The order in which calls over `max_in_flight` get their turn. The session knows nothing of it, so a line that is
 * fair between callers can take the place of this one.
 */
export interface WaitingLine<T extends Waiter> {
  readonly size: number;
  readonly bytes: number;
  push(item: T): void;
  /** The next one, taken out. */
  shift(): T | undefined;
  remove(item: T): boolean;
}

/** First come, first served. Whoever leaves from the middle leaves a gap that is skipped and now and then swept out. */
export class InOrder<T extends Waiter> implements WaitingLine<T> {
  #items: (T | undefined)[] = [];
  #head = 0;
  readonly #places = new Map<T, number>();
  #bytes = 0;

  get size(): number {
    return this.#places.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  push(item: T): void {
    this.#places.set(item, this.#items.length);
    this.#items.push(item);
    this.#bytes += item.bytes;
  }

  shift(): T | undefined {
    while (this.#head < this.#items.length) {
      const item = this.#items[this.#head];
      if (item !== undefined) {
        this.remove(item);
        return item;
      }
      this.#head += 1;
    }
    return undefined;
  }

  remove(item: T): boolean {
    const place = this.#places.get(item);
    if (place === undefined) return false;
    this.#places.delete(item);
    this.#items[place] = undefined;
    this.#bytes -= item.bytes;
    if (this.#items.length > 2 * this.#places.size + 64) this.#sweep();
    return true;
  }

  #sweep(): void {
    this.#items = [...this.#places.keys()];
    this.#head = 0;
    let place = 0;
    for (const item of this.#items) if (item !== undefined) this.#places.set(item, place++);
  }
}
