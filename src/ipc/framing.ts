/**
 * Cuts the bytes of a connection into lines. Each byte is scanned once; a line that lies within one chunk is handed on
 * without a copy. The parts of a longer one are copied into one buffer that doubles: to keep the chunks themselves
 * would hold 64 KiB for each of them, also for a client that sends a byte at a time.
 *
 * A line over the cap is told once, as soon as it is over, and thrown away up to its newline.
 */
export interface FramingEvents {
  /** Valid until the call returns. */
  line(bytes: Buffer): void;
  tooLong(): void;
}

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const FIRST_BUFFER = 4096;
const NOTHING = Buffer.alloc(0);

export class Framing {
  readonly #maxBytes: number;
  readonly #events: FramingEvents;
  #held: Buffer = NOTHING;
  #used = 0;
  #discarding = false;

  constructor(maxBytes: number, events: FramingEvents) {
    this.#maxBytes = maxBytes;
    this.#events = events;
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
    if (this.#used > 0) this.#hold(last);
    if (this.#discarding) {
      this.#discarding = false;
      return;
    }
    const line = this.#used > 0 ? this.#held.subarray(0, this.#used) : last;
    this.#forget();
    this.#emit(line);
  }

  #emit(raw: Buffer): void {
    const line = raw.at(-1) === CARRIAGE_RETURN ? raw.subarray(0, -1) : raw;
    if (line.length > this.#maxBytes) this.#events.tooLong();
    else if (line.length > 0) this.#events.line(line);
  }

  #hold(piece: Buffer): void {
    if (this.#discarding) return;
    const size = this.#used + piece.length;
    // one byte of grace: the last one may be the carriage return of a line that just fits
    if (size > this.#maxBytes + 1) {
      this.#forget();
      this.#discarding = true;
      this.#events.tooLong();
      return;
    }
    if (size > this.#held.length) this.#grow(size);
    piece.copy(this.#held, this.#used);
    this.#used = size;
  }

  #grow(size: number): void {
    const grown = Buffer.allocUnsafeSlow(Math.max(size, this.#held.length * 2, FIRST_BUFFER));
    this.#held.copy(grown, 0, 0, this.#used);
    this.#held = grown;
  }

  #forget(): void {
    this.#held = NOTHING;
    this.#used = 0;
  }
}
