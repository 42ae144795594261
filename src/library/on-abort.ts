const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Runs when the signal aborts, or at once if it has. However many wait for one signal, it has one listener: Node takes
 * more than ten for a leak, and says so on the terminal of whoever made a dozen calls. Answers with the way to end it.
 */
export function onAbort(signal: AbortSignal | undefined, run: () => void): () => void {
  if (signal === undefined) return () => undefined;
  if (signal.aborted) {
    run();
    return () => undefined;
  }
  // one of its own, so that a function may wait twice
  const own = () => run();
  const all = waiting.get(signal) ?? listen(signal);
  all.add(own);
  return () => void all.delete(own);
}

function listen(signal: AbortSignal): Set<() => void> {
  const all = new Set<() => void>();
  waiting.set(signal, all);
  const aborted = () => {
    for (const run of all) run();
    all.clear();
  };
  signal.addEventListener('abort', aborted, { once: true });
  return all;
}
