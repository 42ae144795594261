import type { Clock } from '../../src/shared/clock.js';

/** A clock that only `advance` moves. Chained timers fire in their order within one step. */
export class FakeClock implements Clock {
  #now = 1_000_000;
  #next = 1;
  readonly #timers = new Map<number, { at: number; fire: () => void }>();
  /** How many timers were ever set. */
  armed = 0;

  now(): number {
    return this.#now;
  }

  get pending(): number {
    return this.#timers.size;
  }

  setTimeout(fire: () => void, ms: number): unknown {
    this.armed += 1;
    const id = this.#next++;
    this.#timers.set(id, { at: this.#now + Math.max(0, ms), fire });
    return id;
  }

  clearTimeout(timer: unknown): void {
    if (typeof timer === 'number') this.#timers.delete(timer);
  }

  advance(ms: number): void {
    const until = this.#now + ms;
    for (;;) {
      const [id, timer] = [...this.#timers].sort(([, a], [, b]) => a.at - b.at)[0] ?? [];
      if (id === undefined || timer === undefined || timer.at > until) break;
      this.#timers.delete(id);
      this.#now = Math.max(this.#now, timer.at);
      timer.fire();
    }
    this.#now = until;
  }

  /** The machine sleeps: what was due meanwhile fires late, after it. */
  sleep(ms: number): void {
    this.#now += ms;
    this.advance(0);
  }
}
