import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { allProcesses, parentOf, readProc } from './processes.js';
import { folderPrefix } from './run.js';

export interface Leftover {
  pid: number;
  command: string;
}

/**
 * Processes that a run of the tests started and did not end: daemons, whose program is in the run's folder, and watchdogs
 * and servers without a parent. A server has a cookie in its environment, which only Linux shows.
 */
export function findLeftovers(run: string): Leftover[] {
  return allProcesses().flatMap(({ pid, words }) => {
    const isDaemon =
      words.includes(`${run}/dist/bin/daemon`) || words.includes(`${run}/dist/bin/main.cjs up`);
    const isOurs =
      words.includes('toolherd-watchdog') || /(^|\0)TOOLHERD_COOKIE=/.test(readProc(pid, 'environ'));
    return isDaemon || (isOurs && parentOf(pid) === 1) ? [{ pid, command: words }] : [];
  });
}

/** Folders of this run's tests that no test removed, with what is in them (a socket, a log, …). */
export function findLeftFolders(): string[] {
  const folders = readdirSync(tmpdir()).filter((name) => name.startsWith(folderPrefix()));
  return folders.map((name) => {
    const folder = join(tmpdir(), name);
    return `${folder}: ${readdirSync(folder, { recursive: true, encoding: 'utf8' }).join(', ') || 'empty'}`;
  });
}
