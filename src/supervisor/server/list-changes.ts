import type { Clock } from '../../shared/clock.js';

/** A server that changes ten tools notifies ten times: notifications within this time cause one reading. */
const TOGETHER_MS = 100;
/** A server that notifies all the time is read no more often than this. */
const APART_MS = 1000;
/** The pause after a reading, as a multiple of its duration: a huge list takes the daemon a second, and all clients wait. */
const PAUSE_FACTOR = 10;
const LONGEST_PAUSE_MS = 30_000;

/**
 * Debounces `list_changed` notifications, so that a storm costs one reading a second, or fewer if the readings are slow. The
 * last notification is never lost.
 */
export class ListChanges {
  readonly #clock: Clock;
  readonly #tell: () => void;
  #timer: unknown;
  #toldAt = Number.NEGATIVE_INFINITY;
  #apartMs = APART_MS;

  constructor(clock: Clock, tell: () => void) {
    this.#clock = clock;
    this.#tell = tell;
  }

  note(): void {
    if (this.#timer !== undefined) return;
    const delayMs = Math.max(TOGETHER_MS, this.#toldAt + this.#apartMs - this.#clock.now());
    this.#timer = this.#clock.setTimeout(() => this.#fire(), delayMs);
  }

  /** How long the last reading took. */
  read(tookMs: number): void {
    this.#apartMs = Math.max(APART_MS, Math.min(PAUSE_FACTOR * tookMs, LONGEST_PAUSE_MS));
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
