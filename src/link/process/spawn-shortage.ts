import { closeSync, openSync } from 'node:fs';

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
