import { randomBytes } from 'node:crypto';
import { sleep } from '../shared/async.js';
import type { Clock } from '../shared/clock.js';
import { groupRuns, signalGroup } from './group.js';
import { MarkedProcesses } from './marked-processes.js';
import { startTimeOf } from './process-identity.js';
import type { Owned } from './read-ledger.js';

export interface TableObserver {
  added(owned: Owned): void;
  removed(owned: Owned): void;
}

export interface TableOptions {
  /** Identifies this run of the daemon in every cookie. Letters, digits, `-` and `_`. */
  daemonId: string;
  clock: Clock;
  random?: (() => string) | undefined;
}

const POLL_MS = 10;
const KILL_LIMIT_MS = 2000;

/**
 * Every process that the daemon started and that is not gone yet. It is kept outside of the machines, so that a bug in an
 * actor cannot lose one.
 */
export class ProcessTable {
  readonly daemonId: string;
  readonly #clock: Clock;
  readonly #random: () => string;
  readonly #processes = new Map<number, Owned>();
  readonly #observers = new Set<TableObserver>();
  readonly #marked: MarkedProcesses;

  constructor(options: TableOptions) {
    if (!/^[\w-]+$/.test(options.daemonId)) throw new TypeError(`not a daemon id: ${options.daemonId}`);
    this.daemonId = options.daemonId;
    this.#clock = options.clock;
    this.#random = options.random ?? (() => randomBytes(12).toString('hex'));
    this.#marked = new MarkedProcesses(options.daemonId, options.clock);
  }

  get size(): number {
    return this.#processes.size;
  }

  list(): Owned[] {
    return [...this.#processes.values()];
  }

  newCookie(): string {
    return `${this.daemonId}:${this.#random()}`;
  }

  add(process: Omit<Owned, 'startTime'>): Owned {
    const owned: Owned = { ...process, startTime: startTimeOf(process.pid) };
    this.#processes.set(owned.pid, owned);
    for (const observer of this.#observers) observer.added(owned);
    return owned;
  }

  /** The whole group is gone. */
  remove(pid: number): void {
    const owned = this.#processes.get(pid);
    if (owned === undefined) return;
    this.#processes.delete(pid);
    for (const observer of this.#observers) observer.removed(owned);
  }

  /** Reports every later change; processes from before are in `list`. */
  observe(observer: TableObserver): () => void {
    this.#observers.add(observer);
    return () => void this.#observers.delete(observer);
  }

  /** Kills processes with this cookie that have left their group. */
  sweep(cookie: string): Promise<number> {
    return this.#marked.sweep(cookie);
  }

  /**
   * The last resort: KILL to every group, without the earlier steps. The signals are sent when this returns, so it works
   * in an exit handler; the promise resolves when everything is gone.
   */
  async killAll(): Promise<void> {
    const left = this.list();
    for (const { pid } of left) signalGroup(pid, 'SIGKILL');
    const deadline = this.#clock.now() + KILL_LIMIT_MS;
    await Promise.all(
      left.map(async ({ pid, cookie }) => {
        while (groupRuns(pid) && this.#clock.now() < deadline) await sleep(this.#clock, POLL_MS);
        await this.sweep(cookie);
        if (!groupRuns(pid)) this.remove(pid);
      }),
    );
  }
}
