import type { Writable } from 'node:stream';
import { type Clock, systemClock } from './clock.js';

/**
 * What is waiting to be written to one connection. The texts of one tick become one write. Bytes leave in slices, the
 * next one when the last was taken: so it is known when a client stops reading, and how much of it is held here.
 *
 * A client that does not read is dropped when more than `softBytes` wait and it took nothing for `stallMs`, or when
 * more than `hardBytes` wait. Less may wait for ever: a client that is stopped in a debugger is no fault.
 */
export interface OutboxLimits {
  softBytes: number;
  hardBytes: number;
  stallMs: number;
}

export const DEFAULT_LIMITS: OutboxLimits = {
  softBytes: 16 * 2 ** 20,
  hardBytes: 128 * 2 ** 20,
  stallMs: 5000,
};

/** Small, so that a slow client is seen to take bytes; large enough that a slice costs nothing beside its bytes. */
const SLICE_BYTES = 65_536;
const NOTHING = Buffer.alloc(0);

export class Outbox {
  readonly #stream: Writable;
  readonly #drop: (reason: string) => void;
  readonly #clock: Clock;
  readonly #limits: OutboxLimits;
  #texts: string[] = [];
  /** Encoded, and taken in part. */
  #block: Buffer = NOTHING;
  #queued = 0;
  #writing = false;
  #closed = false;
  #takenAt = 0;
  #stallTimer: unknown;
  #emptied: (() => void)[] = [];

  constructor(
    stream: Writable,
    drop: (reason: string) => void,
    { clock = systemClock, limits = DEFAULT_LIMITS }: { clock?: Clock; limits?: OutboxLimits } = {},
  ) {
    this.#stream = stream;
    this.#drop = drop;
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Bytes that the other side has not taken yet. */
  get queued(): number {
    return this.#queued;
  }

  send(text: string): void {
    if (this.#closed) return;
    if (this.#queued === 0) this.#takenAt = this.#clock.now();
    this.#queued += Buffer.byteLength(text);
    if (this.#queued > this.#limits.hardBytes) {
      this.#drop(`it left ${this.#queued} bytes unread`);
      return;
    }
    if (this.#queued > this.#limits.softBytes) this.#watchForStall();
    // after the promises of this tick: what they answer goes out with it
    if (this.#texts.push(text) === 1 && !this.#writing) setImmediate(() => this.#write());
  }

  /** Settles when everything was taken, or never will be. */
  emptied(): Promise<void> {
    if (this.#queued === 0 || this.#closed) return Promise.resolve();
    return new Promise((resolve) => this.#emptied.push(resolve));
  }

  close(): void {
    this.#closed = true;
    this.#texts = [];
    this.#block = NOTHING;
    this.#queued = 0;
    this.#clock.clearTimeout(this.#stallTimer);
    this.#tellEmptied();
  }

  #write(): void {
    if (this.#closed) return;
    if (this.#block.length === 0) {
      this.#block = Buffer.from(this.#texts.join(''));
      this.#texts = [];
    }
    const slice = this.#block.subarray(0, SLICE_BYTES);
    this.#block = this.#block.subarray(slice.length);
    this.#writing = true;
    this.#stream.write(slice, () => this.#taken(slice.length));
  }

  #taken(bytes: number): void {
    this.#writing = false;
    if (this.#closed) return;
    this.#queued -= bytes;
    this.#takenAt = this.#clock.now();
    if (this.#queued === 0) this.#tellEmptied();
    else this.#write();
  }

  #watchForStall(): void {
    if (this.#stallTimer !== undefined) return;
    const left = this.#takenAt + this.#limits.stallMs - this.#clock.now();
    this.#stallTimer = this.#clock.setTimeout(() => this.#lookForStall(), Math.max(0, left));
  }

  #lookForStall(): void {
    this.#stallTimer = undefined;
    if (this.#queued <= this.#limits.softBytes) return;
    const forMs = this.#clock.now() - this.#takenAt;
    if (forMs < this.#limits.stallMs) this.#watchForStall();
    else this.#drop(`it left ${this.#queued} bytes unread and took none for ${Math.round(forMs)} ms`);
  }

  #tellEmptied(): void {
    const told = this.#emptied;
    this.#emptied = [];
    for (const tell of told) tell();
  }
}
