import type { DaemonStatus } from '../../fleet/fleet.js';
import type { CommandContext } from '../core/command.js';
import { socketOf } from './connect.js';
import { isEnding, isServing, lookForDaemon, waitForDaemonExit } from './find-daemon.js';
import { DaemonStartError, type Started, startDaemon } from './start.js';

/** How long to try where a daemon has the lock and neither serves nor says that it is ending; and one look at it. */
const PATIENCE_MS = 10_000;
const LOOK_MS = 1000;

/**
 * Finds the daemon that serves, or starts one. A daemon that is ending is waited for first. A killed daemon holds the
 * lock a little longer than it lives, another command may start one in the same moment, and a successor waits for the
 * daemon that it replaces; so both are tried until one succeeds.
 */
export async function ensureDaemon(
  call: CommandContext,
): Promise<{ started: Started } | { found: DaemonStatus }> {
  let absentMs = 0;
  for (let deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; ) {
    const found = await lookForDaemon(call, absentMs);
    if (isServing(found)) return { found };
    if (isEnding(found)) {
      await waitForDaemonExit(call, found);
      deadline = Date.now() + PATIENCE_MS;
      continue;
    }
    try {
      return { started: await startDaemon(call) };
    } catch (error) {
      if ((error as Partial<DaemonStartError>).type !== 'AlreadyRunningError') throw error;
    }
    absentMs = LOOK_MS;
  }
  throw new DaemonStartError({
    type: 'DaemonStartError',
    message: `another daemon has the lock of ${socketOf(call)}, but does not serve`,
    fix: `end it; its pid is in ${socketOf(call)}.lock`,
  });
}
