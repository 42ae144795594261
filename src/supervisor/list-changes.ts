import type { Clock } from '../link/clock.js';
import type { ListName } from './lists.js';

/** A server that changes ten tools says so ten times: what follows soon is heard together. */
const TOGETHER_MS = 100;
/** A server that never stops saying so is asked again no more often than this. */
const APART_MS = 1000;

/** Gathers what a server says of its lists, so that a storm of it costs one reading a second. The last is never lost. */
export class ListChanges {
  readonly #clock: Clock;
  readonly #tell: (lists: ListName[]) => void;
  readonly #gathered = new Set<ListName>();
  #timer: unknown;
  #toldAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, tell: (lists: ListName[]) => void) {
    this.#clock = clock;
    this.#tell = tell;
  }

  note(list: ListName): void {
    this.#gathered.add(list);
    if (this.#timer !== undefined) return;
    const delayMs = Math.max(TOGETHER_MS, this.#toldAt + APART_MS - this.#clock.now());
    this.#timer = this.#clock.setTimeout(() => this.#fire(), delayMs);
  }

  stop(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#gathered.clear();
  }

  #fire(): void {
    this.#timer = undefined;
    this.#toldAt = this.#clock.now();
    const lists = [...this.#gathered];
    this.#gathered.clear();
    this.#tell(lists);
  }
}
