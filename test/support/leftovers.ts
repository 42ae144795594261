import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

export interface Leftover {
  pid: number;
  command: string;
}

/**
 * Processes that toolherd started and nobody owns any more: servers by the cookie in their environment, watchdogs by
 * their name, daemons by the folder they were built into. Linux only; elsewhere nothing is found.
 */
export function findLeftovers(dist: string): Leftover[] {
  return pids().flatMap((pid) => {
    const command = read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim();
    const isDaemon = command.includes(`${dist}/bin/daemon`) || command.includes(`${dist}/bin/main.cjs up`);
    const isOurs =
      command.includes('toolherd-watchdog') || /(^|\0)TOOLHERD_COOKIE=/.test(read(`/proc/${pid}/environ`));
    return isDaemon || (isOurs && parentOf(pid) === 1) ? [{ pid, command }] : [];
  });
}

/** How the folders of one run's tests begin, so that two runs at a time do not blame each other. */
export function folderPrefix(dist = ''): string {
  return `toolherd-${basename(dist).slice(-6)}-`;
}

/** Folders of the tests of a run that nobody removed, with what is in them (a socket, a log, …). */
export function findLeftFolders(dist: string): string[] {
  const folders = readdirSync(tmpdir()).filter((name) => name.startsWith(folderPrefix(dist)));
  return folders.map((name) => {
    const folder = join(tmpdir(), name);
    return `${folder}: ${readdirSync(folder, { recursive: true, encoding: 'utf8' }).join(', ') || 'empty'}`;
  });
}

function pids(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

/** 0 for one that is gone, or dead and not yet collected. */
function parentOf(pid: number): number {
  const [state, parent] = read(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ') ?? [];
  return state === undefined || state === 'Z' ? 0 : Number(parent);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
