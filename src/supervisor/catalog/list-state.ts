import type { Freshness } from '../../fleet/status.js';
import { type Backoff, backoffMs } from '../../machines/restart/restart-policy.js';
import type { Clock } from '../../shared/clock.js';

/** A list that could not be read is read again after 1 s, 2 s, 4 s … 60 s, for as long as its server runs. */
const RETRY: Backoff = { minMs: 1000, maxMs: 60_000, factor: 2, jitter: 0 };

export interface ListStateOptions {
  clock: Clock;
  /** The next try is due. */
  retry(): void;
}

/** Whether one list of a server is known, whether it has to be read, and when a reading that failed is tried again. */
export class ListState {
  readonly #options: ListStateOptions;
  #freshness: Freshness = 'unknown';
  #version = 0;
  #goodUntil = Number.POSITIVE_INFINITY;
  #reason: string | undefined;
  #failures = 0;
  #retry: unknown;
  #nextTryAt: number | undefined;

  constructor(options: ListStateOptions) {
    this.#options = options;
  }

  get freshness(): Freshness {
    return this.isExpired ? 'stale' : this.#freshness;
  }

  /** It grows each time the list is marked as stale. A reading that began before does not make the list fresh. */
  get version(): number {
    return this.#version;
  }

  /** Why the last reading failed; undefined where it did not. */
  get reason(): string | undefined {
    return this.#reason;
  }

  /** When a reading that failed is tried again; undefined where no try is to come. */
  get nextTryAt(): number | undefined {
    return this.#nextTryAt;
  }

  /** The lifetime that the server gave has passed, and no reading was ordered since. */
  get isExpired(): boolean {
    return this.#freshness === 'fresh' && this.#options.clock.now() >= this.#goodUntil;
  }

  /** This daemon or an earlier one read it at least once. */
  get isKnown(): boolean {
    return this.#freshness !== 'unknown' && this.#freshness !== 'failed';
  }

  /** It may not be what the server offers now. */
  get isDoubted(): boolean {
    return this.#freshness === 'cached' || this.#freshness === 'stale';
  }

  /** A request for the list has to wait for a reading. It does not wait for the next try of one that failed. */
  get isMissing(): boolean {
    return !this.isKnown && this.#nextTryAt === undefined;
  }

  /** An order to read the lists means this one too. */
  get isDue(): boolean {
    return this.#freshness !== 'fresh' && this.#nextTryAt === undefined;
  }

  recalled(): void {
    this.#freshness = 'cached';
  }

  /** Marks it as stale. A reading is ordered, so the pending retry is dropped. */
  doubt(): void {
    this.#version += 1;
    this.suspend();
    if (this.#freshness === 'fresh') this.#freshness = 'stale';
  }

  /** `version`: which one it had when the reading began. */
  read(version: number | undefined, ttlMs = Number.POSITIVE_INFINITY): void {
    this.#freshness = version === undefined || version === this.#version ? 'fresh' : 'stale';
    this.#goodUntil = this.#options.clock.now() + ttlMs;
    this.#reason = undefined;
    this.#failures = 0;
    this.suspend();
  }

  failed(reason: string): void {
    this.#freshness = this.isKnown ? 'stale' : 'failed';
    this.#reason = reason;
    if (this.#nextTryAt === undefined) this.#planRetry();
  }

  /** No process is left that could be asked: no try is to come. */
  suspend(): void {
    this.#options.clock.clearTimeout(this.#retry);
    this.#nextTryAt = undefined;
  }

  /** The delay grows until a reading succeeds. */
  #planRetry(): void {
    const { clock, retry } = this.#options;
    this.#failures += 1;
    const delayMs = backoffMs(this.#failures, RETRY, 0);
    this.#nextTryAt = clock.now() + delayMs;
    this.#retry = clock.setTimeout(() => {
      this.#nextTryAt = undefined;
      retry();
    }, delayMs);
  }
}
