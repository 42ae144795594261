import type { Clock } from '../../shared/clock.js';
import type { Eater } from './memory-user.js';
import type { MemoryOf } from './rss.js';

export interface BudgetOptions {
  clock: Clock;
  memoryOf: MemoryOf;
  /** What the herd's keeper should know. */
  warn(text: string): void;
}

/** What the herd uses and may use, and what is wrong with that. */
export interface BudgetReport {
  max_rss: number;
  rss_bytes: number | null;
  problem: string | null;
}

const LOOK_MS = 1000;
/**
 * Whoever began or was called a moment ago is not stopped to make room: it would only be started again. So a herd
 * whose budget is too small for what it does is slow, and does not spin.
 */
const RESTED_MS = 3000;
/** A herd that is over its budget again and again is told of this often. */
const COMPLAIN_MS = 60_000;

/**
 * Looks at the memory of every process group while there is a budget for it: one reader for all, once a second, and
 * none at all where no budget is set.
 *
 * Over its own `max_rss` a server is ended, whatever it is doing. Over the herd's, whoever nobody has needed for
 * longest makes room: lazy servers before eager ones, never one that is busy.
 */
export class Budget {
  readonly #options: BudgetOptions;
  readonly #eaters = new Set<Eater>();
  /** Those that were told to go. What they still hold will be free. */
  readonly #leaving = new Set<Eater>();
  #maxRss = 0;
  #timer: unknown;
  /** Of the herd, when last looked at. */
  #bytes: number | null = null;
  #problem: string | null = null;
  #complainedAt = Number.NEGATIVE_INFINITY;
  #isBlind = false;

  constructor(options: BudgetOptions) {
    this.#options = options;
  }

  /** What all may use together; 0 = no limit. */
  limit(maxRss: number): void {
    if (maxRss === this.#maxRss) return;
    this.#maxRss = maxRss;
    this.#problem = null;
    this.#bytes = null;
    this.#complainedAt = Number.NEGATIVE_INFINITY;
    // who sets one is to be told that it is of no use
    this.#isBlind = false;
    if (this.#isOn) this.#lookLater();
    else this.close();
  }

  /** Undefined where the herd has no budget. */
  report(): BudgetReport | undefined {
    if (this.#maxRss === 0) return undefined;
    return { max_rss: this.#maxRss, rss_bytes: this.#bytes, problem: this.#problem };
  }

  /** Until the way back is taken. */
  watch(eater: Eater): () => void {
    this.#eaters.add(eater);
    this.#lookLater();
    return () => {
      this.#eaters.delete(eater);
      this.#leaving.delete(eater);
      if (!this.#isOn) this.close();
      if (this.#eaters.size === 0) this.#nothingRuns();
    };
  }

  close(): void {
    this.#options.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Nobody looks any more, so this is what a look would find. */
  #nothingRuns(): void {
    if (this.#isBlind) return;
    this.#bytes = 0;
    this.#problem = null;
  }

  get #isOn(): boolean {
    if (this.#maxRss > 0 && this.#eaters.size > 0) return true;
    return [...this.#eaters].some(({ maxRss }) => maxRss > 0);
  }

  #lookLater(): void {
    if (this.#timer !== undefined || this.#isBlind || !this.#isOn) return;
    this.#timer = this.#options.clock.setTimeout(() => {
      this.#timer = undefined;
      this.#look();
      this.#lookLater();
    }, LOOK_MS);
    // nobody's program is kept from its end by this
    (this.#timer as { unref?: () => void }).unref?.();
  }

  #look(): void {
    const memory = this.#options.memoryOf([...this.#eaters].flatMap(({ pids }) => pids));
    if (memory === null) {
      this.#isBlind = true;
      this.#complain(`memory is not measured on ${process.platform}: max_rss has no effect here`);
      return;
    }
    const used = new Map<Eater, number>();
    for (const eater of this.#eaters) {
      used.set(
        eater,
        eater.pids.reduce((sum, pid) => sum + (memory.get(pid) ?? 0), 0),
      );
    }
    for (const [eater, bytes] of used) if (eater.maxRss > 0 && bytes > eater.maxRss) this.#end(eater, bytes);
    if (this.#maxRss > 0) this.#makeRoom(used);
  }

  #end(eater: Eater, bytes: number): void {
    if (this.#leaving.has(eater)) return;
    this.#leaving.add(eater);
    eater.over(bytes);
  }

  #isLeaving(eater: Eater): boolean {
    return this.#leaving.has(eater) || eater.guest?.isLeaving() === true;
  }

  #makeRoom(used: ReadonlyMap<Eater, number>): void {
    const total = sum(used.values());
    const leaving = [...used].filter(([eater]) => this.#isLeaving(eater));
    this.#bytes = total;
    let left = total - sum(leaving.map(([, bytes]) => bytes));
    for (const [eater, bytes] of this.#idle(used)) {
      if (left <= this.#maxRss) break;
      if (!eater.guest?.rest(`stopped to make room, as nobody needs it now: ${this.#tooMuch(total)}`))
        continue;
      this.#leaving.add(eater);
      left -= bytes;
    }
    if (left <= this.#maxRss) {
      this.#problem = null;
      return;
    }
    this.#complain(`${this.#tooMuch(left)}, and no server is idle that could be stopped`);
  }

  #tooMuch(bytes: number): string {
    return `the herd uses ${mebibytes(bytes)}, more than the ${mebibytes(this.#maxRss)} of daemon.max_rss`;
  }

  /** In the order in which they make room. */
  #idle(used: ReadonlyMap<Eater, number>): [Eater, number][] {
    const candidates = [...used].filter(([eater, bytes]) => bytes > 0 && !this.#isLeaving(eater));
    return candidates
      .map(([eater, bytes]) => ({ eater, bytes, idleForMs: eater.guest?.idleForMs() ?? 0 }))
      .filter(({ idleForMs }) => idleForMs >= RESTED_MS)
      .sort((a, b) => rank(a.eater) - rank(b.eater) || b.idleForMs - a.idleForMs)
      .map(({ eater, bytes }) => [eater, bytes]);
  }

  /** Told once, until it is well again. */
  #complain(problem: string): void {
    const now = this.#options.clock.now();
    const isNews = this.#problem === null && now - this.#complainedAt > COMPLAIN_MS;
    this.#problem = problem;
    if (!isNews) return;
    this.#complainedAt = now;
    this.#options.warn(problem);
  }
}

const rank = ({ guest }: Eater) => (guest?.isEager ? 1 : 0);

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}

export function mebibytes(bytes: number): string {
  return `${Math.round((bytes / 2 ** 20) * 10) / 10} MiB`;
}
