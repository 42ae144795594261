import { constants } from 'node:buffer';
import { connect, type Socket } from 'node:net';
import { type Clock, systemClock } from '../../shared/clock.js';
import { isCode, ToolherdError } from '../../shared/errors.js';
import { Peer } from '../jsonrpc/peer.js';
import { checkSocketPath } from './socket-path.js';

/** Nobody listens on the socket. */
export class DaemonNotRunningError extends ToolherdError {
  override readonly type: string = 'DaemonNotRunningError';
  readonly path: string;

  constructor(path: string, cause: unknown) {
    super(`no daemon is running on ${path}`, { fix: "start it with 'toolherd up'", cause });
    this.path = path;
  }
}

/** There is a daemon, but no way to it. */
export class DaemonUnreachableError extends ToolherdError {
  override readonly type: string = 'DaemonUnreachableError';
}

export interface ConnectOptions {
  path: string;
  /** For how long to try again: a daemon whose queue of connections is full, and one that is not there yet. */
  retry?: { busyMs?: number; absentMs?: number };
  clock?: Clock;
}

/** Replies may be as large as a server's config allows; more than this Node could not read. */
const MAX_REPLY_BYTES = constants.MAX_STRING_LENGTH;
/** And as deep as the daemon can write: a line that is refused would cost the connection, with all that waits on it. */
const MAX_REPLY_DEPTH = 100_000;
const FIRST_DELAY_MS = 5;
const LONGEST_DELAY_MS = 100;

export async function connectSocket(options: ConnectOptions): Promise<Peer> {
  const socket = await openSocket(options);
  const { clock = systemClock } = options;
  const limits = { maxLineBytes: MAX_REPLY_BYTES, maxDepth: MAX_REPLY_DEPTH };
  return new Peer(socket, { ...limits, badLines: 'fatal', clock });
}

/** The bare connection. */
export async function openSocket({ path, retry = {}, clock = systemClock }: ConnectOptions): Promise<Socket> {
  const { busyMs = 5000, absentMs = 0 } = retry;
  const startedAt = clock.now();
  for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(delayMs * 2, LONGEST_DELAY_MS)) {
    try {
      checkSocketPath(path);
      return await open(path);
    } catch (error) {
      // reset: it went away while we stood in its queue
      const isAbsent = isCode(error, 'ENOENT', 'ECONNREFUSED', 'ECONNRESET');
      const patienceMs = isAbsent ? absentMs : isCode(error, 'EAGAIN') ? busyMs : 0;
      if (clock.now() - startedAt >= patienceMs) throw explain(path, error, isAbsent);
    }
    await new Promise<void>((resolve) => clock.setTimeout(resolve, delayMs));
  }
}

function open(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once('error', reject);
    socket.once('connect', () => {
      resolve(socket);
    });
  });
}

function explain(path: string, error: unknown, isAbsent: boolean): unknown {
  if (error instanceof ToolherdError) return error;
  if (isAbsent) return new DaemonNotRunningError(path, error);
  return new DaemonUnreachableError(`cannot connect to ${path}`, {
    why: error instanceof Error ? error.message : undefined,
    fix: isCode(error, 'EAGAIN') ? 'the daemon is busy with other connections; try again' : undefined,
    cause: error,
  });
}

/** A daemon that is busy answers its first word late; one that takes longer than this is stuck, or is none. */
const FIRST_ANSWER_MS = 30_000;

export interface FirstQuestion {
  /** The socket that was asked. */
  path: string;
  withinMs?: number | undefined;
  /** Ends the connection: whatever else was asked there will not be answered either. */
  giveUp(reason: string): void;
  clock?: Clock;
}

/** What a daemon answers to its first question. A socket takes connections also where nobody reads them. */
export async function firstAnswer<T>(
  asked: Promise<T>,
  { path, withinMs = FIRST_ANSWER_MS, giveUp, clock = systemClock }: FirstQuestion,
): Promise<T> {
  let timer: unknown;
  let isOver = false;
  const late = new Promise<never>((_, reject) => {
    const end = () => {
      if (isOver) return;
      const silence = silenceOf(path, withinMs);
      reject(silence);
      giveUp(`${silence.message}; ${silence.fix}`);
    };
    // an answer that came while this process was busy is read first
    timer = clock.setTimeout(() => setImmediate(end), withinMs);
  });
  try {
    return await Promise.race([asked, late]);
  } finally {
    isOver = true;
    clock.clearTimeout(timer);
  }
}

function silenceOf(path: string, withinMs: number): DaemonUnreachableError {
  return new DaemonUnreachableError(`whoever listens on ${path} has not answered for ${withinMs / 1000} s`, {
    why: 'the daemon is stopped or stuck, or it is something else that listens there',
    fix: `end it (the pid of a daemon is in ${path}.lock), then start one with 'toolherd up'`,
  });
}
