/** The longest a timer can wait. One millisecond more and Node fires it at once, with nothing but a warning. */
export const longestTimerMs = 2 ** 31 - 1;

/** A duration that is safe to hand to a timer. */
export function timerMs(ms: number): number {
  return Math.min(Math.max(0, ms), longestTimerMs);
}

/** A duration for people: `0.5 s`, `60 s`. */
export function seconds(ms: number): string {
  return `${Math.round(ms) / 1000} s`;
}
