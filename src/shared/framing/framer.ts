import type { BufferPool } from './buffer-pool.js';

/**
 * Splits a byte stream into lines, towards servers and towards clients. Written by hand because it is hot and because a
 * mistake here breaks every call: a naive "join and split" is quadratic and was measured at half a minute for 50 MB.
 *
 * Each byte is read once. A line within one chunk is passed on without a copy; the pieces of a longer one are kept in a
 * list. They are joined at its newline, unless `long` takes the line in pieces: those are copied into blocks of the pool,
 * if there is one, so that their chunks can be freed at once. Of a line over the limit only the head and the tail are
 * kept, since one of them holds the id of the call that has to fail.
 */
export interface FramerEvents {
  line(bytes: Buffer): void;
  /** A line reaches `LONG_BYTES`. The result takes it in pieces; undefined: it will be a `line` like any other. */
  long?(): LongLine | undefined;
  /** A line exceeds the limit; called once, as soon as it does. */
  tooLong?(): void;
  /** The end of a line over the limit. */
  oversized?(line: OversizedLine): void;
}

/** Takes a line of more than `LONG_BYTES`. Without an `end` the line was over the limit, or the stream ended. */
export interface LongLine {
  /** Every byte in order, as it comes, including a carriage return before the newline. */
  push(piece: Buffer): void;
  /** The line is complete. Its last reader may release the pieces to the pool. */
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
/** From this size on it pays to neither join nor parse a line. */
export const LONG_BYTES = 16_384;
/** Smaller pieces are copied together: a list of one-byte chunks costs a hundred times its content. */
const SMALL_PIECE = 4096;
const LARGEST_BLOCK = 65_536;

export class Framer {
  readonly #maxBytes: number;
  readonly #events: FramerEvents;
  readonly #pool: BufferPool | undefined;
  #pieces: Buffer[] = [];
  #size = 0;
  /** Collects small pieces; the last element of the list while it is not full. */
  #block: Buffer | undefined;
  #blockUsed = 0;
  #blockSize = SMALL_PIECE;
  /** Takes the current line in pieces; null: the line is joined. Undefined while it is not long. */
  #long: LongLine | null | undefined;
  /** Set while a line over the limit is discarded. */
  #edges: Edges | undefined;

  constructor(maxBytes: number, events: FramerEvents, pool?: BufferPool) {
    this.#maxBytes = maxBytes;
    this.#events = events;
    this.#pool = pool;
  }

  /** Bytes of the line that has no newline yet. */
  get pending(): number {
    return this.#edges?.bytes ?? this.#size;
  }

  /** True where no part of the chunk is kept. */
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
    // an empty last piece would hide a carriage return in the piece before it
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

  /** True where the piece was copied, or discarded. */
  #hold(piece: Buffer): boolean {
    if (this.#edges !== undefined) {
      this.#edges.push(piece);
      return true;
    }
    this.#size += piece.length;
    const into = this.#long ? this.#pool : undefined;
    if (into === undefined) this.#keep(piece);
    else this.#copy(piece, into);
    // one byte more: the last one may be the carriage return of a line that just fits
    if (this.#size > this.#maxBytes + 1) this.#discardLine();
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

  #discardLine(): void {
    this.#closeBlock();
    this.#edges = new Edges(this.#pieces);
    if (this.#pool !== undefined) for (const piece of this.#pieces) this.#pool.release(piece);
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

/** All pieces as one buffer; without a copy where there is only one. */
export function joined(pieces: readonly Buffer[]): Buffer {
  const [only] = pieces;
  return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces);
}

function withoutLastByte(pieces: readonly Buffer[]): Buffer[] {
  return [...pieces.slice(0, -1), ...pieces.slice(-1).map((last) => last.subarray(0, -1))];
}

/** The first and the last bytes of a line, in constant memory however small its pieces are. */
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
