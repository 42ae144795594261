import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { isAlive } from './is-alive.js';

/**
 * What proves that a pid is still the process that the daemon started. Pids are reused; start time and the cookie in the
 * environment are not. On Linux both are read from /proc, elsewhere from `ps`.
 */
export const COOKIE_NAME = 'TOOLHERD_COOKIE';

export interface ProcStat {
  state: string;
  parent: number;
  group: number;
  /** In clock ticks since the machine started. */
  startTime: string;
}

/** Linux only. Undefined when there is no such process. */
export function procStat(pid: number | 'self'): ProcStat | undefined {
  try {
    return parseProcStat(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return undefined;
  }
}

/** The text of a /proc/PID/stat; undefined where it is incomplete. */
export function parseProcStat(text: string): ProcStat | undefined {
  // the second field is the program's name, which may hold spaces and brackets
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ', 20);
  const [state, parent, group] = fields;
  const startTime = fields[19];
  if (state === undefined || startTime === undefined) return undefined;
  return { state, parent: Number(parent), group: Number(group), startTime };
}

/** When the process started, in the format of this system; null when it is unknown. */
export function startTimeOf(pid: number): string | null {
  if (process.platform === 'linux') return procStat(pid)?.startTime ?? null;
  return ps('lstart=', pid) || null;
}

/** Whether a process has this pid and is not a zombie. Off Linux a zombie counts as running. */
export function isRunning(pid: number): boolean {
  if (!isAlive(pid)) return false;
  const state = process.platform === 'linux' ? procStat(pid)?.state : undefined;
  return state !== 'Z' && state !== 'X';
}

/** Whether a signal (SIGSTOP) or a debugger has stopped the process. Linux only: false on other systems. */
export function isSuspended(pid: number): boolean {
  if (process.platform !== 'linux') return false;
  const state = procStat(pid)?.state;
  return state === 'T' || state === 't';
}

/** The cookie that a process was started with; null when it has none or its environment cannot be read. */
export function cookieOf(pid: number): string | null {
  if (process.platform !== 'linux') {
    return new RegExp(`\\b${COOKIE_NAME}=(\\S+)`).exec(ps('command=', pid, '-E'))?.[1] ?? null;
  }
  try {
    return cookieIn(readFileSync(`/proc/${pid}/environ`));
  } catch {
    return null;
  }
}

function cookieIn(environment: Buffer): string | null {
  const at = environment.indexOf(`${COOKIE_NAME}=`);
  if (at === -1 || (at > 0 && environment[at - 1] !== 0)) return null;
  const end = environment.indexOf(0, at);
  return environment.toString('latin1', at + COOKIE_NAME.length + 1, end === -1 ? undefined : end);
}

function ps(column: string, pid: number, ...options: string[]): string {
  const { stdout } = spawnSync('ps', [...options, '-ww', '-o', column, '-p', String(pid)], {
    encoding: 'utf8',
  });
  return (stdout ?? '').trim();
}
