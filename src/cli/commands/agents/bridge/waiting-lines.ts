/** A client that writes on while no daemon reads must not fill the memory of its bridge. */
export const MAX_WAITING_BYTES = 64 * 2 ** 20;

/** Lines that wait for the next daemon. */
export class WaitingLines {
  #lines: Buffer[] = [];
  #bytes = 0;

  get isEmpty(): boolean {
    return this.#lines.length === 0;
  }

  /** False where there is no room for it. */
  add(line: Buffer): boolean {
    if (this.#bytes + line.length > MAX_WAITING_BYTES) return false;
    this.#bytes += line.length;
    this.#lines.push(line);
    return true;
  }

  /** In front of all others, also where there is no room: it was taken before. */
  putFirst(line: Buffer): void {
    this.#bytes += line.length;
    this.#lines.unshift(line);
  }

  takeAll(): Buffer[] {
    this.#bytes = 0;
    return this.#lines.splice(0);
  }
}
