import { readFileSync } from 'node:fs';
import type { Clock } from '../../shared/clock.js';
import { isObject } from '../../shared/json.js';
import { groupRuns, signalGroup } from './group.js';
import { cookieOf, procStat, startTimeOf } from './identity.js';
import type { LedgerHeader } from './ledger.js';
import { kill, markedProcesses } from './marked-processes.js';
import type { Owned } from './table.js';

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
  const { header, left, unread } = read(path);
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

interface Account {
  header: LedgerHeader | undefined;
  left: Owned[];
  unread: string | undefined;
}

/** The processes a ledger leaves open. A line that makes no sense (half written, of a later version) is skipped. */
function read(path: string): Account {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return {
      header: undefined,
      left: [],
      unread: code === 'ENOENT' ? undefined : `it cannot be opened (${code})`,
    };
  }
  let header: LedgerHeader | undefined;
  let senseless = 0;
  const left = new Map<number, Owned>();
  for (const line of text.split('\n')) {
    const value = parse(line);
    if (isHeader(value)) header ??= value;
    else if (isCame(value)) left.set(value.came.pid, value.came);
    else if (isWent(value)) left.delete(value.went);
    else if (line !== '') senseless += 1;
  }
  return { header, left: [...left.values()], unread: describeUnread(header, senseless) };
}

function describeUnread(header: LedgerHeader | undefined, senseless: number): string | undefined {
  if (header === undefined) return 'it does not say which daemon wrote it';
  if (senseless === 0) return undefined;
  return senseless === 1 ? 'a line of it makes no sense' : `${senseless} lines of it make no sense`;
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

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function isHeader(value: unknown): value is LedgerHeader {
  return isObject(value) && value.ledger === 1 && typeof value.daemonId === 'string' && isPid(value.pid);
}

function isCame(value: unknown): value is { came: Owned } {
  if (!isObject(value) || !isObject(value.came)) return false;
  const { pid, name, cookie, docker } = value.came;
  if (docker !== undefined && !(Array.isArray(docker) && docker.every((word) => typeof word === 'string')))
    return false;
  return isPid(pid) && typeof name === 'string' && typeof cookie === 'string';
}

function isWent(value: unknown): value is { went: number } {
  return isObject(value) && isPid(value.went);
}

/** 0 and 1 and anything negative would signal far more than one process. */
function isPid(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 1;
}
