/**
 * Cuts a byte stream into lines. Written by hand because it is hot and because what goes wrong here goes wrong for
 * every call: a naive "join and split" is quadratic and was measured at half a minute for 50 MB.
 *
 * Each byte is looked at once. A line that lies within one chunk is handed on without a copy; the pieces of a longer
 * one are kept in a list and joined when its newline is there. A line over the cap is not kept: only its head and
 * its tail are, since one of them holds the id of the call that has to be told.
 */
export interface OversizedLine {
  bytes: number;
  head: Buffer;
  tail: Buffer;
}

export interface FramerEvents {
  line(bytes: Buffer): void;
  oversized(line: OversizedLine): void;
}

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
/** How much is kept of each end of an oversized line. */
export const EDGE_BYTES = 4096;
/** Smaller pieces are copied together: a list of one-byte chunks costs a hundred times its content. */
const SMALL_PIECE = 4096;
const LARGEST_BLOCK = 65_536;

export class Framer {
  readonly #maxBytes: number;
  readonly #events: FramerEvents;
  #pieces: Buffer[] = [];
  #size = 0;
  /** Collects small pieces; the last element of the list while it is not full. */
  #block: Buffer | undefined;
  #blockUsed = 0;
  #blockSize = SMALL_PIECE;
  /** Set while a line over the cap is thrown away. */
  #edges: Edges | undefined;

  constructor(maxBytes: number, events: FramerEvents) {
    this.#maxBytes = maxBytes;
    this.#events = events;
  }

  /** Bytes of the line that has no newline yet. */
  get pending(): number {
    return this.#edges?.bytes ?? this.#size;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, start);
      if (end === -1) break;
      this.#endLine(chunk.subarray(start, end));
      start = end + 1;
    }
    if (start < chunk.length) this.#hold(chunk.subarray(start));
  }

  #endLine(last: Buffer): void {
    if (this.#edges === undefined && this.#size === 0) {
      this.#emit(last);
      return;
    }
    this.#hold(last);
    const edges = this.#edges;
    const line = edges === undefined ? this.#join() : undefined;
    this.#reset();
    if (line !== undefined) this.#emit(line);
    if (edges !== undefined) this.#events.oversized(edges.line());
  }

  #emit(raw: Buffer): void {
    const line = raw[raw.length - 1] === CARRIAGE_RETURN ? raw.subarray(0, -1) : raw;
    if (line.length === 0) return;
    if (line.length > this.#maxBytes) this.#events.oversized(new Edges([line]).line());
    else this.#events.line(line);
  }

  #hold(piece: Buffer): void {
    if (this.#edges !== undefined) {
      this.#edges.push(piece);
      return;
    }
    this.#size += piece.length;
    this.#keep(piece);
    // one byte of grace: the last one may be the carriage return of a line that just fits
    if (this.#size > this.#maxBytes + 1) {
      this.#closeBlock();
      this.#edges = new Edges(this.#pieces);
      this.#drop();
    }
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

  #closeBlock(): void {
    if (this.#block !== undefined) this.#pieces.push(this.#block.subarray(0, this.#blockUsed));
    this.#block = undefined;
    this.#blockUsed = 0;
  }

  #join(): Buffer {
    this.#closeBlock();
    const [only] = this.#pieces;
    return this.#pieces.length === 1 && only !== undefined ? only : Buffer.concat(this.#pieces);
  }

  #drop(): void {
    this.#pieces = [];
    this.#size = 0;
    this.#block = undefined;
    this.#blockUsed = 0;
    this.#blockSize = SMALL_PIECE;
  }

  #reset(): void {
    this.#drop();
    this.#edges = undefined;
  }
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
