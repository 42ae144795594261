import type { Clock } from './clock.js';

/** Runs tasks one after the other, in the order in which they are given. */
export function serialize(): <T>(run: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (run) => {
    const next = last.then(run, run);
    last = next.catch(() => undefined);
    return next;
  };
}

/**
 * Runs work after a change. Changes during a run lead to one more run after it, however many they are, so that the last
 * run sees the last change.
 */
export function coalesce(work: () => Promise<void>): () => void {
  let state: 'resting' | 'working' | 'outdated' = 'resting';
  const ended = () => {
    if (state === 'outdated') begin();
    else state = 'resting';
  };
  const begin = () => {
    state = 'working';
    work().then(ended, ended);
  };
  return () => {
    if (state === 'resting') begin();
    else state = 'outdated';
  };
}

/** Resolves when the work is done, or after `ms`. The work is not cancelled. */
export function withTimeout(ms: number, work: Promise<unknown>, clock: Clock): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimeout(() => resolve(), ms);
    const done = () => clock.clearTimeout(timer);
    work.then(() => resolve(), reject).finally(done);
  });
}

const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Runs a function when the signal aborts, or at once if it has. Returns a function that cancels this. All functions of
 * one signal share one listener: Node warns of a leak from the eleventh listener on.
 */
export function onAbort(signal: AbortSignal | undefined, run: () => void): () => void {
  if (signal === undefined) return () => undefined;
  if (signal.aborted) {
    run();
    return () => undefined;
  }
  // a new function, so that the same one may be added twice
  const entry = () => run();
  const all = waiting.get(signal) ?? listen(signal);
  all.add(entry);
  return () => void all.delete(entry);
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
