const NEW_MAP_AFTER = 1024;

/**
 * A Map of things that come and go ten thousand times a second. A Map alone keeps its old hash tables, and with them every
 * entry that was deleted, alive until a major garbage collection: that took a third of the CPU time of a client that calls
 * through the library (2026-11-18). So the entries move to a new Map now and then. Add none in a loop over them.
 */
export class BusyMap<Key, Value> {
  #entries = new Map<Key, Value>();
  /** How many were put into the present Map. */
  #added = 0;

  get size(): number {
    return this.#entries.size;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  set(key: Key, value: Value): void {
    this.#added += 1;
    if (this.#added > NEW_MAP_AFTER + 4 * this.#entries.size) {
      this.#added = 0;
      this.#entries = new Map(this.#entries);
    }
    this.#entries.set(key, value);
  }

  delete(key: Key): boolean {
    return this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }

  values(): MapIterator<Value> {
    return this.#entries.values();
  }
}
