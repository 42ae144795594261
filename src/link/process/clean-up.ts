import type { Clock } from '../../shared/clock.js';
import { cookieOf, procStat, startTimeOf } from '../../shared/process-identity.js';
import { type LedgerHeader, readLedger } from '../../shared/process-ledger.js';
import { groupRuns, signalGroup } from './group.js';
import { kill, markedProcesses } from './marked-processes.js';

export interface CleanedUp {
  /** Names of servers of which something was left, and had to be killed. */
  names: string[];
  /** Processes that were killed. */
  pids: number[];
  /** What a dead daemon left behind besides processes: containers to look for, by their cookie. */
  containers: { docker: readonly string[]; cookie: string }[];
  /** What of the ledger could not be understood; undefined where all of it could. */
  unread: string | undefined;
}

const ROUNDS = 50;
const ROUND_MS = 20;

/**
 * Ends what a daemon that was killed has left, by the ledger it wrote. A pid alone proves nothing: its start time and
 * its cookie must both be those we wrote down. Whoever carries a cookie of that daemon is ours without being in the
 * ledger: nobody else can have it. Nothing is touched while the writer of the ledger lives.
 */
export async function cleanUpAfterDeadDaemon(path: string, clock: Clock): Promise<CleanedUp> {
  const { header, left, unread } = readLedger(path);
  const reaped: CleanedUp = { names: [], pids: [], containers: [], unread };
  if (header === undefined || writerLives(header)) return reaped;
  const names = new Map(left.map((owned) => [owned.cookie, owned.name]));
  const found = new Set<string>();
  const groups: number[] = [];
  const spared = ourselves();
  for (const { pid, startTime, cookie, name } of left) {
    if (startTime === null || startTimeOf(pid) !== startTime || cookieOf(pid) !== cookie || spared.has(pid))
      continue;
    signalGroup(pid, 'SIGKILL');
    groups.push(pid);
    reaped.pids.push(pid);
    found.add(name);
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    const carrying = (await markedProcesses(`${header.daemonId}:`)).filter(({ pid }) => !spared.has(pid));
    for (const { pid, cookie } of carrying) {
      kill(pid);
      if (!reaped.pids.includes(pid)) reaped.pids.push(pid);
      found.add(names.get(cookie) ?? 'unknown');
    }
    // a server may hold a port or a name that its successor needs
    if (carrying.length === 0 && !groups.some(groupRuns)) break;
    await new Promise<void>((resolve) => void clock.setTimeout(resolve, ROUND_MS));
  }
  reaped.names = [...found];
  reaped.containers = left.flatMap(({ docker, cookie }) =>
    docker === undefined ? [] : [{ docker, cookie }],
  );
  return reaped;
}

function writerLives(header: LedgerHeader): boolean {
  return header.startTime !== null && startTimeOf(header.pid) === header.startTime;
}

/** This process and those above it: the daemon may have been started from inside of one of its own servers. */
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
