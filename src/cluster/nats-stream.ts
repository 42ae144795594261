import { Duplex } from 'node:stream';
import { EARLY_WRITE_SIZE, TurnBatcher } from '../shared/turn-batcher.js';
import { ahead, encodeFrame, type Frame, type FrameKind, HEAD_BYTES } from './frames.js';

/** How many bytes each side may send beyond those that the other side has taken. The most that a slow reader holds. */
export const WINDOW_BYTES = 2 ** 20;
/** After so many bytes the other side hears that they were taken, if nothing else tells it. */
const CREDIT_BYTES = WINDOW_BYTES / 4;
/** So much may wait to be sent before the writer has to wait too. */
const PENDING_BYTES = 65_536;
/** Why a stream ends after a loss. */
export const MESSAGE_LOST = 'a message of the connection was lost';
const endOfTurn = (end: () => void): void => void setImmediate(end);

export interface NatsStreamOptions {
  /** The error that it ends with. `why`: what happened to the node at the other end. */
  away(why: string): Error;
  /** The largest message that both ends may send. */
  maxPayload: number;
  /** It may go on writing after the other side has ended. */
  allowHalfOpen: boolean;
  /** Publishes a message to the other side. */
  send(frame: Buffer): void;
  /** Nothing more comes from it. */
  closed(): void;
}

/**
 * A connection to another node: a stream of bytes over messages of NATS. What is written in one turn of the event loop is one
 * message, if it fits. Each side sends at most `WINDOW_BYTES` ahead of the reader of the other one.
 */
export class NatsStream extends Duplex {
  readonly #options: NatsStreamOptions;
  readonly #turn = new TurnBatcher(endOfTurn, () => this.#flush());
  /** Bytes that wait to be sent. */
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  /** Continues the writer. */
  #written: ((error?: Error | null) => void) | undefined;
  /** Sends the end when everything before it was sent. */
  #ending: ((error?: Error | null) => void) | undefined;
  #sent = 0;
  /** Of the bytes that were sent, those that the other side has taken. */
  #acknowledged = 0;
  #nextOut = 0;
  #nextIn = 0;
  /** Bytes that came and that the reader has not asked for. */
  #arrived: Buffer[] = [];
  #arrivedBytes = 0;
  #wantsMore = false;
  #taken = 0;
  /** What the other side knows of `#taken`. */
  #reported = 0;
  readonly #ended = { here: false, there: false };
  #isReset = false;

  constructor(options: NatsStreamOptions) {
    super({ allowHalfOpen: options.allowHalfOpen });
    this.#options = options;
    // it may break before its user listens; `close` follows in any case
    this.on('error', () => undefined);
  }

  /** Bytes in memory that were not sent, or not read. */
  get heldBytes(): number {
    return this.#pendingBytes + this.#arrivedBytes + this.readableLength + this.writableLength;
  }

  /** How many frames each side has sent, as far as this one knows. */
  get frames(): { sent: number; received: number } {
    return { sent: this.#nextOut, received: this.#nextIn };
  }

  /** Both sides have ended. The reader may still have bytes to read. */
  get isOver(): boolean {
    return this.#ended.here && this.#ended.there;
  }

  /** A frame of the other side. */
  receive({ kind, number, taken, data }: Frame): void {
    if (this.destroyed) return;
    if (kind === 'reset') {
      this.#isReset = true;
      this.break(data.toString());
      return;
    }
    if (number !== this.#nextIn % 2 ** 32) {
      this.break(MESSAGE_LOST);
      return;
    }
    this.#nextIn += 1;
    this.#acknowledge(taken);
    if (kind === 'data') this.#take(data);
    if (kind === 'end') {
      this.#ended.there = true;
      this.#pass();
    }
  }

  /** Ends it at once. `why`: what happened, for callers whose calls are in flight. */
  break(why: string): void {
    this.destroy(this.#options.away(why));
  }

  override _read(): void {
    this.#wantsMore = true;
    this.#pass();
  }

  override _write(chunk: Buffer, _encoding: string, written: (error?: Error | null) => void): void {
    this.#pending.push(chunk);
    this.#pendingBytes += chunk.length;
    this.#turn.countText();
    const isFirst = !this.#turn.isRunning;
    if (isFirst) this.#turn.begin();
    const isEarly = isFirst && this.#turn.writesFirstAtOnce;
    if (isEarly || this.#pendingBytes >= EARLY_WRITE_SIZE) this.#flush();
    if (this.#pendingBytes < PENDING_BYTES) written();
    else this.#written = written;
  }

  override _final(ended: (error?: Error | null) => void): void {
    this.#ending = ended;
    this.#flush();
  }

  override _destroy(error: Error | null, destroyed: (error: Error | null) => void): void {
    if (!this.isOver && !this.#isReset) this.#send('reset', [Buffer.from('the other side closed it')]);
    this.#pending = [];
    this.#arrived = [];
    this.#pendingBytes = 0;
    this.#arrivedBytes = 0;
    this.#options.closed();
    destroyed(error);
  }

  #acknowledge(taken: number): void {
    const more = ahead(taken, this.#acknowledged);
    if (more === 0) return;
    if (more > this.#sent - this.#acknowledged) {
      this.break('it acknowledged bytes that were not sent');
      return;
    }
    this.#acknowledged += more;
    if (this.#pendingBytes > 0 && !this.#turn.isRunning) this.#flush();
  }

  #take(data: Buffer): void {
    this.#arrived.push(data);
    this.#arrivedBytes += data.length;
    if (this.#arrivedBytes + this.readableLength > 2 * WINDOW_BYTES) {
      this.break('it sent more than was allowed');
      return;
    }
    this.#pass();
  }

  /** Passes to the reader what came, as far as it wants it. */
  #pass(): void {
    while (this.#wantsMore) {
      const data = this.#arrived.shift();
      if (data === undefined) break;
      this.#arrivedBytes -= data.length;
      this.#taken += data.length;
      this.#wantsMore = this.push(data);
    }
    if (this.#ended.there && this.#arrived.length === 0) {
      if (!this.readableEnded) this.push(null);
    } else if (this.#taken - this.#reported >= CREDIT_BYTES && !this.destroyed) this.#send('credit', []);
  }

  #flush(): void {
    if (this.destroyed) return;
    const most = this.#options.maxPayload - HEAD_BYTES;
    while (this.#pendingBytes > 0) {
      const credit = WINDOW_BYTES - (this.#sent - this.#acknowledged);
      const bytes = Math.min(this.#pendingBytes, most, credit);
      // a small rest of the window is not worth a message: the other side soon allows more
      if (bytes <= 0 || (bytes < this.#pendingBytes && bytes < most && credit < CREDIT_BYTES)) break;
      const pieces = this.#cut(bytes);
      this.#sent += bytes;
      this.#send('data', pieces, bytes);
    }
    if (this.#pendingBytes < PENDING_BYTES) this.#continue();
    if (this.#pendingBytes === 0) this.#end();
  }

  #continue(): void {
    const written = this.#written;
    this.#written = undefined;
    written?.();
  }

  #end(): void {
    const ended = this.#ending;
    if (ended === undefined) return;
    this.#ending = undefined;
    this.#send('end', []);
    this.#ended.here = true;
    ended();
  }

  /** The first bytes of those that wait. */
  #cut(bytes: number): Buffer[] {
    if (bytes === this.#pendingBytes) {
      const all = this.#pending;
      this.#pending = [];
      this.#pendingBytes = 0;
      return all;
    }
    const pieces: Buffer[] = [];
    let missing = bytes;
    while (missing > 0) {
      const first = this.#pending[0]!;
      if (first.length <= missing) this.#pending.shift();
      else this.#pending[0] = first.subarray(missing);
      pieces.push(first.subarray(0, missing));
      missing -= Math.min(missing, first.length);
    }
    this.#pendingBytes -= bytes;
    return pieces;
  }

  #send(kind: FrameKind, data: readonly Buffer[], bytes = sizeOf(data)): void {
    const frame = encodeFrame({ kind, number: this.#nextOut, taken: this.#taken }, data, bytes);
    this.#nextOut += 1;
    this.#reported = this.#taken;
    this.#options.send(frame);
  }
}

function sizeOf(pieces: readonly Buffer[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}
