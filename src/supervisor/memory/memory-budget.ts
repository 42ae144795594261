import type { ServerSpec } from '../../config/fields/spec.js';
import type { Link } from '../../link/link.js';
import type { Failed } from '../../machines/restart/ending.js';
import type { Clock } from '../../shared/clock.js';
import { shellWord } from '../../shared/text/shell-word.js';
import type { MemoryOf } from './rss.js';

export interface MemoryBudgetOptions {
  clock: Clock;
  memoryOf: MemoryOf;
  /** Warns the person who runs the herd. */
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
 * A server that started or had a call within this time is not stopped to make room: it would be started again at once. A
 * herd whose budget is too small becomes slow, and does not loop.
 */
const RESTED_MS = 3000;
/** The shortest time between two warnings about the herd's budget. */
const COMPLAIN_MS = 60_000;

/**
 * Looks at the memory of every process group while there is a budget for it: one reader for all, once a second, and
 * none at all where no budget is set.
 *
 * A server over its own `max_rss` is ended, also during a call. Over the herd's, the servers that were unused for
 * longest are stopped: lazy ones before eager ones, never one that has a call.
 */
export class MemoryBudget {
  readonly #options: MemoryBudgetOptions;
  readonly #memoryUsers = new Set<MemoryUser>();
  /** Those that were told to stop. The memory they still use will be free. */
  readonly #leaving = new Set<MemoryUser>();
  #maxRss = 0;
  #timer: unknown;
  /** Of the herd, when last looked at. */
  #bytes: number | null = null;
  #problem: string | null = null;
  #complainedAt = Number.NEGATIVE_INFINITY;
  #isBlind = false;

  constructor(options: MemoryBudgetOptions) {
    this.#options = options;
  }

  /** What all may use together; 0 = no limit. */
  limit(maxRss: number): void {
    if (maxRss === this.#maxRss) return;
    this.#maxRss = maxRss;
    this.#problem = null;
    this.#bytes = null;
    this.#complainedAt = Number.NEGATIVE_INFINITY;
    // a new limit warns again that memory cannot be measured
    this.#isBlind = false;
    if (this.#isOn) this.#lookLater();
    else this.close();
  }

  /** Undefined where the herd has no budget. */
  report(): BudgetReport | undefined {
    if (this.#maxRss === 0) return undefined;
    return { max_rss: this.#maxRss, rss_bytes: this.#bytes, problem: this.#problem };
  }

  /** Watches until the returned function is called. */
  watch(memoryUser: MemoryUser): () => void {
    this.#memoryUsers.add(memoryUser);
    this.#lookLater();
    return () => {
      this.#memoryUsers.delete(memoryUser);
      this.#leaving.delete(memoryUser);
      if (!this.#isOn) this.close();
      if (this.#memoryUsers.size === 0) this.#nothingRuns();
    };
  }

  close(): void {
    this.#options.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** The timer is off, so the sums are set as a measurement would find them. */
  #nothingRuns(): void {
    if (this.#isBlind) return;
    this.#bytes = 0;
    this.#problem = null;
  }

  get #isOn(): boolean {
    if (this.#maxRss > 0 && this.#memoryUsers.size > 0) return true;
    return [...this.#memoryUsers].some(({ maxRss }) => maxRss > 0);
  }

  #lookLater(): void {
    if (this.#timer !== undefined || this.#isBlind || !this.#isOn) return;
    this.#timer = this.#options.clock.setTimeout(() => {
      this.#timer = undefined;
      this.#look();
      this.#lookLater();
    }, LOOK_MS);
    // the timer must not keep the process alive
    (this.#timer as { unref?: () => void }).unref?.();
  }

  #look(): void {
    const memory = this.#options.memoryOf([...this.#memoryUsers].flatMap(({ pids }) => pids));
    if (memory === null) {
      this.#isBlind = true;
      this.#complain(`memory is not measured on ${process.platform}: max_rss has no effect here`);
      return;
    }
    const used = new Map<MemoryUser, number>();
    for (const memoryUser of this.#memoryUsers) {
      used.set(
        memoryUser,
        memoryUser.pids.reduce((sum, pid) => sum + (memory.get(pid) ?? 0), 0),
      );
    }
    for (const [memoryUser, bytes] of used)
      if (memoryUser.maxRss > 0 && bytes > memoryUser.maxRss) this.#end(memoryUser, bytes);
    if (this.#maxRss > 0) this.#makeRoom(used);
  }

  #end(memoryUser: MemoryUser, bytes: number): void {
    if (this.#leaving.has(memoryUser)) return;
    this.#leaving.add(memoryUser);
    memoryUser.over(bytes);
  }

  #isLeaving(memoryUser: MemoryUser): boolean {
    return this.#leaving.has(memoryUser) || memoryUser.evictable?.isLeaving() === true;
  }

  #makeRoom(used: ReadonlyMap<MemoryUser, number>): void {
    const total = sum(used.values());
    const leaving = [...used].filter(([memoryUser]) => this.#isLeaving(memoryUser));
    this.#bytes = total;
    let left = total - sum(leaving.map(([, bytes]) => bytes));
    for (const [memoryUser, bytes] of this.#idle(used)) {
      if (left <= this.#maxRss) break;
      if (!memoryUser.evictable?.rest(`stopped to free memory, because it was idle: ${this.#tooMuch(total)}`))
        continue;
      this.#leaving.add(memoryUser);
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
  #idle(used: ReadonlyMap<MemoryUser, number>): [MemoryUser, number][] {
    const candidates = [...used].filter(([memoryUser, bytes]) => bytes > 0 && !this.#isLeaving(memoryUser));
    return candidates
      .map(([memoryUser, bytes]) => ({
        memoryUser,
        bytes,
        idleForMs: memoryUser.evictable?.idleForMs() ?? 0,
      }))
      .filter(({ idleForMs }) => idleForMs >= RESTED_MS)
      .sort((a, b) => rank(a.memoryUser) - rank(b.memoryUser) || b.idleForMs - a.idleForMs)
      .map(({ memoryUser, bytes }) => [memoryUser, bytes]);
  }

  /** Warns once, until the herd is within its budget again. */
  #complain(problem: string): void {
    const now = this.#options.clock.now();
    const isNews = this.#problem === null && now - this.#complainedAt > COMPLAIN_MS;
    this.#problem = problem;
    if (!isNews) return;
    this.#complainedAt = now;
    this.#options.warn(problem);
  }
}

const rank = ({ evictable }: MemoryUser) => (evictable?.isEager ? 1 : 0);

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}

export function mebibytes(bytes: number): string {
  return `${Math.round((bytes / 2 ** 20) * 10) / 10} MiB`;
}

/** A process group under the budget. */
export interface MemoryUser {
  /** The leader of its group; empty when there is none (any more). */
  readonly pids: readonly number[];
  /** What its server may use; 0 = no limit. */
  readonly maxRss: number;
  /** It uses more than that. Called once. */
  over(bytes: number): void;
  /** Absent where nothing is gained by stopping it: a spare would be replaced at once. */
  readonly evictable?: Evictable | undefined;
}

/** One that could be started again when it is needed. */
export interface Evictable {
  readonly isEager: boolean;
  /** It is stopping already. */
  isLeaving(): boolean;
  /** How long it has had no call; 0 while it has one. */
  idleForMs(): number;
  /** Stops it, unless it has a call by now. Returns whether it stops. */
  rest(why: string): boolean;
}

/** An incarnation as the budget sees it. Without `evictable` it is never stopped to make room. */
export function memoryUserOf(
  spec: ServerSpec,
  link: Link,
  over: MemoryUser['over'],
  evictable?: Evictable,
): MemoryUser {
  return {
    get pids() {
      return link.pids;
    },
    maxRss: spec.transport === 'stdio' ? spec.maxRss : 0,
    over,
    evictable,
  };
}

/** The end of a server that used more than its `max_rss`. */
export function overBudget(spec: ServerSpec, bytes: number): Omit<Failed, 'kind'> {
  const { name } = spec;
  const allowed = mebibytes(spec.transport === 'stdio' ? spec.maxRss : 0);
  return {
    cause: 'memory',
    message: `${name}: over its memory budget: its processes used ${mebibytes(bytes)}, and max_rss allows ${allowed}`,
    fix: `raise max_rss of ${name} if it needs that much; what it did: "toolherd logs ${shellWord(name)}"`,
  };
}
