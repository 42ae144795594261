import type { Writable } from 'node:stream';
import { type Clock, systemClock } from '../../shared/clock.js';
import { EARLY_WRITE_SIZE, TurnBatcher, writeEncoding } from '../../shared/turn-batcher.js';
import { PendingTexts, sizeOf, type Text } from './pending-texts.js';

/**
 * A client that does not read is dropped when more than `softBytes` are queued and it took nothing for `stallMs`, or when
 * more than `hardBytes` are queued. Less may stay queued for ever: a client that a debugger has stopped is not at fault.
 * A text that alone is larger than `hardBytes` was requested, and its server's config allows it: one such text does not
 * count.
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
  /** Called with each piece that the other side has taken. The queue does not read it again. */
  spent?: ((piece: Buffer) => void) | undefined;
}

/** Small, so that a slow client is seen to take bytes; large enough that a slice costs nothing beside its bytes. */
const SLICE_BYTES = 65_536;
/** Without this limit a large text to a fast client would be written in one turn of the event loop. */
const TURN_BYTES = 4 * SLICE_BYTES;
const NOTHING = Buffer.alloc(0);
const endOfTurn = (end: () => void): void => void setImmediate(end);

/**
 * The texts that wait to be written to one connection. The texts of one turn become one write (see `TurnBatcher`). A
 * large text is written in slices, each after the other side took the last one: so the queue sees when a client stops
 * reading, and knows how many bytes it holds for it.
 */
export class WriteQueue {
  readonly #stream: Writable;
  readonly #drop: (reason: string) => void;
  readonly #limits: WriteQueueLimits;
  readonly #spent: ((piece: Buffer) => void) | undefined;
  readonly #pending = new PendingTexts();
  readonly #turn = new TurnBatcher(endOfTurn, () => this.#endTurn());
  readonly #stall: StallWatch;
  #state: 'empty' | 'writing' | 'closed' = 'empty';
  /** What is left of the text or piece that is written in slices. */
  #block: Buffer = NOTHING;
  /** The whole of it, if it is a piece. */
  #piece: Buffer = NOTHING;
  /** Bytes that the other side has not taken. */
  #queued = 0;
  /** Those of them that are written to the stream. */
  #untaken = 0;
  /** Bytes that were taken since the event loop last served others. */
  #takenInTurn = 0;
  /** The size of the largest text since nothing was queued. */
  #largest = 0;
  #emptied: (() => void)[] = [];

  constructor(
    stream: Writable,
    drop: (reason: string) => void,
    { clock = systemClock, limits = DEFAULT_LIMITS, spent }: WriteQueueOptions = {},
  ) {
    this.#stream = stream;
    this.#drop = drop;
    this.#limits = limits;
    this.#spent = spent;
    this.#stall = new StallWatch(clock, limits.stallMs, {
      isNeeded: () => this.#queued > limits.softBytes,
      stalled: (forMs) =>
        drop(`it left ${this.#queued} bytes unread and took none for ${Math.round(forMs)} ms`),
    });
  }

  /** Bytes that the other side has not taken. */
  get queued(): number {
    return this.#queued;
  }

  send(text: Text): void {
    if (this.#state === 'closed') return;
    const bytes = sizeOf(text);
    this.#queued += bytes;
    this.#largest = Math.max(this.#largest, bytes);
    const { softBytes, hardBytes } = this.#limits;
    if (this.#queued - (this.#largest > hardBytes ? this.#largest : 0) > hardBytes) {
      this.#drop(`it left ${this.#queued} bytes unread`);
      return;
    }
    if (this.#queued > softBytes) this.#stall.begin();
    this.#pending.add(text, bytes);
    this.#turn.countText();
    if (this.#hasEnough) this.#writeShort();
    if (this.#state === 'writing') return;
    this.#state = 'writing';
    // the turn ends after the promises of this tick: their replies are written together
    this.#turn.begin();
    if (this.#turn.writesFirstAtOnce && this.#pending.shortBytes > 0) this.#writeShort();
  }

  /** Resolves when the other side took everything, or the queue was closed. */
  emptied(): Promise<void> {
    if (this.#queued === 0 || this.#state === 'closed') return Promise.resolve();
    return new Promise((resolve) => this.#emptied.push(resolve));
  }

  close(): void {
    this.#state = 'closed';
    this.#pending.clear();
    this.#block = NOTHING;
    this.#piece = NOTHING;
    this.#queued = 0;
    this.#stall.end();
    this.#resolveEmptied();
  }

  get #hasEnough(): boolean {
    return (
      this.#pending.shortBytes >= EARLY_WRITE_SIZE && this.#untaken < SLICE_BYTES && this.#block.length === 0
    );
  }

  #endTurn(): void {
    this.#takenInTurn = 0;
    if (this.#untaken === 0) this.#writeNext();
  }

  /** Called when everything that was written has been taken. */
  #writeNext(): void {
    if (this.#state === 'closed') return;
    if (this.#queued === 0) {
      this.#state = 'empty';
      this.#turn.forgetCount();
      this.#largest = 0;
      // the next text has the whole `stallMs` again
      this.#stall.end();
      this.#resolveEmptied();
    } else if (this.#block.length === 0 && this.#pending.shortBytes > 0) this.#writeShort();
    else this.#writeSlice();
  }

  #writeShort(): void {
    const bytes = this.#pending.shortBytes;
    const text = this.#pending.takeShort();
    this.#untaken += bytes;
    this.#stream.write(text, writeEncoding(text, bytes), () => this.#taken(bytes));
  }

  #writeSlice(): void {
    if (this.#block.length === 0) this.#beginBlock(this.#pending.takeNext());
    const slice = this.#block.subarray(0, SLICE_BYTES);
    this.#block = this.#block.subarray(slice.length);
    this.#untaken += slice.length;
    this.#stream.write(slice, () => this.#taken(slice.length));
  }

  #beginBlock(next: string | Buffer): void {
    this.#piece = typeof next === 'string' ? NOTHING : next;
    this.#block = typeof next === 'string' ? Buffer.from(next) : next;
  }

  #taken(bytes: number): void {
    if (this.#state === 'closed') return;
    this.#queued -= bytes;
    this.#untaken -= bytes;
    this.#stall.taken();
    if (this.#piece !== NOTHING && this.#block.length === 0) this.#releasePiece();
    if (this.#untaken > 0 || this.#turn.isRunning) return;
    this.#takenInTurn += bytes;
    if (this.#takenInTurn < TURN_BYTES) this.#writeNext();
    else this.#turn.begin();
  }

  #releasePiece(): void {
    this.#spent?.(this.#piece);
    this.#piece = NOTHING;
  }

  #resolveEmptied(): void {
    const waiting = this.#emptied;
    this.#emptied = [];
    for (const resolve of waiting) resolve();
  }
}

interface StallWatchOptions {
  /** Whether enough is queued to watch the other side. */
  isNeeded(): boolean;
  /** The other side took nothing for so long. */
  stalled(forMs: number): void;
}

/** Finds out when the other side has taken nothing for `stallMs`. */
class StallWatch {
  readonly #clock: Clock;
  readonly #stallMs: number;
  readonly #options: StallWatchOptions;
  #takenAt = 0;
  /** Undefined while nothing is watched. */
  #timer: unknown;

  constructor(clock: Clock, stallMs: number, options: StallWatchOptions) {
    this.#clock = clock;
    this.#stallMs = stallMs;
    this.#options = options;
  }

  /** Does nothing where the watch has begun. */
  begin(): void {
    if (this.#timer !== undefined) return;
    this.#takenAt = this.#clock.now();
    this.#checkIn(this.#stallMs);
  }

  /** The other side took something. */
  taken(): void {
    if (this.#timer !== undefined) this.#takenAt = this.#clock.now();
  }

  end(): void {
    if (this.#timer === undefined) return;
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #checkIn(ms: number): void {
    this.#timer = this.#clock.setTimeout(() => this.#check(), ms);
  }

  #check(): void {
    this.#timer = undefined;
    if (!this.#options.isNeeded()) return;
    const forMs = this.#clock.now() - this.#takenAt;
    if (forMs < this.#stallMs) this.#checkIn(this.#stallMs - forMs);
    else this.#options.stalled(forMs);
  }
}
