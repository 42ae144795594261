import { readFileSync } from 'node:fs';
import type { Clock } from '../../shared/clock.js';
import { isObject } from '../../shared/json.js';
import { groupRuns, signalGroup } from './group.js';
import { cookieOf, procStat, startTimeOf } from './identity.js';
import type { LedgerHeader } from './ledger.js';
import { kill, markedProcesses } from './marked-processes.js';
import type { Owned } from './table.js';

export interface CleanedUp {
  /** Names of servers with processes that had to be killed. */
  names: string[];
  /** Processes that were killed. */
  pids: number[];
  /** Containers that the dead daemon may have left, to be found by their cookie. */
  containers: { docker: readonly string[]; cookie: string }[];
  /** What could not be read of the ledger; undefined where all of it could. */
  unread: string | undefined;
}

const ROUNDS = 50;
const ROUND_MS = 20;

/**
 * Kills the processes that a killed daemon has left, by its ledger. A pid alone proves nothing: start time and cookie must
 * both match the ledger. A process with a cookie of that daemon is killed even if the ledger does not list it: no other
 * process can have the cookie. Nothing is killed while the writer of the ledger lives.
 */
export async function cleanUpAfterDeadDaemon(path: string, clock: Clock): Promise<CleanedUp> {
  const { header, left, unread } = read(path);
  const cleanedUp: CleanedUp = { names: [], pids: [], containers: [], unread };
  if (header === undefined || writerLives(header)) return cleanedUp;
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
    await new Promise<void>((resolve) => void clock.setTimeout(resolve, ROUND_MS));
  }
  cleanedUp.names = [...found];
  cleanedUp.containers = left.flatMap(({ docker, cookie }) =>
    docker === undefined ? [] : [{ docker, cookie }],
  );
  return cleanedUp;
}

interface LedgerContent {
  header: LedgerHeader | undefined;
  left: Owned[];
  unread: string | undefined;
}

/** The processes that a ledger lists as alive. An invalid line (incomplete, or of a later version) is skipped. */
function read(path: string): LedgerContent {
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
  let invalid = 0;
  const left = new Map<number, Owned>();
  for (const line of text.split('\n')) {
    const value = parse(line);
    if (isHeader(value)) header ??= value;
    else if (isCame(value)) left.set(value.came.pid, value.came);
    else if (isWent(value)) left.delete(value.went);
    else if (line !== '') invalid += 1;
  }
  return { header, left: [...left.values()], unread: describeUnread(header, invalid) };
}

function describeUnread(header: LedgerHeader | undefined, invalid: number): string | undefined {
  if (header === undefined) return 'it does not say which daemon wrote it';
  if (invalid === 0) return undefined;
  return invalid === 1 ? 'a line of it makes no sense' : `${invalid} lines of it make no sense`;
}

function writerLives(header: LedgerHeader): boolean {
  return header.startTime !== null && startTimeOf(header.pid) === header.startTime;
}

/** This process and its ancestors: the daemon may have been started from inside one of its own servers. */
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

/** 0, 1 and negative numbers would signal far more than one process. */
function isPid(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 1;
}
