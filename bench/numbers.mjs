// Medians and the like.

/** @param {readonly number[]} list */
export const sorted = (list) => Float64Array.from(list).sort();

/**
 * The value below which this share of the list lies (nearest rank).
 * @param {readonly number[]} list
 * @param {number} share
 */
export function quantile(list, share) {
  if (list.length === 0) return Number.NaN;
  const ranked = sorted(list);
  return ranked[Math.min(ranked.length - 1, Math.max(0, Math.ceil(share * ranked.length) - 1))];
}

/** @param {readonly number[]} list */
export function median(list) {
  if (list.length === 0) return Number.NaN;
  const ranked = sorted(list);
  const middle = ranked.length >> 1;
  return ranked.length % 2 === 1 ? ranked[middle] : (ranked[middle - 1] + ranked[middle]) / 2;
}

/**
 * The order of a round: over the rounds, each is first, last and after each other one.
 * @template T
 * @param {readonly T[]} list
 * @param {number} round
 */
export function orderOf(list, round) {
  const at = round % list.length;
  const turned = [...list.slice(at), ...list.slice(0, at)];
  return Math.floor(round / list.length) % 2 === 0 ? turned : turned.reverse();
}

/**
 * Runs every system once a round, in another order each round; the first rounds only warm up.
 * @template S, T
 * @param {{
 *   rounds: number,
 *   warmups?: number,
 *   systems: Record<string, S>,
 *   run(system: S, name: string, round: number): T | Promise<T>,
 * }} comparison
 */
export async function interleave({ rounds, warmups = 1, systems, run }) {
  const names = Object.keys(systems);
  /** @type {Record<string, T[]>} */
  const outcomes = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = -warmups; round < rounds; round += 1) {
    for (const name of orderOf(names, round + warmups)) {
      const outcome = await run(systems[name], name, round);
      if (round >= 0) outcomes[name].push(outcome);
    }
  }
  return outcomes;
}
