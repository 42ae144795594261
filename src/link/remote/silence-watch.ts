import type { Clock } from '../../shared/clock.js';

/** One timer for any number of chunks: it looks at the time when it fires. */
export class SilenceWatch {
  readonly #clock: Clock;
  readonly #ms: number;
  readonly #tooLong: () => void;
  #heardAt: number;
  #timer: unknown;

  constructor(clock: Clock, ms: number, tooLong: () => void) {
    this.#clock = clock;
    this.#ms = ms;
    this.#tooLong = tooLong;
    this.#heardAt = clock.now();
    this.#arm(ms);
  }

  heard(): void {
    this.#heardAt = this.#clock.now();
  }

  stop(): void {
    this.#clock.clearTimeout(this.#timer);
  }

  #arm(ms: number): void {
    this.#timer = this.#clock.setTimeout(() => {
      const left = this.#heardAt + this.#ms - this.#clock.now();
      if (left > 0) this.#arm(left);
      else this.#tooLong();
    }, ms);
  }
}
