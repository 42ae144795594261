import { type Backoff, backoffMs } from '../../machines/restart/restart-policy.js';
import type { Clock } from '../../shared/clock.js';

export interface RetryTimerDeps {
  clock: Clock;
  /** In [0, 1). */
  random(): number;
}

/** Schedules the next try after a failure. The delay grows until `forgive`. */
export class RetryTimer {
  readonly #deps: RetryTimerDeps;
  readonly #backoff: Backoff;
  #failures = 0;
  #timer: unknown;
  #dueAt: number | undefined;

  constructor(deps: RetryTimerDeps, backoff: Backoff) {
    this.#deps = deps;
    this.#backoff = backoff;
  }

  get isSet(): boolean {
    return this.#dueAt !== undefined;
  }

  /** When the next try is due; undefined where none is to come. */
  get dueAt(): number | undefined {
    return this.#dueAt;
  }

  /** Notes a failure. If a try is already scheduled, it serves this failure too. */
  set(retry: () => void): void {
    if (this.isSet) return;
    const { clock, random } = this.#deps;
    this.#failures += 1;
    const delayMs = backoffMs(this.#failures, this.#backoff, random());
    this.#dueAt = clock.now() + delayMs;
    this.#timer = clock.setTimeout(() => {
      this.#dueAt = undefined;
      retry();
    }, delayMs);
  }

  clear(): void {
    this.#deps.clock.clearTimeout(this.#timer);
    this.#dueAt = undefined;
  }

  forgive(): void {
    this.#failures = 0;
  }
}
