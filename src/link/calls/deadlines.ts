import type { Clock } from '../../shared/clock.js';

/** Expires at `deadline` unless it was removed before. The deadline may be moved later at any time. */
export interface Timed {
  deadline: number;
  /** Its slot in the wheel; set by `Deadlines`. */
  tick: number;
}

/** An item expires up to this much late, never early. */
export const TICK_MS = 20;

/** A timer that fires so late was held up: the daemon stood still (SIGSTOP, a sleeping machine, a blocked loop). */
const STOOD_STILL_MS = 100;

/**
 * A timer wheel: one timer of the clock for any number of deadlines. Adding and removing cost a set operation; a
 * deadline that was moved (progress arrived) costs nothing until its old tick comes round. The timer stays armed when
 * the earliest item is removed, so a stream of short calls arms it about once per timeout, not once per call.
 */
export class Deadlines<T extends Timed> {
  readonly #clock: Clock;
  readonly #expired: (item: T) => void;
  readonly #ticks = new Map<number, Set<T>>();
  #timer: unknown;
  #armedFor = Number.POSITIVE_INFINITY;
  #looksAgain = false;

  constructor(clock: Clock, expired: (item: T) => void) {
    this.#clock = clock;
    this.#expired = expired;
  }

  add(item: T): void {
    const tick = Math.ceil(item.deadline / TICK_MS);
    item.tick = tick;
    const items = this.#ticks.get(tick);
    if (items === undefined) this.#ticks.set(tick, new Set([item]));
    else items.add(item);
    if (tick < this.#armedFor) this.#arm(tick);
  }

  remove(item: T): void {
    const items = this.#ticks.get(item.tick);
    if (items?.delete(item) && items.size === 0) this.#ticks.delete(item.tick);
  }

  /** Removes every item and stops the timer. */
  clear(): void {
    this.#ticks.clear();
    this.#disarm();
  }

  #arm(tick: number): void {
    this.#disarm();
    this.#armedFor = tick;
    this.#timer = this.#clock.setTimeout(() => this.#fire(), Math.max(1, tick * TICK_MS - this.#clock.now()));
  }

  #disarm(): void {
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#armedFor = Number.POSITIVE_INFINITY;
  }

  #fire(): void {
    const now = this.#clock.now();
    this.#looksAgain = !this.#looksAgain && now - this.#armedFor * TICK_MS > STOOD_STILL_MS;
    if (this.#looksAgain) {
      // Node runs timers before it reads pipes and sockets: what was answered in time is read before the next timer
      this.#timer = this.#clock.setTimeout(() => this.#fire(), 1);
      return;
    }
    this.#timer = undefined;
    this.#armedFor = Number.POSITIVE_INFINITY;
    const due: T[] = [];
    for (const [tick, items] of this.#ticks) {
      if (tick * TICK_MS > now) continue;
      this.#ticks.delete(tick);
      for (const item of items) due.push(item);
    }
    for (const item of due) {
      if (item.deadline > now) this.add(item);
    }
    let earliest = Number.POSITIVE_INFINITY;
    for (const tick of this.#ticks.keys()) earliest = Math.min(earliest, tick);
    if (earliest < this.#armedFor) this.#arm(earliest);
    // last: the callbacks may add and remove items, so the wheel must be consistent
    for (const item of due) if (item.deadline <= now) this.#expired(item);
  }
}
