import { randomBytes } from 'node:crypto';
import type { Clock } from '../../shared/clock.js';
import { startTimeOf } from '../../shared/process-identity.js';
import type { Owned } from '../../shared/process-ledger.js';
import { groupRuns, signalGroup } from './group.js';
import { MarkedProcesses } from './marked-processes.js';

export interface TableObserver {
  added(owned: Owned): void;
  removed(owned: Owned): void;
}

export interface TableOptions {
  /** Names this run of the daemon; in every cookie. Letters, digits, `-` and `_`. */
  daemonId: string;
  clock: Clock;
  random?: (() => string) | undefined;
}

const POLL_MS = 10;
const KILL_LIMIT_MS = 2000;

/**
 * Every process the daemon started and has not seen the end of. It stands outside of the machines: a bug in an actor
 * cannot make it forget one.
 */
export class ProcessTable {
  readonly daemonId: string;
  readonly #clock: Clock;
  readonly #random: () => string;
  readonly #processes = new Map<number, Owned>();
  readonly #observers = new Set<TableObserver>();
  readonly #escapees: MarkedProcesses;

  constructor(options: TableOptions) {
    if (!/^[\w-]+$/.test(options.daemonId)) throw new TypeError(`not a daemon id: ${options.daemonId}`);
    this.daemonId = options.daemonId;
    this.#clock = options.clock;
    this.#random = options.random ?? (() => randomBytes(12).toString('hex'));
    this.#escapees = new MarkedProcesses(options.daemonId, options.clock);
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

  /** Its whole group is gone. */
  remove(pid: number): void {
    const owned = this.#processes.get(pid);
    if (owned === undefined) return;
    this.#processes.delete(pid);
    for (const observer of this.#observers) observer.removed(owned);
  }

  /** Tells of every later change; whoever joins late asks `list` first. */
  observe(observer: TableObserver): () => void {
    this.#observers.add(observer);
    return () => void this.#observers.delete(observer);
  }

  /** Ends what left the group of this cookie's process. */
  sweep(cookie: string): Promise<number> {
    return this.#escapees.sweep(cookie);
  }

  /**
   * The last resort: no ladder, no questions. The signals are out when this returns, so it is of use in an exit
   * handler; the promise resolves when everything is gone.
   */
  async killAll(): Promise<void> {
    const left = this.list();
    for (const { pid } of left) signalGroup(pid, 'SIGKILL');
    const deadline = this.#clock.now() + KILL_LIMIT_MS;
    await Promise.all(
      left.map(async ({ pid, cookie }) => {
        while (groupRuns(pid) && this.#clock.now() < deadline) {
          await new Promise<void>((resolve) => void this.#clock.setTimeout(resolve, POLL_MS));
        }
        await this.sweep(cookie);
        if (!groupRuns(pid)) this.remove(pid);
      }),
    );
  }
}
