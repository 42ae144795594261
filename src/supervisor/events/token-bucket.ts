import type { Clock } from '../../shared/clock.js';

export interface Rate {
  perSecond: number;
  /** At most at once. */
  burst: number;
}

/** An empty message costs something too. */
const LEAST = 64;

/** How much of something may pass. What is too much is counted, so that it can be told. */
export class TokenBucket {
  readonly #clock: Clock;
  readonly #rate: Rate;
  #left: number;
  #refilledAt: number;
  #dropped = 0;

  constructor(clock: Clock, rate: Rate) {
    this.#clock = clock;
    this.#rate = rate;
    this.#left = rate.burst;
    this.#refilledAt = clock.now();
  }

  /** How many were refused since this was last asked. */
  takeDropped(): number {
    const dropped = this.#dropped;
    this.#dropped = 0;
    return dropped;
  }

  take(cost: number): boolean {
    const now = this.#clock.now();
    const earned = ((now - this.#refilledAt) / 1000) * this.#rate.perSecond;
    this.#left = Math.min(this.#rate.burst, this.#left + earned);
    this.#refilledAt = now;
    if (this.#left <= 0) {
      this.#dropped += 1;
      return false;
    }
    this.#left -= cost + LEAST;
    return true;
  }
}
