import { detachBuffer } from './detach-buffer.js';

export const BLOCK_BYTES = 65_536;
const MOST_IDLE = 1024;
const IDLE_MS = 1000;

/** One use of a block. A reader that keeps the loan can see that the block was released. */
export interface Loan {
  readonly pool: BufferPool;
  isReleased: boolean;
}

/** The present loan of each block, by its memory. */
const LOANS = new WeakMap<ArrayBufferLike, Loan>();

/** The loan of the block that a buffer is cut from; undefined for memory of no pool. */
export function loanOf({ buffer }: Buffer): Loan | undefined {
  return LOANS.get(buffer);
}

/**
 * Memory for the pieces of long lines, reused: a large message leaves as much garbage as it is long, and the garbage
 * collector runs late (the next message is allocated beside it) or often. docs/PERFORMANCE.md has the memory and the CPU
 * time that the pool saves. Blocks that stay idle are freed.
 *
 * The holder that releases a block must be its last reader: `RawJson` throws when it is read after that. A block that is
 * never released is left to the garbage collector.
 */
export class BufferPool {
  #idle: Buffer[] = [];
  readonly #idleMs: number;
  #timer: NodeJS.Timeout | undefined;
  #usedAt = 0;

  constructor(idleMs = IDLE_MS) {
    this.#idleMs = idleMs;
  }

  /** How many blocks wait to be lent again. */
  get idle(): number {
    return this.#idle.length;
  }

  lend(): Buffer {
    const block = this.#idle.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES);
    LOANS.set(block.buffer, { pool: this, isReleased: false });
    return block;
  }

  /** Takes a block, or any part of it; other buffers and blocks of other pools are ignored. */
  release({ buffer }: Buffer): void {
    const loan = LOANS.get(buffer);
    if (loan?.pool !== this || loan.isReleased) return;
    loan.isReleased = true;
    this.#usedAt = performance.now();
    const block = Buffer.from(buffer);
    if (this.#idle.length === MOST_IDLE) detachBuffer(block);
    else this.#idle.push(block);
    this.#timer ??= setTimeout(() => this.#freeIdle(), this.#idleMs).unref();
  }

  #freeIdle(): void {
    this.#timer = undefined;
    const left = this.#usedAt + this.#idleMs - performance.now();
    if (left > 0) this.#timer = setTimeout(() => this.#freeIdle(), left).unref();
    else for (const block of this.#idle.splice(0)) detachBuffer(block);
  }
}

/** The pool of the whole process. */
export const bufferPool = new BufferPool();
