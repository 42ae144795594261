import { detachBuffer } from './detach-buffer.js';

export const BLOCK_BYTES = 65_536;
const MOST_IDLE = 1024;
const IDLE_MS = 1000;

/**
 * The memory that long lines lie in until they are whole. It is used again: what a large message leaves behind is as
 * large as the message, and the collector comes late (the next message lay beside it) or often (a fifth of what a
 * stream of large messages cost was its work). What was not used for a while is freed.
 *
 * Whoever gives a block back says that nobody will look at it again. What is not given back is the collector's.
 */
export class BufferPool {
  #idle: Buffer[] = [];
  readonly #lent = new WeakSet<ArrayBufferLike>();
  readonly #idleMs: number;
  #timer: NodeJS.Timeout | undefined;
  #usedAt = 0;

  constructor(idleMs = IDLE_MS) {
    this.#idleMs = idleMs;
  }

  /** Blocks that wait to be used again. */
  get idle(): number {
    return this.#idle.length;
  }

  lend(): Buffer {
    const block = this.#idle.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES);
    this.#lent.add(block.buffer);
    return block;
  }

  /** A block, or what was cut out of it; anything else is left alone. */
  release({ buffer }: Buffer): void {
    if (!this.#lent.delete(buffer)) return;
    this.#usedAt = performance.now();
    const block = Buffer.from(buffer);
    if (this.#idle.length === MOST_IDLE) detachBuffer(block);
    else this.#idle.push(block);
    this.#timer ??= setTimeout(() => this.#look(), this.#idleMs).unref();
  }

  #look(): void {
    this.#timer = undefined;
    const left = this.#usedAt + this.#idleMs - performance.now();
    if (left > 0) this.#timer = setTimeout(() => this.#look(), left).unref();
    else for (const block of this.#idle.splice(0)) detachBuffer(block);
  }
}

/** Those of the whole process. */
export const bufferPool = new BufferPool();
