import type { Writable } from 'node:stream';
import type { Encoding } from './encoding.js';

/** The most that is queued for a server that does not read. */
const CAP_BYTES = 2 ** 20;
/** So much is written at once: the server begins with it during the rest of this turn. */
const ENOUGH_CHARACTERS = 4096;

/**
 * The server's stdin. Calls are written only while it is `ready`, so at most one is queued here besides the contents of
 * the pipe; the limit is for lines that do not check `ready`: cancellations, and answers to requests of the server.
 */
export class StdinWriter {
  readonly #stream: Writable;
  readonly #encoding: Encoding;
  readonly #drained: () => void;
  #open = true;
  /** Lines of this turn of the event loop: they are written in few system calls. */
  #lines = '';
  /** How many lines this turn had. */
  #linesInTurn = 0;
  /** The last turn had one line. The next most likely has one too: it is written at once, and waits for no others. */
  #isAlone = true;

  /** `broken` is called once when the server closed its end; an EPIPE is handled here. */
  constructor(stream: Writable, encoding: Encoding, on: { drained(): void; broken(error: Error): void }) {
    this.#stream = stream;
    this.#encoding = encoding;
    this.#drained = on.drained;
    stream.on('drain', on.drained);
    stream.on('error', (error: Error) => {
      if (!this.#open) return;
      this.#open = false;
      on.broken(error);
    });
  }

  get ready(): boolean {
    const stream = this.#stream;
    if (!this.#open || !stream.writable || stream.writableNeedDrain) return false;
    return stream.writableLength + this.#lines.length < stream.writableHighWaterMark;
  }

  write(line: string): boolean {
    const stream = this.#stream;
    if (!this.#open || !stream.writable) return false;
    if (stream.writableLength + this.#lines.length > CAP_BYTES) return false;
    const isFirst = this.#linesInTurn === 0;
    this.#linesInTurn += 1;
    this.#lines += `${line}\n`;
    if (isFirst) process.nextTick(this.#endTurn);
    if ((isFirst && this.#isAlone) || this.#lines.length >= ENOUGH_CHARACTERS) this.#flush();
    return true;
  }

  end(): void {
    if (!this.#open) return;
    this.#flush();
    this.#open = false;
    this.#stream.end();
  }

  readonly #endTurn = (): void => {
    this.#isAlone = this.#linesInTurn <= 1;
    this.#linesInTurn = 0;
    this.#flush();
    // if the write fills the stream, `drain` follows; if not, `ready` may have been false while the lines were held
    if (this.ready) this.#drained();
  };

  #flush(): void {
    const lines = this.#lines;
    this.#lines = '';
    if (lines === '' || !this.#open) return;
    const encoded = this.#encoding.encode(lines);
    if (typeof encoded !== 'string') this.#stream.write(encoded);
    // ASCII text, which nearly all of it is, is written as latin1, which is faster
    else this.#stream.write(encoded, Buffer.byteLength(encoded) === encoded.length ? 'latin1' : 'utf8');
  }
}
