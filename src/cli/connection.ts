import { connectSocket } from '../ipc/connect-socket.js';
import type { Fleet } from '../ipc/fleet.js';
import { remoteFleet } from '../ipc/remote-fleet.js';
import { findSocketPath } from '../ipc/socket-path.js';
import { OTHERS_START_MS, startDaemon } from './start-daemon.js';
import type { Call } from './verb.js';

export interface OpenFleet {
  fleet: Fleet;
  close(): void;
}

export function socketOf({ flags, environment, paths }: Call): string {
  const flag = typeof flags.socket === 'string' ? flags.socket : undefined;
  return findSocketPath({ flag, environment, stateFolder: paths.stateFolder });
}

/** Connects to the daemon. Where it does not run and may be started, it is. */
export async function openFleet(call: Call, autostart: boolean, absentMs = 0): Promise<OpenFleet> {
  const path = socketOf(call);
  try {
    return await open(path, absentMs);
  } catch (error) {
    const isAbsent = error instanceof Error && 'type' in error && error.type === 'DaemonNotRunningError';
    if (!isAbsent || !autostart || call.flags['no-autostart'] === true) throw error;
  }
  call.output.note('starting the daemon …');
  await startDaemon(call);
  return open(path, OTHERS_START_MS);
}

/** `absentMs`: for how long a daemon is waited for that does not serve yet. */
async function open(path: string, absentMs = 0): Promise<OpenFleet> {
  const peer = await connectSocket({ path, retry: { absentMs } });
  return { fleet: remoteFleet(peer), close: () => peer.end() };
}
