import type { FleetHandle } from './library/api.js';
import { type ConnectOptions, connectFleet } from './library/connect-fleet.js';
import { fleetHandle } from './library/fleet-handle.js';

export type * from './fleet/fleet.js';
export type { TextResult } from './fleet/tool-text.js';
export { ConnectionLostError, RemoteError } from './ipc/jsonrpc/remote-error.js';
export { DaemonNotRunningError, DaemonUnreachableError } from './ipc/socket/connect-socket.js';
export { SocketPathError } from './ipc/socket/socket-path.js';
export type * from './library/api.js';
export type { ConnectOptions } from './library/connect-fleet.js';
export { FleetClosedError } from './library/open-calls.js';
/** What scripts import to use the daemon. Light: nothing but Node's own modules comes with it. */
export { ToolherdError } from './shared/errors.js';

/** The herd of the daemon. It has to run: `toolherd up`. */
export async function connect(options?: ConnectOptions): Promise<FleetHandle> {
  const fleet = await connectFleet(options);
  return fleetHandle(fleet, () => fleet.close());
}
