import { setTimeout as sleep } from 'node:timers/promises';
import type { DaemonStatus } from '../../fleet/fleet.js';
import { ToolherdError } from '../../shared/errors.js';
import type { CommandContext } from '../core/command.js';
import { formatDuration } from '../core/duration.js';
import { connectTo, socketOf } from './connect.js';

/** Maximum wait for a daemon to end: its servers get 10 s, or what `down --grace` says. */
const EXIT_WAIT_MS = 60_000;
const POLL_MS = 50;

/** `absent`: nothing listens on the socket. `lost`: the connection was ended before it had an answer. */
export type DaemonLook = DaemonStatus | 'absent' | 'lost';

/** A daemon was ordered to end, and takes longer than the command may wait. */
class StillEndingError extends ToolherdError {
  override readonly type: string = 'MCPTimeoutError';
}

/** One look at the socket. `absentMs`: how long to try again while nothing listens there. */
export async function lookForDaemon(context: CommandContext, absentMs = 0): Promise<DaemonLook> {
  try {
    const { fleet, close, first } = await connectTo(socketOf(context), absentMs);
    const { daemon } = await first(fleet.status([]));
    close();
    return daemon;
  } catch (error) {
    const { type } = error as { type?: unknown };
    if (type === 'DaemonNotRunningError') return 'absent';
    if (type === 'ConnectionLostError') return 'lost';
    throw error;
  }
}

export function isServing(found: DaemonLook): found is DaemonStatus {
  return typeof found !== 'string' && !found.closing;
}

export function isEnding(found: DaemonLook): found is DaemonStatus {
  return typeof found !== 'string' && !isServing(found);
}

/** The daemon that serves; undefined where none does. One that is ending is waited for. */
export async function findDaemon(context: CommandContext): Promise<DaemonStatus | undefined> {
  for (;;) {
    const found = await lookForDaemon(context);
    if (isServing(found)) return found;
    if (!isEnding(found)) return undefined;
    await waitForDaemonExit(context, found);
  }
}

/** Waits until a daemon has given its socket up, or another one serves there. At most as long as --timeout says. */
export async function waitForDaemonExit(context: CommandContext, { pid }: DaemonStatus): Promise<void> {
  const { globals, output } = context;
  const patienceMs = Math.min(globals.timeout ?? EXIT_WAIT_MS, EXIT_WAIT_MS);
  const startedAt = Date.now();
  const waitedMs = () => Date.now() - startedAt;
  try {
    for (; waitedMs() < patienceMs; await sleep(POLL_MS)) {
      output.progress(`waiting for the daemon (pid ${pid}) to end, ${Math.round(waitedMs() / 1000)}s`);
      const found = await lookForDaemon(context);
      if (found === 'absent' || isServing(found)) return;
    }
  } finally {
    output.progress(undefined);
  }
  const patience = formatDuration(patienceMs);
  throw new StillEndingError(`the daemon (pid ${pid}) is ending, and has not ended within ${patience}`, {
    why: 'no other daemon can serve before its servers have stopped',
    fix: `try again, with a longer --timeout; or end it at once with: kill -9 ${pid}`,
  });
}
