import type { Clock } from '../../shared/clock.js';

/** A server that changes ten tools notifies ten times: notifications within this time cause one reading. */
const TOGETHER_MS = 100;
/** A server that notifies all the time is read no more often than this. */
const APART_MS = 1000;
/**
 * The pause after a reading, for each entry that it brought. The daemon needs some 10 µs for an entry, and all clients wait
 * meanwhile: 0.8 s for 90,000 tools.
 */
const APART_PER_ENTRY_MS = 0.1;
const MAX_APART_MS = 30_000;

/**
 * Debounces `list_changed` notifications, so that a storm costs one reading a second, or fewer if the lists are huge. The
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

  /** How many entries the last reading brought. */
  read(entries: number): void {
    this.#apartMs = Math.max(APART_MS, Math.min(APART_PER_ENTRY_MS * entries, MAX_APART_MS));
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
