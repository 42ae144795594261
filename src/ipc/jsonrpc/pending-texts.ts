/** One string, or the pieces in which a large result arrived. */
export type Text = string | readonly Buffer[];

/** Up to this size short texts are joined. */
const SHORT_BYTES = 65_536;

/** Texts that wait to be written, in their order. */
export class PendingTexts {
  /** Short texts with nothing before them, which are nearly all there ever are. They are written as one string. */
  #short = '';
  #shortBytes = 0;
  /** All texts since the first one that is not short, or is in pieces. */
  #rest: (string | Buffer)[] = [];
  /** How many entries of `#rest` were taken: to shift a long array costs its length. */
  #taken = 0;

  get shortBytes(): number {
    return this.#shortBytes;
  }

  /** `bytes`: the size of the text. */
  add(text: Text, bytes: number): void {
    const isFirst = this.#rest.length === 0;
    if (isFirst && typeof text === 'string' && this.#shortBytes + bytes <= SHORT_BYTES) {
      this.#short += text;
      this.#shortBytes += bytes;
      return;
    }
    if (isFirst && this.#short !== '') this.#rest.push(this.takeShort());
    if (typeof text === 'string') this.#rest.push(text);
    else for (const piece of text) this.#rest.push(piece);
  }

  takeShort(): string {
    const text = this.#short;
    this.#short = '';
    this.#shortBytes = 0;
    return text;
  }

  /** All texts up to the next piece, joined; or one piece, which is not copied. */
  takeNext(): string | Buffer {
    const from = this.#taken;
    const first = this.#rest[from]!;
    let to = from + 1;
    if (typeof first === 'string') while (typeof this.#rest[to] === 'string') to += 1;
    const next = typeof first === 'string' ? this.#rest.slice(from, to).join('') : first;
    // so that the memory of a written text can be freed before the rest is written
    this.#rest.fill('', from, to);
    this.#taken = to;
    if (to === this.#rest.length) this.#forgetRest();
    return next;
  }

  clear(): void {
    this.takeShort();
    this.#forgetRest();
  }

  #forgetRest(): void {
    if (this.#rest.length > 0) this.#rest = [];
    this.#taken = 0;
  }
}

export function sizeOf(text: Text): number {
  return typeof text === 'string'
    ? Buffer.byteLength(text)
    : text.reduce((sum, { length }) => sum + length, 0);
}
