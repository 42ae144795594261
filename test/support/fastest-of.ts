/** How long the fastest of some runs took, in ms: a loaded machine slows down some of them, hardly all. */
export function fastestOf(runs: number, work: () => void): number {
  const times = Array.from({ length: runs }, () => {
    const startedAt = performance.now();
    work();
    return performance.now() - startedAt;
  });
  return Math.min(...times);
}
