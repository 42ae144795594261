export type SortValue = string | number | null;
export type Order = 'up' | 'down';

/** Names with numbers in them stand as people count: `a2` before `a10`. Values that are not known stand last. */
export function sorted<Row>(rows: readonly Row[], keyOf: (row: Row) => SortValue, order: Order): Row[] {
  const sign = order === 'up' ? 1 : -1;
  return [...rows].sort((a, b) => {
    const left = keyOf(a);
    const right = keyOf(b);
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    return sign * compare(left, right);
  });
}

const collator = new Intl.Collator('en', { numeric: true });

function compare(left: string | number, right: string | number): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  return collator.compare(String(left), String(right));
}

/** Whether each word of the filter is in one of the texts, in any case. */
export function matches(filter: string, texts: readonly (string | null | undefined)[]): boolean {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return true;
  const text = texts.filter(Boolean).join('\n').toLowerCase();
  return words.every((word) => text.includes(word));
}
