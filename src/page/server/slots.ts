/**
 * Gives each line on the page a number, and the number of a line that is gone to a new one. As keys of a list they let a new
 * line take the elements of an old one: browsers free removed elements so late that a fast log would fill the tab.
 */
export class Slots {
  #slots = new Map<number, number>();

  /** By the ids of these lines. */
  assign(lines: readonly { id: number }[]): ReadonlyMap<number, number> {
    const kept = new Map<number, number>();
    for (const { id } of lines) {
      const slot = this.#slots.get(id);
      if (slot !== undefined) kept.set(id, slot);
    }
    const taken = new Set(kept.values());
    let free = 0;
    for (const { id } of lines) {
      if (kept.has(id)) continue;
      while (taken.has(free)) free += 1;
      kept.set(id, free);
      free += 1;
    }
    this.#slots = kept;
    return kept;
  }
}
