import type { Clock } from '../../shared/clock.js';

/** Calls `tooLong` after `ms` without a chunk. One timer for any number of chunks: it checks the time when it fires. */
export class SilenceWatch {
  readonly #clock: Clock;
  readonly #ms: number;
  readonly #tooLong: () => void;
  #receivedAt: number;
  #timer: unknown;

  constructor(clock: Clock, ms: number, tooLong: () => void) {
    this.#clock = clock;
    this.#ms = ms;
    this.#tooLong = tooLong;
    this.#receivedAt = clock.now();
    this.#arm(ms);
  }

  received(): void {
    this.#receivedAt = this.#clock.now();
  }

  stop(): void {
    this.#clock.clearTimeout(this.#timer);
  }

  #arm(ms: number): void {
    this.#timer = this.#clock.setTimeout(() => {
      const left = this.#receivedAt + this.#ms - this.#clock.now();
      if (left > 0) this.#arm(left);
      else this.#tooLong();
    }, ms);
  }
}
