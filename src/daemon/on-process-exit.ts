/** One listener for all of them: a program may have many herds, and Node warns of many listeners. */
const acts = new Set<() => void>();

const actAll = (): void => {
  for (const act of acts) act();
};

/**
 * Does this when the process ends without having closed what it opened: a second Ctrl-C, an error that nobody caught, a
 * `process.exit()` in a program that has a herd. Until the way back is taken.
 */
export function onProcessExit(act: () => void): () => void {
  if (acts.size === 0) process.on('exit', actAll);
  acts.add(act);
  return () => {
    acts.delete(act);
    if (acts.size === 0) process.off('exit', actAll);
  };
}
