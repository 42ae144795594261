import type { FleetHandle } from './library/api.js';
import { type ConnectOptions, connectFleet } from './library/connect-fleet.js';
import { fleetError } from './library/fleet-error.js';
import { fleetHandle } from './library/fleet-handle.js';

export { ConfigError, MCPConfigError } from './config/parse/problem.js';
export type * from './fleet/fleet.js';
export { ConnectionLostError, RemoteError } from './ipc/jsonrpc/remote-error.js';
export { DaemonNotRunningError, DaemonUnreachableError } from './ipc/socket/connect-socket.js';
export { SocketPathError } from './ipc/socket/socket-path.js';
export type * from './library/api.js';
export type { ConnectOptions } from './library/connect-fleet.js';
export { toError } from './library/fleet-error.js';
export { FleetClosedError } from './library/open-calls.js';
export type { TextResult } from './library/tool-text.js';
/** What scripts import to use the daemon. Light: nothing but Node's own modules comes with it. */
export {
  AuthRequiredError,
  CancelledError,
  MCPConnectionError,
  MCPError,
  MCPPromptNotFoundError,
  MCPProtocolError,
  MCPResourceNotFoundError,
  MCPTimeoutError,
  MCPToolError,
  MCPToolNotFoundError,
  OverloadedError,
  ProfileNotFoundError,
  ResultTooLargeError,
  ServerCrashedError,
  ServerNotFoundError,
  ServerUnavailableError,
  TrustRequiredError,
} from './shared/call-errors.js';
export { ToolherdError } from './shared/errors.js';

/** The herd of the daemon. It has to run: `toolherd up`. */
export async function connect(options?: ConnectOptions): Promise<FleetHandle> {
  const fleet = await connectFleet(options).catch((error: unknown) => {
    throw fleetError(error);
  });
  return fleetHandle(fleet, () => fleet.close());
}
