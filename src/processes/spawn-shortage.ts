import { closeSync, openSync } from 'node:fs';
import { isCode } from '../shared/errors.js';

/** Two for each of the three pipes, and two for the pipe that reports a failed start. */
const DESCRIPTORS = 8;

/** The error of a start without enough free file descriptors; undefined where there are enough. */
export function spawnShortage(): Error | undefined {
  const opened: number[] = [];
  try {
    while (opened.length < DESCRIPTORS) opened.push(openSync('/dev/null', 'r'));
    return undefined;
  } catch (error) {
    return isCode(error, 'EMFILE', 'ENFILE') ? (error as Error) : undefined;
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}
