import type { Clock } from '../../shared/clock.js';

/** A server that changes ten tools notifies ten times: notifications within this time cause one reading. */
const TOGETHER_MS = 100;
/** A server that notifies all the time is read no more often than this. */
const APART_MS = 1000;

/** Debounces `list_changed` notifications, so that a storm costs one reading a second. The last one is never lost. */
export class ListChanges {
  readonly #clock: Clock;
  readonly #tell: () => void;
  #timer: unknown;
  #toldAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, tell: () => void) {
    this.#clock = clock;
    this.#tell = tell;
  }

  note(): void {
    if (this.#timer !== undefined) return;
    const delayMs = Math.max(TOGETHER_MS, this.#toldAt + APART_MS - this.#clock.now());
    this.#timer = this.#clock.setTimeout(() => this.#fire(), delayMs);
  }

  stop(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #fire(): void {
    this.#timer = undefined;
    this.#toldAt = this.#clock.now();
    this.#tell();
  }
}
