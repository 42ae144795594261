import { type Loan, loanOf } from './buffer-pool.js';
import { joined } from './framer.js';

/**
 * A JSON value as the bytes in which it came: checked to be valid JSON and UTF-8 without a line break, never parsed on
 * its way. JSON.stringify writes it correctly too, only slower. Once a client has received it, its memory is reused for
 * other lines (`BufferPool`): every read after that throws, since it would return the bytes of another message.
 */
export class RawJson {
  readonly bytes: number;
  readonly #pieces: readonly Buffer[];
  readonly #loans: readonly Loan[];

  constructor(pieces: readonly Buffer[]) {
    this.#pieces = pieces;
    this.#loans = pieces.flatMap((piece) => loanOf(piece) ?? []);
    this.bytes = pieces.reduce((sum, { length }) => sum + length, 0);
  }

  get pieces(): readonly Buffer[] {
    if (this.#loans.some(({ isReleased }) => isReleased)) {
      throw new Error('a result was read after its memory had been released');
    }
    return this.#pieces;
  }

  parse(): Record<string, unknown> {
    return JSON.parse(joined(this.pieces).toString('utf8')) as Record<string, unknown>;
  }

  toJSON(): unknown {
    return this.parse();
  }
}

/** The bytes from `start` to `end` of these pieces, without a copy. */
export function cut(pieces: readonly Buffer[], start: number, end: number): Buffer[] {
  const found: Buffer[] = [];
  let at = 0;
  for (const piece of pieces) {
    const part = piece.subarray(Math.max(0, start - at), Math.max(0, end - at));
    if (part.length > 0) found.push(part);
    at += piece.length;
    if (at >= end) break;
  }
  return found;
}
