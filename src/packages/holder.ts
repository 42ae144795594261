import {
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { isAlive } from '../processes/is-alive.js';
import { startTimeOf } from '../processes/process-identity.js';
import { sleep } from '../shared/async.js';
import { type Clock, dateOf } from '../shared/clock.js';
import { isCode } from '../shared/errors.js';

const POLL_MS = 100;
/** How often a holder shows that it works, by a new date of the lock's file. */
const BEAT_MS = 1000;
/** A holder that did not do so for this long is stopped (SIGSTOP) or hangs. */
const SILENT_MS = 10_000;

/** This process, as a text by which others can tell whether it lives. */
export function ownIdentity(): string {
  own ??= `${process.pid} ${startTimeOf(process.pid) ?? '-'}\n`;
  return own;
}

let own: string | undefined;

/** Whether the process that wrote this file lives; undefined where the file says none. */
export function isHolderAlive(file: string): boolean | undefined {
  const holder = holderIn(file);
  if (holder === undefined) return undefined;
  const { pid, startTime } = holder;
  return isAlive(pid) && (startTime === '-' || startTimeOf(pid) === startTime);
}

function holderIn(file: string): { pid: number; startTime: string } | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
  const [, pid, startTime] = /^(\d+) (.+)\n$/.exec(text) ?? [];
  return pid === undefined || startTime === undefined ? undefined : { pid: Number(pid), startTime };
}

export interface LockOptions {
  clock: Clock;
  signal: AbortSignal;
  /** No holder is waited for longer than this. */
  mostMs: number;
  silentMs?: number;
  /** Another process has the lock. Called once for each. */
  onWait(pid: number): void;
  /** That process has shown nothing for `silentMs`, or took longer than `mostMs`: the lock is taken from it. */
  onTakeOver(pid: number): void;
}

/**
 * A lock for work of minutes, such as an installation: it is held as long as its holder lives and shows that it works.
 * Two processes may both hold it: those that take the lock of a dead one at the same moment, and one that was stopped and
 * goes on. The packages bear that: then both install, and one installation is discarded. (The lock of the socket, which the
 * kernel keeps, takes a process each time it is tried.)
 */
export async function holdLock(file: string, options: LockOptions): Promise<() => void> {
  const { clock, signal, mostMs, silentMs = SILENT_MS } = options;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const began = clock.now();
  let seen = { pid: -1, beat: -1, at: began };
  while (!take(file)) {
    const pid = holderIn(file)?.pid;
    const beat = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
    if (pid !== undefined && beat !== undefined) {
      if (pid !== seen.pid) options.onWait(pid);
      if (pid !== seen.pid || beat !== seen.beat) seen = { pid, beat, at: clock.now() };
      if (clock.now() - seen.at >= silentMs || clock.now() - began >= mostMs) {
        options.onTakeOver(pid);
        removeStale(file);
        continue;
      }
    }
    await sleep(clock, POLL_MS);
    signal.throwIfAborted();
  }
  return showWork(file, clock);
}

/** Returns what releases the lock. */
function showWork(file: string, clock: Clock): () => void {
  let timer: unknown;
  const beat = () => {
    if (!isOwn(file)) return;
    try {
      utimesSync(file, dateOf(clock) / 1000, dateOf(clock) / 1000);
    } catch {
      // others take the lock in time
    }
    timer = clock.setTimeout(beat, BEAT_MS);
  };
  timer = clock.setTimeout(beat, BEAT_MS);
  return () => {
    clock.clearTimeout(timer);
    if (isOwn(file)) rmSync(file, { force: true });
  };
}

/** Another process may have taken it from this one. */
function isOwn(file: string): boolean {
  const holder = holderIn(file);
  return holder !== undefined && `${holder.pid} ${holder.startTime}\n` === ownIdentity();
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

/** Of a process that was killed while it took a lock: a file beside the lock, named after the process. */
export function isLockLeftover(name: string): boolean {
  const pid = /\.(\d+)(?:\.stale)?$/.exec(name)?.[1];
  return pid !== undefined && !isAlive(Number(pid));
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
