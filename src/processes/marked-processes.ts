import { nextTurn, sleep } from '../shared/async.js';
import type { Clock } from '../shared/clock.js';
import { pidsOfSystem } from './group.js';
import { cookieOf } from './process-identity.js';

export interface MarkedProcess {
  pid: number;
  cookie: string;
}

/** How many processes are read in one turn of the event loop: a scan of a busy machine must not delay calls. */
const SLICE = 48;
const ROUNDS = 20;
const ROUND_MS = 10;

/**
 * Finds processes by the cookie in their environment, which a process keeps when it leaves its group (`setsid`). Linux
 * only: elsewhere none is found. Concurrent sweeps share one scan, since fifty servers may stop at once.
 */
export class MarkedProcesses {
  readonly #prefix: string;
  readonly #clock: Clock;
  #running: Promise<unknown> = Promise.resolve();
  #queued: Promise<MarkedProcess[]> | undefined;

  constructor(daemonId: string, clock: Clock) {
    this.#prefix = `${daemonId}:`;
    this.#clock = clock;
  }

  /** Kills every process with the cookie. Resolves when none is left, with the number of killed processes. */
  async sweep(cookie: string): Promise<number> {
    const killed = new Set<number>();
    for (let round = 0; round < ROUNDS; round += 1) {
      const found = (await this.#scan()).filter((marked) => marked.cookie === cookie);
      if (found.length === 0) break;
      for (const { pid } of found) {
        killed.add(pid);
        kill(pid);
      }
      await sleep(this.#clock, ROUND_MS);
    }
    return killed.size;
  }

  #scan(): Promise<MarkedProcess[]> {
    // the running scan may have passed the process already, so a new request waits for the next scan
    this.#queued ??= this.#running.then(() => {
      this.#queued = undefined;
      const scan = markedProcesses(this.#prefix);
      this.#running = scan;
      return scan;
    });
    return this.#queued;
  }
}

/** Every process but this one whose cookie begins with `prefix`. */
export async function markedProcesses(prefix: string): Promise<MarkedProcess[]> {
  if (process.platform !== 'linux') return [];
  const found: MarkedProcess[] = [];
  let looked = 0;
  for (const pid of pidsOfSystem()) {
    if (pid === process.pid) continue;
    const cookie = cookieOf(pid);
    if (cookie?.startsWith(prefix)) found.push({ pid, cookie });
    if (++looked % SLICE === 0) await nextTurn();
  }
  return found;
}

export function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // gone already
  }
}
