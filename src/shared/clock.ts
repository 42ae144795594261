/** Time and timers. Tests put a simulated clock in its place. */
export interface Clock {
  /** Milliseconds since 1970. Never goes back: it does not follow changes of the system's date. */
  now(): number;
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
  setTimeout: (fire, ms) => setTimeout(fire, Math.min(ms, LONGEST_TIMER_MS)),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout | undefined),
};

/** A timer that fires later than this shows that this machine slept. */
const LATE_MS = 500;

/** Whether a timer of `ms` that was set at `since` fires so late that this machine must have slept. */
export function wasAsleep(clock: Clock, since: number, ms: number): boolean {
  return clock.now() - since > ms + LATE_MS;
}
