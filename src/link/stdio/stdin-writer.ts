import type { Writable } from 'node:stream';
import { EARLY_WRITE_SIZE, TurnBatcher, writeEncoding } from '../../shared/turn-batcher.js';
import type { Encoding } from './encoding.js';

/** The most that is queued for a server that does not read. */
const CAP_BYTES = 2 ** 20;
const endOfTick = (end: () => void): void => process.nextTick(end);

/**
 * The server's stdin. Calls are written only while it is `ready`, so at most one is queued here besides the contents of
 * the pipe; the limit is for lines that do not check `ready`: cancellations, and answers to requests of the server.
 */
export class StdinWriter {
  readonly #stream: Writable;
  readonly #encoding: Encoding;
  readonly #drained: () => void;
  #open = true;
  readonly #turn = new TurnBatcher(endOfTick, () => this.#endTurn());
  /** Lines of this turn that are not written yet. */
  #lines = '';

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
    const isFirst = !this.#turn.isRunning;
    this.#turn.countText();
    this.#lines += `${line}\n`;
    if (isFirst) this.#turn.begin();
    const isEarly = isFirst && this.#turn.writesFirstAtOnce;
    if (isEarly || this.#lines.length >= EARLY_WRITE_SIZE) this.#flush();
    return true;
  }

  end(): void {
    if (!this.#open) return;
    this.#flush();
    this.#open = false;
    this.#stream.end();
  }

  #endTurn(): void {
    this.#flush();
    // a full stream emits `drain` later; one with room left may have seemed full while the lines were held here
    if (this.ready) this.#drained();
  }

  #flush(): void {
    const lines = this.#lines;
    this.#lines = '';
    if (lines === '' || !this.#open) return;
    const encoded = this.#encoding.encode(lines);
    if (typeof encoded !== 'string') this.#stream.write(encoded);
    else this.#stream.write(encoded, writeEncoding(encoded, Buffer.byteLength(encoded)));
  }
}
