import type { Clock } from './clock.js';

export interface Rate {
  perSecond: number;
  /** The most that can be spent at once. */
  burst: number;
}

/**
 * Limits a rate. While anything is left, any cost may be spent, however large. The debt must be earned back before
 * anything else passes.
 */
export class TokenBucket {
  readonly #clock: Clock;
  readonly #rate: Rate;
  #left: number;
  #refilledAt: number;

  constructor(clock: Clock, rate: Rate) {
    this.#clock = clock;
    this.#rate = rate;
    this.#left = rate.burst;
    this.#refilledAt = clock.now();
  }

  get isEmpty(): boolean {
    return this.#left <= 0;
  }

  /** False when nothing is left; else the cost is spent. */
  take(cost: number): boolean {
    this.refill();
    if (this.isEmpty) return false;
    this.spend(cost);
    return true;
  }

  refill(): void {
    const now = this.#clock.now();
    const earned = ((now - this.#refilledAt) / 1000) * this.#rate.perSecond;
    this.#left = Math.min(this.#rate.burst, this.#left + earned);
    this.#refilledAt = now;
  }

  spend(cost: number): void {
    this.#left -= cost;
  }
}
