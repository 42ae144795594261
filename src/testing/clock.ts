/**
 * A clock that stands still until it is told to move, for `createActor(machine, { clock })`.
 *
 * XState's own SimulatedClock jumps to the end of an increment before it fires anything: of three chained timers of
 * 100 ms, `increment(300)` fires one. This one walks from timer to timer, each at its own moment, so a chain runs
 * through and everything that asks for the time on the way is told the right one.
 */
interface Timer {
  dueAt: number;
  fire: () => void;
}

/** More timers in one moment than this are a loop that waits for nothing. */
const mostAtOnce = 10_000;

export class VirtualClock {
  #now = 0;
  #lastId = 0;
  readonly #timers = new Map<number, Timer>();

  readonly now = (): number => this.#now;

  /** Timers that have not fired. At 0 nothing more happens unless a test makes it happen. */
  get pending(): number {
    return this.#timers.size;
  }

  setTimeout(fire: () => void, ms: number): number {
    if (!Number.isFinite(ms)) throw new RangeError(`a timer of ${ms} ms: a named delay is missing or wrong`);
    this.#lastId += 1;
    this.#timers.set(this.#lastId, { dueAt: this.#now + Math.max(0, ms), fire });
    return this.#lastId;
  }

  clearTimeout(id: number): void {
    this.#timers.delete(id);
  }

  /** Lets time pass, firing what falls due in the order in which it does (of two at one moment, the older first). */
  advance(ms: number): void {
    const end = this.#now + ms;
    let inThisMoment = 0;
    for (let next = this.#nextBy(end); next !== undefined; next = this.#nextBy(end)) {
      const [id, timer] = next;
      this.#timers.delete(id);
      inThisMoment = timer.dueAt === this.#now ? inThisMoment + 1 : 0;
      if (inThisMoment > mostAtOnce)
        throw new Error(`time stands still: ${mostAtOnce} timers at ${this.#now} ms`);
      this.#now = timer.dueAt;
      timer.fire();
    }
    this.#now = end;
  }

  /** Back to the beginning; what was still to come is dropped. */
  reset(): void {
    this.#now = 0;
    this.#timers.clear();
  }

  #nextBy(end: number): [number, Timer] | undefined {
    let next: [number, Timer] | undefined;
    for (const entry of this.#timers) {
      if (entry[1].dueAt <= end && (next === undefined || entry[1].dueAt < next[1].dueAt)) next = entry;
    }
    return next;
  }
}
