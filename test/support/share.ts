import { beforeAll, onTestFinished } from 'vitest';

type End = () => unknown;

let ends: End[] | undefined;

/** Runs when the test is over, or all of those that share what is being made. */
export function atEnd(end: End): void {
  if (ends === undefined) onTestFinished(async () => void (await end()));
  else ends.push(end);
}

/** Makes something once for all tests of a describe that do not disturb each other. */
export function share<T>(make: () => Promise<T>): () => T {
  let made: T | undefined;
  beforeAll(async () => {
    const own: End[] = [];
    const endAll = async () => {
      const faults: unknown[] = [];
      for (const end of own.reverse())
        await Promise.resolve()
          .then(end)
          .catch((fault: unknown) => faults.push(fault));
      if (faults.length > 0) throw faults[0];
    };
    ends = own;
    try {
      made = await make();
    } catch (error) {
      await endAll();
      throw error;
    } finally {
      ends = undefined;
    }
    return endAll;
  });
  return () => made as T;
}
