import { isUtf8 } from 'node:buffer';

const NOTHING = Buffer.alloc(0);

/** Whether bytes in pieces are valid UTF-8. A piece may end inside a character. */
export class Utf8Check {
  #isValid = true;
  /** The beginning of a character whose end is in the next piece. */
  #begun: Buffer = NOTHING;

  get isValid(): boolean {
    return this.#isValid;
  }

  push(piece: Buffer): void {
    if (!this.#isValid) return;
    const start = this.#begun.length === 0 ? 0 : this.#complete(piece);
    const end = Math.max(start, piece.length - begunBytes(piece));
    if (start < end) this.#isValid &&= isUtf8(piece.subarray(start, end));
    // copied, since the memory of a piece may be reused afterwards
    if (end < piece.length) this.#begun = Buffer.from(piece.subarray(end));
  }

  end(): boolean {
    return this.#isValid && this.#begun.length === 0;
  }

  /** How many bytes of the piece belong to the character that the last piece began. */
  #complete(piece: Buffer): number {
    const missing = lengthOf(this.#begun[0]!) - this.#begun.length;
    const rest = piece.subarray(0, missing);
    this.#begun = Buffer.concat([this.#begun, rest]);
    if (rest.length === missing) {
      this.#isValid = isUtf8(this.#begun);
      this.#begun = NOTHING;
    }
    return rest.length;
  }
}

/** How many of the last bytes begin a character that is incomplete. */
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
