import { sleep } from '../shared/async.js';
import type { Clock } from '../shared/clock.js';
import { groupRuns, signalGroup } from './group.js';
import { writerLives } from './ledger-files.js';
import { kill, markedProcesses } from './marked-processes.js';
import { cookieOf, procStat, startTimeOf } from './process-identity.js';
import { readLedger } from './read-ledger.js';

export interface KilledOrphans {
  /** Names of servers with processes that had to be killed. */
  names: string[];
  /** Processes that were killed. */
  pids: number[];
  /** Containers that the dead daemon may have left, to be found by their cookie. */
  containers: { docker: readonly string[]; cookie: string }[];
  /** What could not be read of the ledger; undefined where all of it could. */
  unread: string | undefined;
  /** The writer of the ledger lives, so nothing was killed. */
  isInUse: boolean;
}

const ROUNDS = 50;
const ROUND_MS = 20;

/**
 * Kills the processes that a killed daemon has left, by its ledger. A pid alone proves nothing: start time and cookie must
 * both match the ledger. A process with a cookie of that daemon is killed even if the ledger does not list it: no other
 * process can have the cookie. Nothing is killed while the writer of the ledger lives.
 */
export async function killOrphans(path: string, clock: Clock): Promise<KilledOrphans> {
  const { header, left, unread } = readLedger(path);
  const isInUse = header !== undefined && writerLives(header);
  const cleanedUp: KilledOrphans = { names: [], pids: [], containers: [], unread, isInUse };
  if (header === undefined || isInUse) return cleanedUp;
  const names = new Map(left.map((owned) => [owned.cookie, owned.name]));
  const found = new Set<string>();
  const groups: number[] = [];
  const spared = ourselves();
  for (const { pid, startTime, cookie, name } of left) {
    if (startTime === null || startTimeOf(pid) !== startTime || cookieOf(pid) !== cookie || spared.has(pid))
      continue;
    signalGroup(pid, 'SIGKILL');
    groups.push(pid);
    cleanedUp.pids.push(pid);
    found.add(name);
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    const marked = (await markedProcesses(`${header.daemonId}:`)).filter(({ pid }) => !spared.has(pid));
    for (const { pid, cookie } of marked) {
      kill(pid);
      if (!cleanedUp.pids.includes(pid)) cleanedUp.pids.push(pid);
      found.add(names.get(cookie) ?? 'unknown');
    }
    // a server may hold a port or a name that its next process needs
    if (marked.length === 0 && !groups.some(groupRuns)) break;
    await sleep(clock, ROUND_MS);
  }
  cleanedUp.names = [...found];
  cleanedUp.containers = left.flatMap(({ docker, cookie }) =>
    docker === undefined ? [] : [{ docker, cookie }],
  );
  return cleanedUp;
}

/** This process and its ancestors: the daemon may have been started from inside one of its servers. */
function ourselves(): Set<number> {
  const spared = new Set([process.pid, process.ppid]);
  const group = procStat('self')?.group;
  if (group !== undefined) spared.add(group);
  for (let pid = process.ppid; pid > 1; ) {
    spared.add(pid);
    pid = procStat(pid)?.parent ?? 0;
  }
  return spared;
}
