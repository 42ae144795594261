import type { DaemonStatus } from '../ipc/fleet.js';
import { findDaemon, socketOf } from './connection.js';
import { DaemonStartError, type Started, startDaemon } from './start-daemon.js';
import type { Call } from './verb.js';

/** For how long a daemon is looked for that has the socket and does not serve; and one look at it. */
const PATIENCE_MS = 10_000;
const LOOK_MS = 1000;

/**
 * Starts the daemon, or finds the one that another command started in the same moment. One that was killed holds the
 * socket a little longer than it lives; so both are tried until one succeeds.
 */
export async function startOrFind(call: Call): Promise<{ started: Started } | { found: DaemonStatus }> {
  for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; ) {
    const started = await startDaemon(call);
    if (started !== undefined) return { started };
    const found = await findDaemon(call, LOOK_MS);
    if (found !== undefined) return { found };
  }
  throw new DaemonStartError({
    type: 'DaemonStartError',
    message: `another daemon has the lock of ${socketOf(call)}, but does not serve`,
    fix: `end it; its pid is in ${socketOf(call)}.lock`,
  });
}
