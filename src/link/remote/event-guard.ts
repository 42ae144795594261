import { EDGE_BYTES, type OversizedLine } from '../../shared/framing/framer.js';

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
/** The rest of an event besides its message: its id, its name, the names of its fields. */
const FIELDS_BYTES = 1024;
const NOTHING = Buffer.alloc(0);
/** Ends the current line and gives the event a name that no listener has. */
const DISCARD = Buffer.from('\nevent: oversized\n');

/**
 * Filters the input of a parser of server-sent events, which would keep an event of any size. An event over the limit is
 * cut and made invalid; those before and after it pass unchanged. Its two ends are kept, since one of them holds the id
 * of the call that has to fail.
 */
export class EventGuard {
  readonly #maxBytes: number;
  readonly #oversized: (event: OversizedLine) => void;
  #lineBytes = 0;
  /** A line feed now belongs to the end of the previous line. */
  #afterReturn = false;
  #eventBytes = 0;
  #head: Buffer[] = [];
  #headBytes = 0;
  #tail: Buffer | undefined;

  constructor(maxMessageBytes: number, oversized: (event: OversizedLine) => void) {
    this.#maxBytes = maxMessageBytes + FIELDS_BYTES;
    this.#oversized = oversized;
  }

  /** The parts of this chunk that the parser may read. */
  pass(chunk: Buffer): Buffer[] {
    const passed: Buffer[] = [];
    let newline = -1;
    let carriageReturn = -1;
    for (let start = 0; start < chunk.length; ) {
      if (newline < start) newline = indexOf(chunk, NEWLINE, start);
      if (carriageReturn < start) carriageReturn = indexOf(chunk, CARRIAGE_RETURN, start);
      const lineEnd = Math.min(newline, carriageReturn);
      const end = Math.min(lineEnd + 1, chunk.length);
      this.#read(chunk.subarray(start, end), lineEnd < chunk.length, passed);
      start = end;
    }
    return passed;
  }

  #read(piece: Buffer, endsLine: boolean, passed: Buffer[]): void {
    const isSecondHalf = this.#afterReturn && piece[0] === NEWLINE;
    this.#afterReturn = endsLine && piece.at(-1) === CARRIAGE_RETURN;
    if (isSecondHalf) {
      if (this.#tail === undefined) passed.push(piece);
      return;
    }
    this.#lineBytes += piece.length;
    if (endsLine && this.#lineBytes === 1) {
      passed.push(piece);
      this.#endEvent();
    } else this.#take(piece, passed);
    if (endsLine) this.#lineBytes = 0;
  }

  #take(piece: Buffer, passed: Buffer[]): void {
    this.#eventBytes += piece.length;
    if (this.#headBytes < EDGE_BYTES) {
      this.#head.push(piece.subarray(0, EDGE_BYTES - this.#headBytes));
      this.#headBytes += piece.length;
    }
    if (this.#tail === undefined && this.#eventBytes <= this.#maxBytes) passed.push(piece);
    else {
      if (this.#tail === undefined) passed.push(DISCARD);
      this.#tail = Buffer.concat([this.#tail ?? NOTHING, piece.subarray(-EDGE_BYTES)]).subarray(-EDGE_BYTES);
    }
  }

  #endEvent(): void {
    const tail = this.#tail;
    const event = { bytes: this.#eventBytes, head: Buffer.concat(this.#head) };
    this.#eventBytes = 0;
    this.#head = [];
    this.#headBytes = 0;
    this.#tail = undefined;
    if (tail !== undefined) this.#oversized({ ...event, tail });
  }
}

/** The length of the chunk where there is none. */
function indexOf(chunk: Buffer, byte: number, start: number): number {
  const at = chunk.indexOf(byte, start);
  return at === -1 ? chunk.length : at;
}
