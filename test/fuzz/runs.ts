import type fc from 'fast-check';

/** `npm run faults` runs far more, and `TOOLHERD_SEED` other ones: what it finds is found again with the seed it prints. */
const IS_LONG = Boolean(process.env.TOOLHERD_LONG);
const SEED = Number(process.env.TOOLHERD_SEED ?? 20_261_116);

/** A slow machine tries less often. */
const LONGEST_MS = Number(process.env.TOOLHERD_FUZZ_MS ?? 120_000);

/** How often a property is tried: in the suite, and in the long form. */
export function runs<T>(few: number, many: number): fc.Parameters<T> {
  if (!IS_LONG) return { seed: SEED, numRuns: few };
  return { seed: SEED, numRuns: many, interruptAfterTimeLimit: LONGEST_MS };
}

/** The same against a process: what killed it once fails every smaller case too, so the first one found is the one to show. */
export function livingRuns<T>(few: number, many: number): fc.Parameters<T> {
  return { ...runs<T>(few, many), endOnFailure: true };
}

/** For which a test has time: the long form may take its minutes. */
export const PATIENCE_MS = IS_LONG ? 20 * 60_000 : 60_000;
