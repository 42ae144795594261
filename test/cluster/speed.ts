export const median = (values: number[]): number =>
  values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** Of `rounds` requests, so many at once, how long one takes: the median in ms. And how many a second. */
export async function measure(
  ask: () => Promise<unknown>,
  rounds: number,
  atOnce: number,
): Promise<{ p50: number; rate: number }> {
  const times: number[] = [];
  let left = rounds;
  const startedAt = performance.now();
  const work = async () => {
    for (; left > 0; left -= 1) {
      const askedAt = performance.now();
      await ask();
      times.push(performance.now() - askedAt);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return { p50: median(times), rate: (rounds / (performance.now() - startedAt)) * 1000 };
}
