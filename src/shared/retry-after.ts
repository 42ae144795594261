/**
 * The value of a Retry-After header, in seconds or as a date, as milliseconds from `now`. Undefined where it is missing,
 * invalid or a date that has passed.
 */
export function parseRetryAfter(value: string | null | undefined, now: number): number | undefined {
  const text = value?.trim();
  if (text === undefined) return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return ms >= 0 ? ms : undefined;
}
