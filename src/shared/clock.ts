/** Time and timers. Tests put a simulated clock in its place. */
export interface Clock {
  /**
   * Milliseconds, to measure and to wait by. Never goes back, and stands still while the machine sleeps: it does not follow
   * the system's date. For a date that is shown or stored use `dateOf`.
   */
  now(): number;
  /** Milliseconds since 1970 by the system's date. Absent where `now` is that. */
  date?(): number;
  setTimeout(fire: () => void, ms: number): unknown;
  clearTimeout(timer: unknown): void;
}

/** Node fires a longer timer at once. src/machines has its own copy in restart/durations.ts, as it imports nothing. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Monotonic. Not `performance.now()`: a short command would feel what it takes to load `perf_hooks`. */
function sinceBootMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}

const bootedAt = Date.now() - sinceBootMs();

export const systemClock: Clock = {
  now: () => bootedAt + sinceBootMs(),
  date: () => Date.now(),
  setTimeout: (fire, ms) => setTimeout(fire, Math.min(ms, LONGEST_TIMER_MS)),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout | undefined),
};

/** A timer that fires later than this shows that this machine slept. */
const LATE_MS = 500;

/** Whether a timer of `ms` that was set at `since` fires so late that this machine must have slept. */
export function wasAsleep(clock: Clock, since: number, ms: number): boolean {
  return clock.now() - since > ms + LATE_MS;
}

/**
 * The date of a moment of the clock, in milliseconds since 1970: of this moment, or of one to come. The date of a past moment
 * would be wrong if the machine has slept since: take it when the moment is there.
 */
export function dateOf(clock: Clock, at?: number): number {
  const date = clock.date?.() ?? clock.now();
  return at === undefined ? date : date + at - clock.now();
}

/** The same in the form of ISO 8601. */
export function isoDateOf(clock: Clock, at?: number): string {
  return new Date(dateOf(clock, at)).toISOString();
}
