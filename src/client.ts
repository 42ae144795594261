import { homedir } from 'node:os';
import { ToolherdError } from './errors.js';
import { connectSocket } from './ipc/connect-socket.js';
import type { Fleet } from './ipc/fleet.js';
import { remoteFleet } from './ipc/remote-fleet.js';
import { findSocketPath } from './ipc/socket-path.js';
import { type TextResult, withText } from './ipc/tool-text.js';
import { findPaths } from './paths.js';
import { API_VERSION, VERSION } from './version.js';

/** What scripts import to use the daemon. Light: nothing but Node's own modules comes with it. */
export { ToolherdError } from './errors.js';
export { DaemonNotRunningError, DaemonUnreachableError } from './ipc/connect-socket.js';
export type * from './ipc/fleet.js';
export { ConnectionLostError, RemoteError } from './ipc/remote-error.js';
export { SocketPathError } from './ipc/socket-path.js';
export type { TextResult } from './ipc/tool-text.js';

export interface ConnectedFleet extends Fleet, AsyncDisposable {
  call(...call: Parameters<Fleet['call']>): Promise<TextResult>;
  close(): void;
}

export interface ConnectOptions {
  /** Default: `$TOOLHERD_SOCKET`, or where the daemon of this user is. */
  socket?: string | undefined;
  /** An agent.yaml, whose view of the herd is wanted. */
  agent?: string | undefined;
}

export async function connect({ socket, agent }: ConnectOptions = {}): Promise<ConnectedFleet> {
  const { stateFolder } = findPaths(process.env, homedir());
  const path = findSocketPath({ flag: socket, environment: process.env, stateFolder });
  const peer = await connectSocket({ path });
  try {
    const client = { name: 'toolherd/client', version: VERSION };
    checkVersion(await peer.request('fleet/hello', { client, agent }));
  } catch (error) {
    peer.destroy();
    throw error;
  }
  const close = () => peer.destroy();
  const fleet = remoteFleet(peer);
  return {
    ...fleet,
    call: async (params, context) => withText(await fleet.call(params, context)),
    close,
    [Symbol.asyncDispose]: async () => close(),
  };
}

function checkVersion(hello: unknown): void {
  const version = (hello as { api_version?: unknown }).api_version;
  if (version === API_VERSION) return;
  throw new ToolherdError(
    `the daemon speaks version ${version} of the protocol, this client ${API_VERSION}`,
    {
      fix: "start the daemon of this version with 'toolherd up --replace'",
    },
  );
}
