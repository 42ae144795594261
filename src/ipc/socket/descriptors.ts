import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';

/**
 * Kept free of connections: starting a server takes eight descriptors for a moment, and logs, the ledger and a look at
 * the processes need some as well.
 */
const RESERVE = 16;

/**
 * Whether the files that this process may open run out. A new descriptor has the lowest number that is free, so the
 * number of a fresh connection says how many are taken. Linux only: elsewhere nobody knows the limit, and the system
 * closes what is too much without a word.
 */
export class Descriptors {
  readonly #readLimit: () => number;
  #limit: number | undefined;

  constructor(readLimit = openFilesLimit) {
    this.#readLimit = readLimit;
  }

  /** How many may be open; infinity where that is not known. */
  get limit(): number {
    this.#limit ??= this.#readLimit();
    return this.#limit;
  }

  /** True when this connection has one of the last. */
  areShort(socket: Socket): boolean {
    const { fd = -1 } = (socket as unknown as { _handle?: { fd?: number } })._handle ?? {};
    if (fd < this.limit - reserveOf(this.limit)) return false;
    // somebody may have raised it since
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
