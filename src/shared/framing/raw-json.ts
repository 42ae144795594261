import { joined } from './framer.js';

/**
 * A JSON value as the bytes it came in: known to be sound, valid UTF-8 and without a line break, and never looked into
 * on its way. Whoever does not know of such values and writes one as JSON writes the right thing, only slower. Once a
 * client has taken it its memory is used for other lines (`Blocks`), so it is to be looked at before it is written.
 */
export class RawJson {
  readonly pieces: readonly Buffer[];

  constructor(pieces: readonly Buffer[]) {
    this.pieces = pieces;
  }

  get bytes(): number {
    return this.pieces.reduce((sum, { length }) => sum + length, 0);
  }

  parse(): Record<string, unknown> {
    return JSON.parse(joined(this.pieces).toString('utf8')) as Record<string, unknown>;
  }

  toJSON(): unknown {
    return this.parse();
  }
}

/** The bytes from `start` to `end` of what lies in these pieces. Nothing is copied. */
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
