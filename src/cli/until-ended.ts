import { setTimeout as sleep } from 'node:timers/promises';
import { findDaemon } from './connection.js';
import type { Call } from './verb.js';

const ENDING_MS = 10_000;
const LOOK_MS = 10;

/**
 * A daemon gives its report before it has let go of its processes, its files and, last of all, the socket. By the socket
 * and not by its pid alone: where nobody collects the dead, a pid stays. False where it does not end.
 */
export async function untilEnded(call: Call, pid: number): Promise<boolean> {
  for (const deadline = Date.now() + ENDING_MS; Date.now() < deadline; await sleep(LOOK_MS)) {
    // somebody may have started another one already
    if ((await findDaemon(call))?.pid !== pid) return true;
  }
  return false;
}
