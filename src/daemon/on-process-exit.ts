/** They share one listener: a program may have many herds, and Node warns of many listeners. */
const acts = new Set<() => void>();

const actAll = (): void => {
  for (const act of acts) act();
};

/**
 * Runs `act` when the process exits without closing its herd: after a second Ctrl-C, an uncaught error, or a
 * `process.exit()` of a script. Returns a function that removes it.
 */
export function onProcessExit(act: () => void): () => void {
  if (acts.size === 0) process.on('exit', actAll);
  acts.add(act);
  return () => {
    acts.delete(act);
    if (acts.size === 0) process.off('exit', actAll);
  };
}
