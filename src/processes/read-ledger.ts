import { readFileSync } from 'node:fs';
import { codeOf } from '../shared/errors.js';
import { isObject } from '../shared/json.js';

/** The first line of a ledger: the daemon that wrote it. */
export interface LedgerHeader {
  ledger: 1;
  daemonId: string;
  pid: number;
  startTime: string | null;
}

/** A process that leads its own group and that the daemon has to end. */
export interface Owned {
  /** Also the id of its group. */
  readonly pid: number;
  readonly name: string;
  readonly cookie: string;
  readonly startTime: string | null;
  /** For a container's client: the program and options with which its container can be found and removed. */
  readonly docker?: readonly string[] | undefined;
}

export type LedgerLine = LedgerHeader | { came: Owned } | { went: number };

export interface LedgerContent {
  header: LedgerHeader | undefined;
  left: Owned[];
  /** What could not be read of the ledger; undefined where all of it could. */
  unread: string | undefined;
}

/** The processes that a ledger lists as alive. An invalid line (incomplete, or of a later version) is skipped. */
export function readLedger(path: string): LedgerContent {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const code = codeOf(error);
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
