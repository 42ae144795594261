import type { Link } from '../../link/link.js';
import { isSuspended } from '../../processes/process-identity.js';
import { type Clock, wasAsleep } from '../../shared/clock.js';
import { messageOf } from '../../shared/errors.js';

export interface HealthOptions {
  link: Link;
  clock: Clock;
  ping: { intervalMs: number; timeoutMs: number };
  /** Nothing of it runs here: whether it is suspended cannot be seen, and a server on a network serves many at once. */
  isRemote: boolean;
  /** Its first reading of the lists goes on, or ended at this time or later. */
  isFirstReading?(since: number): boolean;
  /** It does not answer, and there is no good reason why it should not. */
  hung(message: string): void;
}

/**
 * Pings a server and tells hung from busy. One that is silent while it has a call may be busy with it: a
 * single-threaded server cannot answer. Its call has a timeout, after which it has no excuse. A process
 * that was suspended (SIGSTOP) is not busy with anything.
 *
 * A call that ended while the ping was under way is an excuse too: the answer to the ping comes right behind its
 * reply. And a daemon that was itself asleep has not listened, so it asks again.
 *
 * Of the lists that toolherd reads only the first reading is an excuse, since many servers load their libraries then.
 * A list that failed is read again every minute, and each try may last a minute: a hung server would be excused for ever.
 *
 * A remote server has no such excuse, unless bytes arrived from it meanwhile: a connection that broke
 * silently looks like a busy server, and its calls would wait for ever.
 */
export class Health {
  readonly #options: HealthOptions;
  #timer: unknown;
  #isOver = false;

  constructor(options: HealthOptions) {
    this.#options = options;
    this.#schedule();
  }

  stop(): void {
    this.#isOver = true;
    this.#options.clock.clearTimeout(this.#timer);
  }

  #schedule(): void {
    const { clock, ping } = this.#options;
    if (this.#isOver || ping.intervalMs === 0 || ping.timeoutMs === 0) return;
    this.#timer = clock.setTimeout(() => void this.#check(), ping.intervalMs);
  }

  async #check(): Promise<void> {
    const { clock, ping, hung } = this.#options;
    const askedAt = clock.now();
    try {
      await this.#options.link.ping(ping.timeoutMs);
    } catch (error) {
      if (this.#isOver) return;
      if (!this.#isExcused(askedAt) && !wasAsleep(clock, askedAt, ping.timeoutMs)) {
        this.stop();
        hung(messageOf(error));
        return;
      }
    }
    this.#schedule();
  }

  #isExcused(askedAt: number): boolean {
    const { link, isRemote, isFirstReading } = this.#options;
    const { callsInFlight, lastActivityAt, lastReceivedAt } = link.session;
    if (isRemote) return lastReceivedAt >= askedAt;
    const mayBeBusy = callsInFlight > 0 || lastActivityAt >= askedAt || isFirstReading?.(askedAt);
    return mayBeBusy === true && !link.pids.some(isSuspended);
  }
}
