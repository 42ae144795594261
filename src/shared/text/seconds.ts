/** A duration for people: `0.5 s`, `60 s`. src/machines has the same in restart/durations.ts, as it imports nothing. */
export function seconds(ms: number): string {
  return `${Math.round(ms) / 1000} s`;
}
