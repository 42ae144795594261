import type { Backoff } from '../config/spec.js';
import { backoffMs } from '../machines/policy.js';
import type { Surroundings } from './surroundings.js';

/** The next try of something that failed: later each time, until it is forgiven. */
export class RetryTimer {
  readonly #around: Pick<Surroundings, 'clock' | 'random'>;
  readonly #backoff: Backoff;
  #failures = 0;
  #timer: unknown;

  constructor(around: Pick<Surroundings, 'clock' | 'random'>, backoff: Backoff) {
    this.#around = around;
    this.#backoff = backoff;
  }

  get isSet(): boolean {
    return this.#timer !== undefined;
  }

  /** One more failure. While a try is to come, it is the next for this one too. */
  set(retry: () => void): void {
    if (this.isSet) return;
    const { clock, random } = this.#around;
    this.#failures += 1;
    this.#timer = clock.setTimeout(
      () => {
        this.#timer = undefined;
        retry();
      },
      backoffMs(this.#failures, this.#backoff, random()),
    );
  }

  clear(): void {
    this.#around.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  forgive(): void {
    this.#failures = 0;
  }
}
