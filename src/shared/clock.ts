/** Time as the link knows it. A simulated clock takes its place in tests. */
export interface Clock {
  /** Milliseconds; never goes back. */
  now(): number;
  setTimeout(fire: () => void, ms: number): unknown;
  clearTimeout(timer: unknown): void;
}

/** Node fires a longer timer at once. */
const LONGEST_MS = 2 ** 31 - 1;

const { timeOrigin } = performance;

export const systemClock: Clock = {
  now: () => timeOrigin + performance.now(),
  setTimeout: (fire, ms) => setTimeout(fire, Math.min(ms, LONGEST_MS)),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout | undefined),
};
