import { randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
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
  const token = randomUUID();
  while (!take(path, token)) {
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
    // work that took too long lost the lock: it may be another's by now
    if (tokenIn(path) === token) rmSync(path, { force: true });
  }
}

function take(path: string, token: string): boolean {
  try {
    writeFileSync(path, token, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error;
    removeStale(path);
    return false;
  }
}

/**
 * Renames it first: of two processes that find it stale, only one can. Between the look and the rename another process may
 * have replaced it with its own lock, which is put back.
 */
function removeStale(path: string): void {
  // before the look at its age: a lock that came since is young
  const stale = tokenIn(path);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined || Date.now() - stat.mtimeMs < STALE_MS) return;
  const aside = `${path}.${randomUUID()}.stale`;
  try {
    renameSync(path, aside);
    if (tokenIn(aside) !== stale) linkSync(aside, path);
  } catch (error) {
    // ENOENT: another process has removed it; EEXIST: another process has a lock already
    if (!isCode(error, 'ENOENT') && !isCode(error, 'EEXIST')) throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

/** Undefined where there is no lock. */
function tokenIn(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}
