import type { Writable } from 'node:stream';
import type { Encoding } from './encoding.js';

/** More than this is never queued for a server that does not read, whatever asks for it. */
const CAP_BYTES = 2 ** 20;
/** So much goes out at once: the server has begun with it while the rest of the turn is still worked on here. */
const ENOUGH_CHARACTERS = 4096;

/**
 * The server's stdin. Calls are written only while it is `ready`, so at most one of them is queued here beside what
 * the pipe holds; the cap is for lines that do not ask: cancellations, answers to the server's own requests.
 */
export class StdinWriter {
  readonly #stream: Writable;
  readonly #encoding: Encoding;
  readonly #drained: () => void;
  #open = true;
  /** Lines of this turn: they go out in few system calls. */
  #lines = '';
  /** How many there were of them. */
  #inTurn = 0;
  /** The last turn had one line. So has the next, most likely: it is written at once, and waits for no others. */
  #isAlone = true;

  /** `broken` is told once when the server closed its end; an EPIPE goes no further than here. */
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
    const isFirst = this.#inTurn === 0;
    this.#inTurn += 1;
    this.#lines += `${line}\n`;
    if (isFirst) process.nextTick(this.#endTurn);
    if ((isFirst && this.#isAlone) || this.#lines.length >= ENOUGH_CHARACTERS) this.#pass();
    return true;
  }

  end(): void {
    if (!this.#open) return;
    this.#pass();
    this.#open = false;
    this.#stream.end();
  }

  readonly #endTurn = (): void => {
    this.#isAlone = this.#inTurn <= 1;
    this.#inTurn = 0;
    this.#pass();
    // where they fill it, `drain` follows; where they do not, it may have seemed full while they were held here
    if (this.ready) this.#drained();
  };

  #pass(): void {
    const lines = this.#lines;
    this.#lines = '';
    if (lines === '' || !this.#open) return;
    const encoded = this.#encoding.encode(lines);
    if (typeof encoded !== 'string') this.#stream.write(encoded);
    // nearly everything is ASCII, and that is written faster as what it also is
    else this.#stream.write(encoded, Buffer.byteLength(encoded) === encoded.length ? 'latin1' : 'utf8');
  }
}
