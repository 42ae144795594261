import { nextTurn } from '../../shared/async.js';
import type { GroupMemory, MemoryOf } from './rss.js';

/** An answer of this age is measured again, for the next one. */
const FRESH_MS = 500;
/** An older one is not given. */
const MOST_MS = 5000;
/** Files that are read in one turn of the loop: some 0.5 ms. */
const STEPS = 16;

/**
 * The memory of process groups, for those who ask again and again. To read that of 50 servers takes 6 ms, in which no call
 * would be answered. So an answer is what was measured a moment ago, and it leads to another measurement, in pieces. Who
 * asks for the first time in 5 s waits.
 */
export class RecentMemory {
  readonly #meter: Pick<GroupMemory, 'of' | 'measure'>;
  readonly #now: () => number;
  #known = new Map<number, number>();
  #measuredAt = Number.NEGATIVE_INFINITY;
  #isMeasuring = false;

  constructor(meter: Pick<GroupMemory, 'of' | 'measure'>, now: () => number) {
    this.#meter = meter;
    this.#now = now;
  }

  readonly of: MemoryOf = (leaders) => {
    const ageMs = this.#now() - this.#measuredAt;
    if (ageMs > MOST_MS) return this.#keep(this.#meter.of(leaders));
    const unknown = leaders.filter((leader) => !this.#known.has(leader));
    if (unknown.length > 0)
      for (const [leader, bytes] of this.#meter.of(unknown) ?? []) this.#known.set(leader, bytes);
    if (ageMs > FRESH_MS) void this.#measure();
    return new Map(this.#known);
  };

  /** Leaders that are gone are in no answer of the meter. */
  #keep(measured: ReadonlyMap<number, number> | null): ReadonlyMap<number, number> | null {
    if (measured === null) return null;
    this.#known = new Map(measured);
    this.#measuredAt = this.#now();
    return measured;
  }

  async #measure(): Promise<void> {
    if (this.#isMeasuring) return;
    this.#isMeasuring = true;
    const began = [...this.#known.keys()];
    const steps = this.#meter.measure(began);
    for (let step = 1; ; step += 1) {
      if (step % STEPS === 1) await nextTurn();
      const { done, value } = steps.next();
      if (done !== true) continue;
      // those that were asked for meanwhile stay
      const later = [...this.#known].filter(([leader]) => !began.includes(leader));
      this.#keep(value && new Map([...value, ...later]));
      this.#isMeasuring = false;
      return;
    }
  }
}
