/**
 * A series in at most `points` buckets of one size, the newest bucket full. `sum`: of counts. `last`: of a measured value,
 * the newest one that is known.
 */
export function bucketed(
  values: readonly (number | null)[],
  points: number,
  join: 'sum' | 'last',
): (number | null)[] {
  const size = Math.max(1, Math.ceil(values.length / points));
  const buckets: (number | null)[] = [];
  for (let end = values.length; end > 0; end -= size) {
    const part = values.slice(Math.max(0, end - size), end);
    buckets.unshift(join === 'sum' ? sum(part) : (part.findLast((value) => value !== null) ?? null));
  }
  return buckets;
}

export function sum(values: readonly (number | null)[]): number {
  return values.reduce<number>((total, value) => total + (value ?? 0), 0);
}

/** The sums of several series of one length, position by position. */
export function added(series: readonly (readonly number[])[], length: number): number[] {
  const totals = new Array<number>(length).fill(0);
  for (const values of series) for (const [index, value] of values.entries()) totals[index]! += value;
  return totals;
}
