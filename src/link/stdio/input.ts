import type { Writable } from 'node:stream';
import type { Encoding } from '../encoding.js';

/** More than this is never queued for a server that does not read, whatever asks for it. */
const CAP_BYTES = 2 ** 20;

/**
 * The server's stdin. Calls are written only while it is `ready`, so at most one of them is queued here beside what
 * the pipe holds; the cap is for lines that do not ask: cancellations, answers to the server's own requests.
 */
export class Input {
  readonly #stream: Writable;
  readonly #encoding: Encoding;
  #open = true;
  #corked = false;

  /** `broken` is told once when the server closed its end; an EPIPE goes no further than here. */
  constructor(stream: Writable, encoding: Encoding, on: { drained(): void; broken(error: Error): void }) {
    this.#stream = stream;
    this.#encoding = encoding;
    stream.on('drain', on.drained);
    stream.on('error', (error: Error) => {
      if (!this.#open) return;
      this.#open = false;
      on.broken(error);
    });
  }

  get ready(): boolean {
    return this.#open && this.#stream.writable && !this.#stream.writableNeedDrain;
  }

  write(line: string): boolean {
    if (!this.#open || !this.#stream.writable) return false;
    if (this.#stream.writableLength > CAP_BYTES) return false;
    if (!this.#corked) {
      // lines of one turn go out in one system call
      this.#corked = true;
      this.#stream.cork();
      process.nextTick(() => {
        this.#corked = false;
        this.#stream.uncork();
      });
    }
    this.#stream.write(this.#encoding.encode(`${line}\n`));
    return true;
  }

  end(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#stream.end();
  }
}
