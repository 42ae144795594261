/** The most similar candidate, if one is near enough: `requestTimeout` → `request_timeout`, `npxx` → `npx`. */
export function nearMiss(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > 64) return undefined;
  const folded = fold(word);
  let best: string | undefined;
  let least = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = fold(candidate) === folded ? 0 : editDistance(word, candidate);
    if (distance < least) [best, least] = [candidate, distance];
  }
  return best;
}

/** `did you mean 'x'?`, without a leading space; empty where no candidate is similar. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const near = nearMiss(word, candidates);
  return near === undefined ? '' : `did you mean '${near}'?`;
}

function fold(word: string): string {
  return word.toLowerCase().replaceAll(/[_\-\s]/g, '');
}

/** Insertions, deletions, replacements and swaps of neighbours, each one step. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1] ? 0 : 1;
      let cost = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + same);
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) cost = Math.min(cost, beforeLast[column - 2]! + 1);
      current.push(cost);
    }
    [beforeLast, last] = [last, current];
  }
  return last[b.length]!;
}
