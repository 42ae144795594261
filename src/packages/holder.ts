import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isAlive } from '../processes/is-alive.js';
import { startTimeOf } from '../processes/process-identity.js';
import { sleep } from '../shared/async.js';
import type { Clock } from '../shared/clock.js';
import { isCode } from '../shared/errors.js';

const POLL_MS = 100;

/** This process, as a text by which others can tell whether it lives. */
export function ownIdentity(): string {
  own ??= `${process.pid} ${startTimeOf(process.pid) ?? '-'}\n`;
  return own;
}

let own: string | undefined;

/** Whether the process that wrote this file lives; undefined where the file says none. */
export function isHolderAlive(file: string): boolean | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
  const [, pid, startTime] = /^(\d+) (.+)\n$/.exec(text) ?? [];
  if (pid === undefined) return undefined;
  return isAlive(Number(pid)) && (startTime === '-' || startTimeOf(Number(pid)) === startTime);
}

/**
 * A lock for work of minutes, such as an installation: it is held as long as its holder lives. Two processes that take the
 * lock of a dead one at the same moment may both hold it. The packages bear that: then both install, and one installation
 * is discarded. (The lock of the socket, which the kernel keeps, takes a process each time it is tried.)
 */
export async function holdLock(file: string, clock: Clock, signal: AbortSignal): Promise<() => void> {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  while (!take(file)) {
    await sleep(clock, POLL_MS);
    signal.throwIfAborted();
  }
  return () => rmSync(file, { force: true });
}

/** Linked into its place: the lock has its holder's name from the first moment on. */
function take(file: string): boolean {
  const written = `${file}.${process.pid}`;
  writeFileSync(written, ownIdentity(), { mode: 0o600 });
  try {
    linkSync(written, file);
    return true;
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error;
    if (isHolderAlive(file) !== true) removeStale(file);
    return false;
  } finally {
    rmSync(written, { force: true });
  }
}

/** Renamed first: of two processes that find it stale, only one can. */
function removeStale(file: string): void {
  const aside = `${file}.${process.pid}.stale`;
  try {
    renameSync(file, aside);
    rmSync(aside, { force: true });
  } catch (error) {
    if (!isCode(error, 'ENOENT')) throw error;
  }
}
