import { type Clock, wasAsleep } from '../../shared/clock.js';

export interface HeartbeatOptions {
  clock: Clock;
  /** 0 for either turns the heartbeat off. */
  intervalMs: number;
  timeoutMs: number;
  ping(): void;
  /** No answer in time. */
  stopped(): void;
}

/**
 * Pings the server over its connection. A host in between may vanish without closing it: TCP itself would notice after
 * many minutes.
 */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  #isOn: boolean;
  #timer: unknown;
  #receivedAt = Number.NEGATIVE_INFINITY;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#isOn = options.intervalMs > 0 && options.timeoutMs > 0;
    if (this.#isOn) this.#wait();
  }

  /** A pong came, perhaps without a ping. */
  answered(): void {
    if (!this.#isOn) return;
    this.#options.clock.clearTimeout(this.#timer);
    this.#wait();
  }

  /** A part of a message came: the pong may be queued behind it. */
  received(): void {
    this.#receivedAt = this.#options.clock.now();
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
      // this machine slept, or the server sends a long message: neither shows that the server is gone
      if (wasAsleep(clock, askedAt, timeoutMs) || this.#receivedAt > askedAt) this.#ask();
      else stopped();
    }, timeoutMs);
    ping();
  }
}
