import type { Clock } from '../../shared/clock.js';

/** Enough for the error output of npm, Node and Python, and the most that a server which floods its stderr costs. */
const KEPT_BYTES = 16_384;
/** Small chunks within this time are joined: a server may write byte by byte. */
const TOGETHER_MS = 100;
const TOGETHER_BYTES = 1024;
const NEWLINE = 0x0a;

interface Piece {
  at: number;
  bytes: Buffer;
}

/** The end of the output of a process. Its last lines often say why it exited. */
export class OutputTail {
  readonly #clock: Clock;
  #pieces: Piece[] = [];
  #size = 0;
  #isCut = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  push(chunk: Buffer): void {
    const at = this.#clock.now();
    const kept = chunk.subarray(-KEPT_BYTES);
    this.#isCut ||= kept.length < chunk.length;
    const last = this.#pieces.at(-1);
    if (last !== undefined && at - last.at < TOGETHER_MS && last.bytes.length < TOGETHER_BYTES) {
      last.bytes = Buffer.concat([last.bytes, kept]);
    }
    // copied, so that a short line does not keep a whole chunk in memory
    else this.#pieces.push({ at, bytes: Buffer.from(kept) });
    this.#size += kept.length;
    this.#dropOldest();
  }

  clear(): void {
    this.#pieces = [];
    this.#size = 0;
    this.#isCut = false;
  }

  /**
   * The lines that were written or ended since this time. Whole lines only: half a line could begin in the middle of a
   * secret, which then would not be recognised.
   */
  textSince(time: number): string {
    const first = this.#pieces.findIndex(({ at }) => at >= time);
    if (first === -1) return '';
    const sizeOf = (pieces: readonly Piece[]) => pieces.reduce((sum, { bytes }) => sum + bytes.length, 0);
    const tail = Buffer.concat(this.#pieces.map(({ bytes }) => bytes)).subarray(-KEPT_BYTES);
    const start = tail.length - sizeOf(this.#pieces.slice(first));
    const lineStart = start > 0 ? tail.lastIndexOf(NEWLINE, start - 1) + 1 : 0;
    if (lineStart > 0 || (!this.#isCut && tail.length === this.#size)) {
      return tail.subarray(lineStart).toString('utf8');
    }
    const newline = tail.indexOf(NEWLINE);
    return newline === -1 ? '' : tail.subarray(newline + 1).toString('utf8');
  }

  #dropOldest(): void {
    for (;;) {
      const size = this.#pieces[0]?.bytes.length ?? 0;
      if (this.#size - size < KEPT_BYTES) return;
      this.#pieces.shift();
      this.#size -= size;
      this.#isCut = true;
    }
  }
}
