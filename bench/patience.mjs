// Waits with a bound.

/** For toolherd and peers alike. On a busy machine a herd of a hundred needs many seconds. */
export const PATIENCE_MS = 60_000;

/** Undefined when it did not come in time. */
export async function within(/** @type {number} */ ms, /** @type {Promise<any>} */ promise) {
  let timer;
  const late = new Promise((resolve) => void (timer = setTimeout(resolve, ms)));
  const outcome = await Promise.race([promise, late]);
  clearTimeout(timer);
  return outcome;
}

/** Asks again until the answer is true. */
export async function until(
  /** @type {string} */ what,
  /** @type {() => Promise<boolean>} */ isSo,
  patienceMs = PATIENCE_MS,
) {
  for (const deadline = performance.now() + patienceMs; performance.now() < deadline; ) {
    if (await isSo().catch(() => false)) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`${what} did not happen within ${patienceMs / 1000} s`);
}
