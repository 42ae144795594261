import type { StartPurpose } from '../../machines/permit.js';

interface Asking {
  /** It may change while the start waits. */
  purpose(): StartPurpose;
  grant(): void;
}

/**
 * How many servers may start at once: fifty cold `npx` in one moment would starve those that run. A start for use goes
 * before every discovery; each kind is first come, first served. Where there is more than one permit, one is never given
 * to a discovery: a server that hangs keeps its permit for its whole `start_timeout`, and discoveries that hang must not
 * hold up a call to another server. `ask` returns the function that gives the permit back, or stops asking.
 */
export class Permits {
  readonly #most: number;
  readonly #mostDiscoveries: number;
  readonly #queue = new Set<Asking>();
  #used = 0;
  /** Those that began as discoveries: one counts as such to its end, also when a call waits for it by then. */
  #discoveries = 0;

  constructor(most: number) {
    this.#most = most;
    this.#mostDiscoveries = Math.max(1, most - 1);
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /** `granted` may be called before this returns, and the start may be over by then: so it gets `release` too. */
  ask(granted: (release: () => void) => void, purpose: Asking['purpose'] = () => 'use'): () => void {
    let state: 'queued' | 'granted' | 'over' = 'queued';
    let isDiscovery = false;
    const release = () => {
      const was = state;
      state = 'over';
      this.#queue.delete(asking);
      if (was !== 'granted') return;
      this.#used -= 1;
      if (isDiscovery) this.#discoveries -= 1;
      this.#grantNext();
    };
    const grant = () => {
      state = 'granted';
      isDiscovery = purpose() === 'discovery';
      this.#used += 1;
      if (isDiscovery) this.#discoveries += 1;
      granted(release);
    };
    const asking = { purpose, grant };
    this.#queue.add(asking);
    this.#grantNext();
    return release;
  }

  /** Asks when `after` is over. */
  askAfter(after: Promise<unknown>, granted: () => void, purpose?: Asking['purpose']): () => void {
    let release = () => {};
    let isOver = false;
    void after.then(() => {
      if (isOver) return;
      release = this.ask((back) => {
        release = back;
        granted();
      }, purpose);
    });
    return () => {
      isOver = true;
      release();
    };
  }

  /** The purpose of a start that waits has changed. */
  reconsider(): void {
    this.#grantNext();
  }

  #grantNext(): void {
    const next = this.#used < this.#most ? this.#next() : undefined;
    if (next === undefined) return;
    this.#queue.delete(next);
    next.grant();
  }

  #next(): Asking | undefined {
    let discovery: Asking | undefined;
    for (const asking of this.#queue) {
      if (asking.purpose() === 'use') return asking;
      discovery ??= asking;
    }
    return this.#discoveries < this.#mostDiscoveries ? discovery : undefined;
  }
}

/** One start: what it is for, which may become more urgent while it waits for its permit. */
export class StartTicket {
  readonly #permits: Permits;
  #release = () => {};
  purpose: StartPurpose = 'use';

  constructor(permits: Permits) {
    this.#permits = permits;
  }

  /** A call or a request waits for it: it goes before all discoveries. */
  forUse(): void {
    if (this.purpose === 'use') return;
    this.purpose = 'use';
    this.#permits.reconsider();
  }

  /** Asks for a permit when `after` is over. Returns the function that gives it back, or stops asking. */
  askAfter(after: Promise<unknown>, granted: () => void): () => void {
    this.#release = this.#permits.askAfter(after, granted, () => this.purpose);
    return this.#release;
  }

  /**
   * The start waits for npm, perhaps for minutes: others may start meanwhile. It goes on without a permit, as few
   * installations run at once.
   */
  giveBack(): void {
    this.#release();
  }
}
