import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';

/**
 * Runs a function that starts a process with execa, and survives the limit of open files.
 *
 * At that limit Node gives back a child without streams and reports EMFILE as an event of it a moment later. execa
 * (9.6) stumbles over the missing streams and throws before anybody listens, so the event ends the whole daemon. Here
 * the child is caught at its birth: `failed` is then the reason Node gives, and nothing is left uncaught.
 */
export function guardSpawn<T>(start: () => T): { started: T } | { failed: Promise<Error> } {
  let reason: Promise<Error> | undefined;
  const born = (message: unknown) => {
    const child = (message as { process: ChildProcess }).process;
    reason = new Promise((resolve) => child.once('error', resolve));
  };
  subscribe('child_process', born);
  try {
    return { started: start() };
  } catch (error) {
    return { failed: reason ?? Promise.resolve(error instanceof Error ? error : new Error(String(error))) };
  } finally {
    unsubscribe('child_process', born);
  }
}
