import { type FleetHistory, HISTORY_MINUTES, type ServerHistory } from '../../fleet/history.js';
import { type Clock, dateOf } from '../../shared/clock.js';
import { type Minute, PackedMinutes, RSS_UNIT } from './packed-minutes.js';

/** What a server has counted since it exists. */
export interface Totals {
  key: string;
  calls: number;
  failures: number;
  restarts: number;
  /** Of now; null: not known. */
  rssBytes: number | null;
}

interface Kept {
  minutes: PackedMinutes;
  /** At the end of the last minute. */
  last: Totals | undefined;
}

const MINUTE_MS = 60_000;

/**
 * Calls, failures, restarts and memory of each server by the minute, for 24 hours. Once a minute it compares the counts that
 * servers have anyway with those of the minute before: no call does anything for it.
 */
export class History {
  readonly #clock: Clock;
  readonly #totals: () => readonly Totals[];
  readonly #servers = new Map<string, Kept>();
  readonly #since: number;
  /** The minute that is not over yet. */
  #present: number;
  #timer: unknown;

  constructor(clock: Clock, totals: () => readonly Totals[]) {
    this.#clock = clock;
    this.#totals = totals;
    this.#since = dateOf(clock);
    this.#present = minuteOf(this.#since);
  }

  /** Records each minute when it is over. */
  begin(): void {
    this.#wait();
  }

  end(): void {
    this.#clock.clearTimeout(this.#timer);
  }

  forget(key: string): void {
    this.#servers.delete(key);
  }

  /** How many bytes of packed minutes it holds. */
  get bytes(): number {
    return [...this.#servers.values()].reduce((sum, { minutes }) => sum + minutes.bytes, 0);
  }

  read(
    servers: readonly { key: string; name: string; agent: string | null }[],
    minutes = HISTORY_MINUTES,
  ): FleetHistory {
    const totals = new Map(this.#advance().map((one) => [one.key, one]));
    const count = Math.min(Math.max(1, Math.floor(minutes)), HISTORY_MINUTES);
    const first = this.#present - count + 1;
    return {
      since: new Date(this.#since).toISOString(),
      from: new Date(first * MINUTE_MS).toISOString(),
      minute_ms: MINUTE_MS,
      servers: servers.map(({ key, name, agent }) => {
        const history = emptyHistory(name, agent, count);
        const kept = this.#servers.get(key);
        const put = (at: number, { calls, failures, restarts, rss }: Minute) => {
          history.calls[at - first] = calls;
          history.failures[at - first] = failures;
          history.restarts[at - first] = restarts;
          history.rss_bytes[at - first] = rss === null ? null : rss * RSS_UNIT;
        };
        kept?.minutes.read(first, put);
        const now = totals.get(key);
        if (now !== undefined) put(this.#present, since(kept?.last, now));
        return history;
      }),
    };
  }

  #wait(): void {
    this.#timer = this.#clock.setTimeout(
      () => {
        this.#advance();
        this.#wait();
      },
      MINUTE_MS - (dateOf(this.#clock) % MINUTE_MS),
    );
    // the timer must not keep the process alive
    (this.#timer as { unref?: () => void }).unref?.();
  }

  /** Ends the minutes that are over. Returns the present totals. */
  #advance(): readonly Totals[] {
    const totals = this.#totals();
    const now = minuteOf(dateOf(this.#clock));
    // the date of the system may go back: then the minute lasts longer
    if (now <= this.#present) return totals;
    for (const one of totals) {
      const kept = this.#servers.get(one.key) ?? { minutes: new PackedMinutes(), last: undefined };
      // a timer that fires late counts for the minute in which it should have fired
      kept.minutes.append(this.#present, since(kept.last, one));
      kept.last = one;
      this.#servers.set(one.key, kept);
    }
    this.#present = now;
    return totals;
  }
}

/** What was added to the counts. A server whose entry has changed counts from 0 again. */
function since(last: Totals | undefined, { calls, failures, restarts, rssBytes }: Totals): Minute {
  const added = (before: number | undefined, now: number) =>
    before === undefined || now < before ? now : now - before;
  return {
    calls: added(last?.calls, calls),
    failures: added(last?.failures, failures),
    restarts: added(last?.restarts, restarts),
    rss: rssBytes === null ? null : Math.round(rssBytes / RSS_UNIT),
  };
}

function emptyHistory(name: string, agent: string | null, count: number): ServerHistory {
  const zeros = () => new Array<number>(count).fill(0);
  return {
    name,
    agent,
    calls: zeros(),
    failures: zeros(),
    restarts: zeros(),
    rss_bytes: new Array<number | null>(count).fill(null),
  };
}

function minuteOf(date: number): number {
  return Math.floor(date / MINUTE_MS);
}
