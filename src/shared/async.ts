import { BusyMap } from './busy-map.js';
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

/** Work that has the key of work that runs is not begun: both get the same result. */
export function shareByKey<T>(): (key: string, work: () => Promise<T>) => Promise<T> {
  const running = new Map<string, Promise<T>>();
  return (key, work) => {
    const known = running.get(key);
    if (known !== undefined) return known;
    const begun = work().finally(() => running.delete(key));
    running.set(key, begun);
    return begun;
  };
}

export function sleep(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.setTimeout(resolve, ms));
}

/** Not from `node:timers/promises`: a short command would feel what it takes to load (0.1 ms in Node 20.20). */
export function nextTurn(): Promise<undefined> {
  return new Promise((resolve) => void setImmediate(resolve, undefined));
}

/** Resolves with the result of the work, or after `ms` with undefined. The work is not cancelled. */
export function withTimeout<T>(ms: number, work: Promise<T>, clock: Clock): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimeout(() => resolve(undefined), ms);
    const done = () => clock.clearTimeout(timer);
    work.then(resolve, reject).finally(done);
  });
}

/** Runs at most so many tasks at once, the others in the order in which they were given. */
export function limitConcurrency(most: number): <T>(task: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (task) => {
    // a task that ends leaves its place to the next one
    if (running < most) running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}

/** The message of the error that the signal was aborted with; undefined where there is none. */
export function abortReason(signal: AbortSignal | undefined): string | undefined {
  return signal?.reason instanceof Error ? signal.reason.message : undefined;
}

interface Listening {
  runs: BusyMap<object, () => void>;
  stop(): void;
}

const listening = new WeakMap<AbortSignal, Listening>();

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
  // no function is the key: one may wait twice
  const key = {};
  const { runs, stop } = listening.get(signal) ?? listen(signal);
  runs.set(key, run);
  return () => {
    if (runs.delete(key) && runs.size === 0) stop();
  };
}

function listen(signal: AbortSignal): Listening {
  const runs = new BusyMap<object, () => void>();
  const aborted = () => {
    for (const run of runs.values()) run();
    runs.clear();
  };
  const stop = () => {
    signal.removeEventListener('abort', aborted);
    listening.delete(signal);
  };
  const begun = { runs, stop };
  listening.set(signal, begun);
  signal.addEventListener('abort', aborted, { once: true });
  return begun;
}
