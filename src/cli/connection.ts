import type { Socket } from 'node:net';
import { connectSocket, openSocket } from '../ipc/connect-socket.js';
import type { DaemonStatus, Fleet } from '../ipc/fleet.js';
import { remoteFleet } from '../ipc/remote-fleet.js';
import { findSocketPath } from '../ipc/socket-path.js';
import { DaemonStartError, type Started, startDaemon } from './start-daemon.js';
import type { Call } from './verb.js';

/** For how long a daemon is looked for that has the socket and does not serve; and one look at it. */
const PATIENCE_MS = 10_000;
const LOOK_MS = 1000;

export interface OpenFleet {
  fleet: Fleet;
  close(): void;
}

export function socketOf({ flags, environment, paths }: Call): string {
  const flag = typeof flags.socket === 'string' ? flags.socket : undefined;
  return findSocketPath({ flag, environment, stateFolder: paths.stateFolder });
}

/** Connects to the daemon. Where it does not run and may be started, it is. */
export async function openFleet(call: Call, autostart: boolean): Promise<OpenFleet> {
  return orStart(call, autostart, () => open(socketOf(call)));
}

/** The same, and no more than the connection. `greet`: what a daemon that is just going does not answer any more. */
export async function openDaemon(
  call: Call,
  autostart: boolean,
  greet: (socket: Socket) => Promise<void>,
): Promise<Socket> {
  return orStart(call, autostart, async () => {
    const socket = await openSocket({ path: socketOf(call) });
    await greet(socket);
    return socket;
  });
}

async function orStart<T>(call: Call, autostart: boolean, connect: () => Promise<T>): Promise<T> {
  try {
    return await connect();
  } catch (error) {
    if (!isAbsence(error) || !autostart || call.flags['no-autostart'] === true) throw error;
  }
  call.output.note('starting the daemon …');
  await startOrFind(call);
  return connect();
}

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

/** The daemon that serves; undefined where none does. `absentMs`: for how long one is waited for. */
export async function findDaemon(call: Call, absentMs = 0): Promise<DaemonStatus | undefined> {
  try {
    const { fleet, close } = await open(socketOf(call), absentMs);
    const { daemon } = await fleet.status([]);
    close();
    return daemon;
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}

/** Nobody is there, or whoever was has just gone. */
function isAbsence(error: unknown): boolean {
  const type = error instanceof Error && 'type' in error && error.type;
  return type === 'DaemonNotRunningError' || type === 'ConnectionLostError';
}

async function open(path: string, absentMs = 0): Promise<OpenFleet> {
  const peer = await connectSocket({ path, retry: { absentMs } });
  return { fleet: remoteFleet(peer), close: () => peer.end() };
}
