import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { closeSync, openSync } from 'node:fs';

/**
 * Runs a function that starts a process with execa, and survives the limit of open files.
 *
 * At that limit Node gives back a child without streams and reports EMFILE as an event of it a moment later. execa
 * (9.6) stumbles over the missing streams and throws before anybody listens, so the event ends the whole daemon. Here
 * the child is caught at its birth: `failed` is then the reason Node gives, and nothing is left uncaught.
 *
 * Such a child also keeps its pipes for ever, unconnected as they are, so it is first seen whether there is room.
 */
export function guardSpawn<T>(start: () => T): { started: T } | { failed: Promise<Error> } {
  const shortage = spawnShortage();
  if (shortage !== undefined) return { failed: Promise.resolve(shortage) };
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

/** Two for each pipe, and two for the news of whether it could be started. */
const DESCRIPTORS = 8;

/** Why no process could be started now for want of descriptors; undefined where one could. */
export function spawnShortage(): Error | undefined {
  const opened: number[] = [];
  try {
    while (opened.length < DESCRIPTORS) opened.push(openSync('/dev/null', 'r'));
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'EMFILE' || code === 'ENFILE' ? (error as Error) : undefined;
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}
