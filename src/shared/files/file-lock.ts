import { closeSync, mkdirSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { sleep } from '../async.js';
import { systemClock } from '../clock.js';
import { isCode, ToolherdError } from '../errors.js';

const POLL_MS = 10;
/** The work under a lock takes milliseconds. An older lock was left by a process that was killed. */
const STALE_MS = 10_000;
const PATIENCE_MS = 30_000;

/**
 * Runs `work` while no other process runs its work under the same lock. It is for work of milliseconds on one state file,
 * and needs no program, as the lock of the socket does (src/ipc/socket/socket-lock.ts).
 */
export async function withFileLock<T>(path: string, work: () => T): Promise<T> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const startedAt = systemClock.now();
  while (!take(path)) {
    if (systemClock.now() - startedAt > PATIENCE_MS) {
      throw new ToolherdError(`${path} is held by another process`, {
        why: 'only one process at a time may change the file beside it',
        fix: 'run the command again; if no other toolherd runs, remove the lock',
      });
    }
    await sleep(systemClock, POLL_MS);
  }
  try {
    return work();
  } finally {
    rmSync(path, { force: true });
  }
}

function take(path: string): boolean {
  try {
    closeSync(openSync(path, 'wx', 0o600));
    return true;
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error;
    removeStale(path);
    return false;
  }
}

/** Renames it first: of two processes that find it stale, only one can. */
function removeStale(path: string): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined || Date.now() - stat.mtimeMs < STALE_MS) return;
  const aside = `${path}.${process.pid}.stale`;
  try {
    renameSync(path, aside);
    rmSync(aside, { force: true });
  } catch (error) {
    if (!isCode(error, 'ENOENT')) throw error;
  }
}
