/** Time as the socket knows it. A simulated clock takes its place in tests. */
export interface Clock {
  /** Milliseconds; never goes back. */
  now(): number;
  setTimeout(fire: () => void, ms: number): unknown;
  clearTimeout(timer: unknown): void;
}

/** Callers stay far below the 2^31 ms at which Node fires a timer at once. */
export const systemClock: Clock = {
  // `performance` is loaded when it is first named, which a short command would feel
  now: () => process.uptime() * 1000,
  setTimeout: (fire, ms) => setTimeout(fire, ms),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout | undefined),
};
