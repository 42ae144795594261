import type { Clock } from '../../shared/clock.js';

export interface HeartbeatOptions {
  clock: Clock;
  /** 0 = off, each. */
  intervalMs: number;
  timeoutMs: number;
  ping(): void;
  /** No answer in time. */
  stopped(): void;
}

/** A timer that fires later than this tells that we slept, not that the other side does. */
const LATE_MS = 500;

/**
 * Asks the other side of a connection for a sign of life. What lies between may have vanished without a word: TCP
 * itself would notice after many minutes.
 */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  #isOn: boolean;
  #timer: unknown;
  #heardAt = Number.NEGATIVE_INFINITY;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#isOn = options.intervalMs > 0 && options.timeoutMs > 0;
    if (this.#isOn) this.#wait();
  }

  /** An answer came, be it that nobody has asked. */
  answered(): void {
    if (!this.#isOn) return;
    this.#options.clock.clearTimeout(this.#timer);
    this.#wait();
  }

  /** A part of something larger came: the answer may stand behind it. */
  heard(): void {
    this.#heardAt = this.#options.clock.now();
  }

  stop(): void {
    this.#isOn = false;
    this.#options.clock.clearTimeout(this.#timer);
  }

  #wait(): void {
    this.#timer = this.#options.clock.setTimeout(() => this.#ask(), this.#options.intervalMs);
  }

  #ask(): void {
    const { clock, timeoutMs, ping, stopped } = this.#options;
    const askedAt = clock.now();
    this.#timer = clock.setTimeout(() => {
      const wasAsleep = clock.now() - askedAt > timeoutMs + LATE_MS;
      if (wasAsleep || this.#heardAt > askedAt) this.#ask();
      else stopped();
    }, timeoutMs);
    ping();
  }
}
