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
