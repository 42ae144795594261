/** Time as the socket knows it. A simulated clock takes its place in tests. */
export interface Clock {
  /** Milliseconds; never goes back. */
  now(): number;
  setTimeout(fire: () => void, ms: number): unknown;
  clearTimeout(timer: unknown): void;
}

/** Callers stay far below the 2^31 ms at which Node fires a timer at once. */
export const systemClock: Clock = {
  now: () => performance.now(),
  setTimeout: (fire, ms) => setTimeout(fire, ms),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout | undefined),
};
