import type { BufferPool } from './buffer-pool.js';

/**
 * Cuts a byte stream into lines, for both sides of the daemon. Written by hand because it is hot and because what goes
 * wrong here goes wrong for every call: a naive "join and split" is quadratic and was measured at half a minute for
 * 50 MB.
 *
 * Each byte is looked at once. A line that lies within one chunk is handed on without a copy; the pieces of a longer
 * one are kept in a list. They are joined when its newline is there, unless somebody takes long lines as they are: those
 * are copied into blocks where there are any, so that what they came in can be freed at once. A line over the cap is not
 * kept: only its head and its tail are, since one of them holds the id of the call that has to be told.
 */
export interface FramerEvents {
  line(bytes: Buffer): void;
  /** A line is getting long. Whoever is named here takes it in pieces; otherwise it will be a `line` like any other. */
  long?(): LongLine | undefined;
  /** A line is over the cap: told once, as soon as it is. */
  tooLong?(): void;
  /** The end of a line that was over the cap. */
  oversized?(line: OversizedLine): void;
}

/** Takes a line of more than `LONG_BYTES`. What is not ended was over the cap, or the stream came to its end. */
export interface LongLine {
  /** Every byte of it in order, as it comes; a carriage return in front of the newline is among them. */
  push(piece: Buffer): void;
  /** It is whole. The pieces may be given back to the blocks when nobody looks at them any more. */
  end(pieces: readonly Buffer[]): void;
}

export interface OversizedLine {
  bytes: number;
  head: Buffer;
  tail: Buffer;
}

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
/** How much is kept of each end of an oversized line. */
export const EDGE_BYTES = 4096;
/** From here on it pays to spare a line the joining and the parsing. */
export const LONG_BYTES = 16_384;
/** Smaller pieces are copied together: a list of one-byte chunks costs a hundred times its content. */
const SMALL_PIECE = 4096;
const LARGEST_BLOCK = 65_536;

export class Framer {
  readonly #maxBytes: number;
  readonly #events: FramerEvents;
  readonly #blocks: BufferPool | undefined;
  #pieces: Buffer[] = [];
  #size = 0;
  /** Collects small pieces; the last element of the list while it is not full. */
  #block: Buffer | undefined;
  #blockUsed = 0;
  #blockSize = SMALL_PIECE;
  /** Who takes the present line in pieces; null: nobody. Undefined while it is not long. */
  #long: LongLine | null | undefined;
  /** Set while a line over the cap is thrown away. */
  #edges: Edges | undefined;

  constructor(maxBytes: number, events: FramerEvents, blocks?: BufferPool) {
    this.#maxBytes = maxBytes;
    this.#events = events;
    this.#blocks = blocks;
  }

  /** Bytes of the line that has no newline yet. */
  get pending(): number {
    return this.#edges?.bytes ?? this.#size;
  }

  /** True where nothing of the chunk is needed any more. */
  push(chunk: Buffer): boolean {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, start);
      if (end === -1) break;
      if (this.#size === 0 && this.#edges === undefined && end - start <= this.#maxBytes) {
        const last = chunk[end - 1] === CARRIAGE_RETURN ? end - 1 : end;
        if (last > start) this.#events.line(chunk.subarray(start, last));
      } else this.#endLine(chunk.subarray(start, end));
      start = end + 1;
    }
    if (start === 0) return this.#hold(chunk);
    if (start < chunk.length) this.#hold(chunk.subarray(start));
    return false;
  }

  #endLine(last: Buffer): void {
    // an empty piece would stand behind the carriage return that is looked for
    if (last.length > 0) this.#hold(last);
    this.#closeBlock();
    const [pieces, size, long, edges] = [this.#pieces, this.#size, this.#long, this.#edges];
    this.#drop();
    this.#edges = undefined;
    if (edges === undefined) this.#emit(pieces, size, long ?? null);
    else this.#events.oversized?.(edges.line());
  }

  #emit(raw: readonly Buffer[], rawSize: number, long: LongLine | null): void {
    const hasReturn = raw.at(-1)?.at(-1) === CARRIAGE_RETURN;
    const pieces = hasReturn ? withoutLastByte(raw) : raw;
    const size = hasReturn ? rawSize - 1 : rawSize;
    if (size === 0) return;
    if (size > this.#maxBytes) {
      this.#events.tooLong?.();
      this.#events.oversized?.(new Edges(raw).line());
    } else if (long !== null) long.end(pieces);
    else this.#events.line(joined(pieces));
  }

  /** True where the piece itself is not held. */
  #hold(piece: Buffer): boolean {
    if (this.#edges !== undefined) {
      this.#edges.push(piece);
      return true;
    }
    this.#size += piece.length;
    const into = this.#long ? this.#blocks : undefined;
    if (into === undefined) this.#keep(piece);
    else this.#copy(piece, into);
    // one byte of grace: the last one may be the carriage return of a line that just fits
    if (this.#size > this.#maxBytes + 1) this.#giveUp();
    else if (this.#long !== undefined) this.#long?.push(piece);
    else if (this.#size >= LONG_BYTES) this.#beginLong();
    return into !== undefined;
  }

  #beginLong(): void {
    this.#long = this.#events.long?.() ?? null;
    if (this.#long === null) return;
    this.#closeBlock();
    for (const piece of this.#pieces) this.#long.push(piece);
  }

  #giveUp(): void {
    this.#closeBlock();
    this.#edges = new Edges(this.#pieces);
    if (this.#blocks !== undefined) for (const piece of this.#pieces) this.#blocks.release(piece);
    this.#drop();
    this.#events.tooLong?.();
  }

  #keep(piece: Buffer): void {
    if (piece.length >= SMALL_PIECE) {
      this.#closeBlock();
      this.#pieces.push(piece);
      return;
    }
    if (this.#block !== undefined && this.#blockUsed + piece.length > this.#block.length) this.#closeBlock();
    if (this.#block === undefined) {
      this.#block = Buffer.allocUnsafeSlow(Math.max(this.#blockSize, piece.length));
      this.#blockSize = Math.min(this.#blockSize * 2, LARGEST_BLOCK);
    }
    piece.copy(this.#block, this.#blockUsed);
    this.#blockUsed += piece.length;
  }

  #copy(piece: Buffer, into: BufferPool): void {
    for (let at = 0; at < piece.length; ) {
      if (this.#blockUsed === this.#block?.length) this.#closeBlock();
      this.#block ??= into.lend();
      const copied = piece.copy(this.#block, this.#blockUsed, at);
      this.#blockUsed += copied;
      at += copied;
    }
  }

  #closeBlock(): void {
    if (this.#block !== undefined) this.#pieces.push(this.#block.subarray(0, this.#blockUsed));
    this.#block = undefined;
    this.#blockUsed = 0;
  }

  #drop(): void {
    this.#pieces = [];
    this.#size = 0;
    this.#block = undefined;
    this.#blockUsed = 0;
    this.#blockSize = SMALL_PIECE;
    this.#long = undefined;
  }
}

/** One buffer of several; the same where there is one only. */
export function joined(pieces: readonly Buffer[]): Buffer {
  const [only] = pieces;
  return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces);
}

function withoutLastByte(pieces: readonly Buffer[]): Buffer[] {
  return [...pieces.slice(0, -1), ...pieces.slice(-1).map((last) => last.subarray(0, -1))];
}

/** The first and the last bytes of what passes through, in flat memory however small the pieces are. */
class Edges {
  readonly #head = Buffer.alloc(EDGE_BYTES);
  #headUsed = 0;
  readonly #tail = Buffer.alloc(EDGE_BYTES * 2);
  #tailUsed = 0;
  bytes = 0;

  constructor(pieces: readonly Buffer[]) {
    for (const piece of pieces) this.push(piece);
  }

  push(piece: Buffer): void {
    this.bytes += piece.length;
    if (this.#headUsed < EDGE_BYTES) this.#headUsed += piece.copy(this.#head, this.#headUsed);
    const end = piece.subarray(-EDGE_BYTES);
    if (this.#tailUsed + end.length > this.#tail.length) {
      this.#tail.copyWithin(0, this.#tailUsed - EDGE_BYTES, this.#tailUsed);
      this.#tailUsed = EDGE_BYTES;
    }
    this.#tailUsed += end.copy(this.#tail, this.#tailUsed);
  }

  line(): OversizedLine {
    const cr = this.#tail[this.#tailUsed - 1] === CARRIAGE_RETURN ? 1 : 0;
    const bytes = this.bytes - cr;
    const end = this.#tailUsed - cr;
    const head = this.#head.subarray(0, Math.min(bytes, this.#headUsed));
    return { bytes, head, tail: this.#tail.subarray(Math.max(0, end - EDGE_BYTES), end) };
  }
}
