import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';

/**
 * Descriptors that connections may not use. To start a server takes eight for a moment; logs, the ledger and a look at
 * the processes need some too.
 */
const RESERVE = 16;

/**
 * Whether this process runs out of file descriptors. A new descriptor has the lowest free number, so the number of a new
 * connection tells how many are in use. Linux only: other systems do not tell the limit, and close further connections
 * without an error.
 */
export class Descriptors {
  readonly #readLimit: () => number;
  #limit: number | undefined;

  constructor(readLimit = openFilesLimit) {
    this.#readLimit = readLimit;
  }

  /** How many may be open; infinity where the system does not tell. */
  get limit(): number {
    this.#limit ??= this.#readLimit();
    return this.#limit;
  }

  /** True where this connection has one of the last. */
  areShort(socket: Socket): boolean {
    const { fd = -1 } = (socket as unknown as { _handle?: { fd?: number } })._handle ?? {};
    if (fd < this.limit - reserveOf(this.limit)) return false;
    // the user may have raised the limit
    this.#limit = this.#readLimit();
    return fd >= this.limit - reserveOf(this.limit);
  }
}

function reserveOf(limit: number): number {
  return Math.min(RESERVE, Math.floor(limit / 4));
}

function openFilesLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'latin1');
    return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
