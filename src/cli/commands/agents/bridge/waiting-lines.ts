/** A client that goes on writing while no daemon reads must not fill the memory of the bridge. */
export const MAX_WAITING_BYTES = 64 * 2 ** 20;

/** Lines that wait for the next daemon. */
export class WaitingLines {
  #lines: Buffer[] = [];
  #bytes = 0;

  get isEmpty(): boolean {
    return this.#lines.length === 0;
  }

  /** False if there is no room. */
  add(line: Buffer): boolean {
    if (this.#bytes + line.length > MAX_WAITING_BYTES) return false;
    this.#bytes += line.length;
    this.#lines.push(line);
    return true;
  }

  /** In front of all others, even without room: it was accepted before. */
  putFirst(line: Buffer): void {
    this.#bytes += line.length;
    this.#lines.unshift(line);
  }

  takeAll(): Buffer[] {
    this.#bytes = 0;
    return this.#lines.splice(0);
  }
}
