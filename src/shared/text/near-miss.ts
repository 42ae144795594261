const LONGEST_WORD = 64;
/** Servers name the candidates. 1,000 comparisons of 64 characters take 60 ms, and all clients wait meanwhile. */
const MOST_COMPARED = 1000;
/** A shorter word begins too many others. */
const SHORTEST_BEGINNING = 3;

/**
 * The most similar candidate, if one is near enough: `requestTimeout` → `request_timeout`, `npxx` → `npx`. A word that only
 * one candidate begins with was meant for it: `stat` → `status`, although `start` has fewer other letters.
 */
export function nearMiss(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > LONGEST_WORD) return undefined;
  const comparable = [...candidates].filter((candidate) => candidate.length <= 2 * LONGEST_WORD);
  const [begun, ...others] = comparable.filter((candidate) => candidate.startsWith(word));
  if (begun !== undefined && others.length === 0 && word.length >= SHORTEST_BEGINNING) return begun;
  const folded = fold(word);
  let best: string | undefined;
  // as many steps as a word has letters make any other word of it
  let least = Math.min(Math.max(1, Math.floor(word.length / 3)) + 1, word.length);
  let compared = 0;
  for (const candidate of comparable) {
    if (fold(candidate) === folded) return candidate;
    // the distance is at least the difference of the lengths
    if (Math.abs(candidate.length - word.length) >= least || compared === MOST_COMPARED) continue;
    compared += 1;
    const distance = editDistance(word, candidate);
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
