import { isUtf8 } from 'node:buffer';

const NOTHING = Buffer.alloc(0);

/** Whether bytes that come in pieces are valid UTF-8. A character may be cut anywhere. */
export class Utf8Check {
  #isSound = true;
  /** The beginning of a character whose end is in the next piece. */
  #begun: Buffer = NOTHING;

  get isSound(): boolean {
    return this.#isSound;
  }

  push(piece: Buffer): void {
    if (!this.#isSound) return;
    const start = this.#begun.length === 0 ? 0 : this.#complete(piece);
    const end = Math.max(start, piece.length - begunBytes(piece));
    if (start < end) this.#isSound &&= isUtf8(piece.subarray(start, end));
    // copied, since a piece may be changed when it was looked at
    if (end < piece.length) this.#begun = Buffer.from(piece.subarray(end));
  }

  end(): boolean {
    return this.#isSound && this.#begun.length === 0;
  }

  /** How many bytes of the piece belong to the character that has begun. */
  #complete(piece: Buffer): number {
    const missing = lengthOf(this.#begun[0]!) - this.#begun.length;
    const rest = piece.subarray(0, missing);
    this.#begun = Buffer.concat([this.#begun, rest]);
    if (rest.length === missing) {
      this.#isSound = isUtf8(this.#begun);
      this.#begun = NOTHING;
    }
    return rest.length;
  }
}

/** How many of the last bytes are the beginning of a character that is not whole. */
function begunBytes(piece: Buffer): number {
  for (let back = 1; back <= Math.min(3, piece.length); back += 1) {
    const byte = piece[piece.length - back]!;
    if (byte >= 0xc0) return lengthOf(byte) > back ? back : 0;
    if (byte < 0x80) return 0;
  }
  return 0;
}

function lengthOf(lead: number): number {
  if (lead >= 0xf0) return 4;
  return lead >= 0xe0 ? 3 : 2;
}
