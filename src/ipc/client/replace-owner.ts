import { sleep } from '../../shared/async.js';
import { type Clock, systemClock } from '../../shared/clock.js';
import { ToolherdError } from '../../shared/errors.js';
import { seconds } from '../../shared/text/seconds.js';
import type { Peer } from '../jsonrpc/peer.js';
import { ConnectionLostError } from '../jsonrpc/remote-error.js';
import { connectSocket, DaemonNotRunningError, firstAnswer } from '../socket/connect-socket.js';
import { readOwner, type SocketLock, tryLock } from '../socket/socket-lock.js';
import {
  claimUnder,
  lockFileOf,
  lockSocket,
  type SocketClaim,
  successorFileOf,
} from '../socket/socket-owner.js';
import { prepareSocketFolder } from '../socket/socket-path.js';

/** The running daemon did not release its socket. */
class ReplaceError extends ToolherdError {
  override readonly type: string = 'ReplaceError';
}

/** Maximum wait for the old daemon to end (its servers get 10 s), and for another successor to finish. */
const PATIENCE_MS = 60_000;
const FIRST_DELAY_MS = 10;
const LONGEST_DELAY_MS = 100;

/**
 * Claims a socket after its present daemon has ended. This process registers as the successor, with a lock that the
 * kernel releases when it dies: other daemons that start meanwhile leave the socket to it. A daemon that was faster is
 * asked to end too. Of two successors one waits for the other, and then replaces it.
 */
export async function replaceOwner(path: string, clock: Clock = systemClock): Promise<SocketClaim> {
  prepareSocketFolder(path);
  const registration = await register(path, clock);
  try {
    for (const attempt of attempts(clock)) {
      const lock = await lockSocket(path);
      if (typeof lock !== 'string') return claimUnder(lock, path);
      if (!(await endOwner(path, attempt.leftMs, clock))) await attempt.pause();
    }
    const pid = await readOwner(lockFileOf(path));
    throw new ReplaceError(
      `the daemon ${pid === null ? '' : `(pid ${pid}) `}that serves ${path} did not end`,
      {
        why: `it was asked to, and still has the socket after ${seconds(PATIENCE_MS)}`,
        fix: pid === null ? 'end it, then start one with: toolherd up' : `end it with: kill ${pid}`,
      },
    );
  } finally {
    registration.release();
  }
}

async function register(path: string, clock: Clock): Promise<SocketLock> {
  const file = successorFileOf(path);
  for (const attempt of attempts(clock)) {
    const lock = tryLock(file);
    if (lock !== undefined) return lock;
    await attempt.pause();
  }
  const pid = await readOwner(file);
  throw new ReplaceError(
    `another process ${pid === null ? '' : `(pid ${pid}) `}is replacing the daemon of ${path}`,
    {
      why: `it has not come to an end for ${seconds(PATIENCE_MS)}`,
      fix: 'see what it waits for, or end it; then try again',
    },
  );
}

/** Asks the daemon that serves to end, and waits until it has closed the connection. False where none answers. */
async function endOwner(path: string, withinMs: number, clock: Clock): Promise<boolean> {
  let peer: Peer | undefined;
  let timer: unknown;
  try {
    const open = await connectSocket({ path, clock });
    peer = open;
    const giveUp = (reason: string) => open.destroy(reason);
    await firstAnswer(open.request('fleet/status', { servers: [] }), { path, giveUp, clock });
    timer = clock.setTimeout(() => giveUp('it took too long to end'), withinMs);
    await open.request('fleet/shutdown', { successor: process.pid });
    await open.closed;
    return true;
  } catch (error) {
    // the daemon has ended, or is ending
    if (error instanceof DaemonNotRunningError || error instanceof ConnectionLostError) return false;
    throw error;
  } finally {
    clock.clearTimeout(timer);
    peer?.destroy();
  }
}

interface Attempt {
  /** Time that is left. */
  leftMs: number;
  pause(): Promise<void>;
}

/** Attempts with growing pauses, until `PATIENCE_MS` is over. */
function* attempts(clock: Clock): Generator<Attempt> {
  const deadline = clock.now() + PATIENCE_MS;
  for (
    let delayMs = FIRST_DELAY_MS;
    clock.now() < deadline;
    delayMs = Math.min(delayMs * 2, LONGEST_DELAY_MS)
  ) {
    yield { leftMs: deadline - clock.now(), pause: () => sleep(clock, delayMs) };
  }
}
