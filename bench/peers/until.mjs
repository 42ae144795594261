// Asks again until the answer is true.
export async function until(
  /** @type {string} */ what,
  /** @type {() => Promise<boolean>} */ isSo,
  patienceMs = 30_000,
) {
  for (const deadline = performance.now() + patienceMs; performance.now() < deadline; ) {
    if (await isSo().catch(() => false)) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`${what} did not happen within ${patienceMs / 1000} s`);
}
