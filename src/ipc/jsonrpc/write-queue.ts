import type { Writable } from 'node:stream';
import { type Clock, systemClock } from '../../shared/clock.js';

/** In one piece, or in those that a large result came in. */
export type Text = string | readonly Buffer[];

/**
 * What is waiting to be written to one connection. The texts of one tick become one write, but for one that is likely to
 * be alone; what came in pieces is written in them. Bytes leave in slices, the next one when the last was taken: so it is known when a client stops
 * reading, and how much of it is held here.
 *
 * A client that does not read is dropped when more than `softBytes` wait and it took nothing for `stallMs`, or when
 * more than `hardBytes` wait. Less may wait for ever: a client that is stopped in a debugger is no fault. A text that
 * alone is larger than `hardBytes` was asked for and allowed by its server's config: one such text does not count.
 */
export interface WriteQueueLimits {
  softBytes: number;
  hardBytes: number;
  stallMs: number;
}

export const DEFAULT_LIMITS: WriteQueueLimits = {
  softBytes: 16 * 2 ** 20,
  hardBytes: 128 * 2 ** 20,
  stallMs: 5000,
};

export interface WriteQueueOptions {
  clock?: Clock;
  limits?: WriteQueueLimits;
  /** Hears of each piece that the other side has taken: nothing here looks at it again. */
  spent?: ((piece: Buffer) => void) | undefined;
}

/** Small, so that a slow client is seen to take bytes; large enough that a slice costs nothing beside its bytes. */
const SLICE_BYTES = 65_536;
/** So much goes out at once: the client has begun with it while the rest of the turn is still worked on here. */
const ENOUGH_BYTES = 4096;
/** A client that reads as fast as it is written to would otherwise have a large text written in one turn of the loop. */
const TURN_BYTES = 4 * SLICE_BYTES;
const NOTHING = Buffer.alloc(0);

export class WriteQueue {
  readonly #stream: Writable;
  readonly #drop: (reason: string) => void;
  readonly #clock: Clock;
  readonly #limits: WriteQueueLimits;
  readonly #spent: ((piece: Buffer) => void) | undefined;
  /** Most of what is ever sent: short texts of one tick with nothing before them, which go out as one string. */
  #short = '';
  #shortBytes = 0;
  /** All else, behind which everything waits. */
  #texts: (string | Buffer)[] = [];
  /** How many of them are gone: to shift a long list costs its length. */
  #gone = 0;
  /** Encoded, and taken in part. */
  #block: Buffer = NOTHING;
  /** What it is a part of, where that came as a piece. */
  #piece: Buffer = NOTHING;
  #queued = 0;
  /** Of these, what is written. */
  #untaken = 0;
  #isTurnBegun = false;
  #sentInTurn = 0;
  /** The last turn had one text. So has the next, most likely: it is written at once, and waits for no others. */
  #isAlone = true;
  /** Written since others had their turn. */
  #inTurn = 0;
  /** The largest text since nothing was queued. */
  #largest = 0;
  #state: 'empty' | 'writing' = 'empty';
  #closed = false;
  /** Known while it is watched: from when more than `softBytes` wait until it has taken them. */
  #takenAt = 0;
  #stallTimer: unknown;
  #emptied: (() => void)[] = [];

  constructor(
    stream: Writable,
    drop: (reason: string) => void,
    { clock = systemClock, limits = DEFAULT_LIMITS, spent }: WriteQueueOptions = {},
  ) {
    this.#stream = stream;
    this.#drop = drop;
    this.#clock = clock;
    this.#limits = limits;
    this.#spent = spent;
  }

  /** Bytes that the other side has not taken yet. */
  get queued(): number {
    return this.#queued;
  }

  send(text: Text): void {
    if (this.#closed) return;
    const bytes = sizeOf(text);
    this.#queued += bytes;
    this.#largest = Math.max(this.#largest, bytes);
    const { softBytes, hardBytes } = this.#limits;
    if (this.#queued - (this.#largest > hardBytes ? this.#largest : 0) > hardBytes) {
      this.#drop(`it left ${this.#queued} bytes unread`);
      return;
    }
    if (this.#queued > softBytes) this.#watchForStall();
    this.#add(text, bytes);
    this.#sentInTurn += 1;
    if (this.#hasEnough) this.#writeShort();
    if (this.#state === 'writing') return;
    this.#state = 'writing';
    // ends after the promises of this tick: what they answer goes out together
    this.#beginTurn();
    if (this.#isAlone && this.#short !== '') this.#writeShort();
  }

  /** Settles when everything was taken, or never will be. */
  emptied(): Promise<void> {
    if (this.#queued === 0 || this.#closed) return Promise.resolve();
    return new Promise((resolve) => this.#emptied.push(resolve));
  }

  close(): void {
    this.#closed = true;
    this.#forget();
    this.#takeShort();
    this.#block = NOTHING;
    this.#piece = NOTHING;
    this.#queued = 0;
    this.#unwatch();
    this.#tellEmptied();
  }

  #add(text: Text, bytes: number): void {
    const isFirst = this.#texts.length === 0;
    if (isFirst && typeof text === 'string' && this.#shortBytes + bytes <= SLICE_BYTES) {
      this.#short += text;
      this.#shortBytes += bytes;
      return;
    }
    if (isFirst && this.#short !== '') this.#texts.push(this.#takeShort());
    if (typeof text === 'string') this.#texts.push(text);
    else for (const piece of text) this.#texts.push(piece);
  }

  get #hasEnough(): boolean {
    return this.#shortBytes >= ENOUGH_BYTES && this.#untaken < SLICE_BYTES && this.#block.length === 0;
  }

  #takeShort(): string {
    const text = this.#short;
    this.#short = '';
    this.#shortBytes = 0;
    return text;
  }

  #beginTurn(): void {
    this.#isTurnBegun = true;
    setImmediate(this.#endTurn);
  }

  readonly #endTurn = (): void => {
    this.#isTurnBegun = false;
    this.#isAlone = this.#sentInTurn <= 1;
    this.#sentInTurn = 0;
    this.#inTurn = 0;
    if (this.#untaken === 0) this.#goOn();
  };

  /** When all that was written is taken. */
  #goOn(): void {
    if (this.#closed) return;
    if (this.#queued === 0) {
      this.#state = 'empty';
      this.#sentInTurn = 0;
      this.#largest = 0;
      // what comes next has its own time to be taken
      if (this.#stallTimer !== undefined) this.#unwatch();
      this.#tellEmptied();
    } else if (this.#block.length === 0 && this.#short !== '') this.#writeShort();
    else this.#writeSlice();
  }

  #writeShort(): void {
    const bytes = this.#shortBytes;
    const text = this.#takeShort();
    this.#untaken += bytes;
    this.#stream.write(text, encodingOf(text, bytes), () => this.#taken(bytes));
  }

  #writeSlice(): void {
    if (this.#block.length === 0) this.#block = this.#nextBlock();
    const slice = this.#block.subarray(0, SLICE_BYTES);
    this.#block = this.#block.subarray(slice.length);
    this.#untaken += slice.length;
    this.#stream.write(slice, () => this.#taken(slice.length));
  }

  /** A piece as it is, or all the texts up to the next piece. */
  #nextBlock(): Buffer {
    const from = this.#gone;
    const first = this.#texts[from];
    let to = from + 1;
    if (typeof first === 'string') while (typeof this.#texts[to] === 'string') to += 1;
    this.#piece = typeof first === 'string' ? NOTHING : (first ?? NOTHING);
    const block = typeof first === 'string' ? Buffer.from(this.#texts.slice(from, to).join('')) : this.#piece;
    // what was written is not held here until the rest is
    this.#texts.fill('', from, to);
    this.#gone = to;
    if (to === this.#texts.length) this.#forget();
    return block;
  }

  #taken(bytes: number): void {
    if (this.#closed) return;
    this.#queued -= bytes;
    this.#untaken -= bytes;
    if (this.#stallTimer !== undefined) this.#takenAt = this.#clock.now();
    if (this.#piece !== NOTHING && this.#block.length === 0) this.#letGo();
    if (this.#untaken > 0 || this.#isTurnBegun) return;
    this.#inTurn += bytes;
    if (this.#inTurn < TURN_BYTES) this.#goOn();
    else this.#beginTurn();
  }

  #letGo(): void {
    this.#spent?.(this.#piece);
    this.#piece = NOTHING;
  }

  #forget(): void {
    if (this.#texts.length > 0) this.#texts = [];
    this.#gone = 0;
  }

  #watchForStall(): void {
    if (this.#stallTimer !== undefined) return;
    this.#takenAt = this.#clock.now();
    this.#lookAgainIn(this.#limits.stallMs);
  }

  #unwatch(): void {
    this.#clock.clearTimeout(this.#stallTimer);
    this.#stallTimer = undefined;
  }

  #lookAgainIn(ms: number): void {
    this.#stallTimer = this.#clock.setTimeout(() => this.#lookForStall(), ms);
  }

  #lookForStall(): void {
    this.#stallTimer = undefined;
    if (this.#queued <= this.#limits.softBytes) return;
    const { stallMs } = this.#limits;
    const forMs = this.#clock.now() - this.#takenAt;
    if (forMs < stallMs) this.#lookAgainIn(stallMs - forMs);
    else this.#drop(`it left ${this.#queued} bytes unread and took none for ${Math.round(forMs)} ms`);
  }

  #tellEmptied(): void {
    const told = this.#emptied;
    this.#emptied = [];
    for (const tell of told) tell();
  }
}

/** Nearly everything is ASCII, and that is written faster as what it also is. */
function encodingOf(text: string, bytes: number): BufferEncoding {
  return bytes === text.length ? 'latin1' : 'utf8';
}

export function sizeOf(text: Text): number {
  return typeof text === 'string'
    ? Buffer.byteLength(text)
    : text.reduce((sum, { length }) => sum + length, 0);
}
