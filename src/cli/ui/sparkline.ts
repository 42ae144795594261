const BARS = '▁▂▃▄▅▆▇█';
const NOTHING = '·';

/** Numbers as bars, the highest as high as a line. Zero and null are dots. */
export function sparkline(values: readonly (number | null)[]): string {
  const highest = Math.max(...values.map((value) => value ?? 0));
  const bar = (value: number) => BARS[Math.ceil((value / highest) * BARS.length) - 1] ?? BARS[0];
  return values.map((value) => (value === null || value <= 0 ? NOTHING : bar(value))).join('');
}

/** The values in this many groups of neighbours. `join` makes one value of each group. */
export function grouped<T>(
  values: readonly T[],
  groups: number,
  join: (group: readonly T[]) => number | null,
): (number | null)[] {
  const size = values.length / groups;
  return Array.from({ length: groups }, (_, index) =>
    join(values.slice(Math.round(index * size), Math.round((index + 1) * size))),
  );
}
