/**
 * From this size on, texts are written before the end of the turn: the reader begins with them while the rest of the
 * turn is still computed here.
 */
export const EARLY_WRITE_SIZE = 4096;

/**
 * Decides whether texts are written one by one or together. Texts of one turn are written together at its end, which
 * costs one system call for all of them. After a turn with a single text the next turn most likely has a single one too,
 * so its first text is written at once and does not wait for the end.
 */
export class TurnBatcher {
  readonly #schedule: (end: () => void) => void;
  readonly #ended: () => void;
  #texts = 0;
  #hadSingleText = true;
  #isRunning = false;

  /** `schedule` says where a turn ends: `process.nextTick`, `setImmediate`. `ended` writes what is left. */
  constructor(schedule: (end: () => void) => void, ended: () => void) {
    this.#schedule = schedule;
    this.#ended = ended;
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Whether the first text of a turn is written at once. */
  get writesFirstAtOnce(): boolean {
    return this.#hadSingleText;
  }

  countText(): void {
    this.#texts += 1;
  }

  /** Texts that were counted outside of a turn say nothing about the next one. */
  forgetCount(): void {
    this.#texts = 0;
  }

  begin(): void {
    this.#isRunning = true;
    this.#schedule(this.#end);
  }

  readonly #end = (): void => {
    this.#isRunning = false;
    this.#hadSingleText = this.#texts <= 1;
    this.#texts = 0;
    this.#ended();
  };
}

/** ASCII is written as latin1, which is faster. `bytes`: the length of the text in UTF-8. */
export function writeEncoding(text: string, bytes: number): BufferEncoding {
  return bytes === text.length ? 'latin1' : 'utf8';
}
