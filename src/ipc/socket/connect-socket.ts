import { constants } from 'node:buffer';
import { connect, type Socket } from 'node:net';
import { nextTurn, sleep, withTimeout } from '../../shared/async.js';
import { type Clock, systemClock } from '../../shared/clock.js';
import { isCode, ToolherdError } from '../../shared/errors.js';
import { seconds } from '../../shared/text/seconds.js';
import { Peer } from '../jsonrpc/peer.js';
import { checkLength, checkSocketPath } from './socket-path.js';

/** No process listens on the socket. */
export class DaemonNotRunningError extends ToolherdError {
  override readonly type: string = 'DaemonNotRunningError';
  readonly path: string;

  constructor(path: string, cause: unknown) {
    super(`no daemon is running on ${path}`, { fix: "start it with 'toolherd up'", cause });
    this.path = path;
  }
}

/** There is a daemon, but it does not accept the connection or does not answer. */
export class DaemonUnreachableError extends ToolherdError {
  override readonly type: string = 'DaemonUnreachableError';
}

export interface ConnectOptions {
  path: string;
  /** How long to retry where the connection queue of the daemon is full, and where there is no daemon yet. */
  retry?: { busyMs?: number; absentMs?: number };
  /** `any`: the config names the socket, and another user may own it. Default: it must belong to this user alone. */
  owner?: 'any';
  clock?: Clock;
}

/** A server's config sets how large replies may be. Node cannot read more than this. */
const MAX_REPLY_BYTES = constants.MAX_STRING_LENGTH;
/** As deep as the daemon can write: a refused line would end the connection and all its requests. */
const MAX_REPLY_DEPTH = 100_000;
const FIRST_DELAY_MS = 5;
const LONGEST_DELAY_MS = 100;

export async function connectSocket(options: ConnectOptions): Promise<Peer> {
  const socket = await openSocket(options);
  const { clock = systemClock } = options;
  const limits = { maxLineBytes: MAX_REPLY_BYTES, maxDepth: MAX_REPLY_DEPTH };
  return new Peer(socket, { ...limits, badLines: 'fatal', clock });
}

/** The socket, without a `Peer`. */
export async function openSocket({
  path,
  retry = {},
  owner,
  clock = systemClock,
}: ConnectOptions): Promise<Socket> {
  const { busyMs = 5000, absentMs = 0 } = retry;
  const startedAt = clock.now();
  for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(delayMs * 2, LONGEST_DELAY_MS)) {
    try {
      if (owner === 'any') checkLength(path);
      else checkSocketPath(path);
      return await open(path);
    } catch (error) {
      // ECONNRESET: the daemon ended while the connection was in its queue
      const isAbsent = isCode(error, 'ENOENT', 'ECONNREFUSED', 'ECONNRESET');
      const patienceMs = isAbsent ? absentMs : isCode(error, 'EAGAIN') ? busyMs : 0;
      if (clock.now() - startedAt >= patienceMs) throw explain(path, error, isAbsent);
    }
    await sleep(clock, delayMs);
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

/** A busy daemon answers late. A process that takes longer than this is stuck, or is not a daemon. */
const FIRST_ANSWER_MS = 30_000;

export interface FirstAnswerOptions {
  /** The path of the socket. */
  path: string;
  withinMs?: number | undefined;
  /** Ends the connection, and so every other request on it. */
  giveUp(reason: string): void;
  clock?: Clock;
}

/** Waits for the first answer on a connection. The kernel accepts connections even where no process reads them. */
export async function firstAnswer<T>(
  asked: Promise<T>,
  { path, withinMs = FIRST_ANSWER_MS, giveUp, clock = systemClock }: FirstAnswerOptions,
): Promise<T> {
  const answered = asked.then((value) => ({ value }));
  let answer = await withTimeout(withinMs, answered, clock);
  // an answer may have come while this process was busy: read the socket once more
  answer ??= await Promise.race([answered, nextTurn()]);
  if (answer !== undefined) return answer.value;
  const silence = silenceOf(path, withinMs);
  giveUp(`${silence.message}; ${silence.fix}`);
  throw silence;
}

function silenceOf(path: string, withinMs: number): DaemonUnreachableError {
  return new DaemonUnreachableError(
    `the process that listens on ${path} has not answered for ${seconds(withinMs)}`,
    {
      why: 'the daemon is stopped or stuck, or another program listens there',
      fix: `end it (the pid of a daemon is in ${path}.lock), then start one with 'toolherd up'`,
    },
  );
}
