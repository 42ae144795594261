import { ConfigError, MCPConfigError } from '../config/parse/problem.js';
import type { ConfigProblem, WireError } from '../fleet/fleet.js';
import { RemoteError } from '../ipc/jsonrpc/remote-error.js';
import { type ErrorObject, errorCodeOf, toErrorObject } from '../ipc/jsonrpc/rpc-error.js';
import * as callErrors from '../shared/call-errors.js';
import { type ErrorDetails, ToolherdError } from '../shared/errors.js';

type Details = ErrorDetails & { message: string; rpc?: WireError['rpc']; problems: readonly ConfigProblem[] };

/** The classes that scripts import, by the type on the wire. */
const CLASSES: Readonly<Record<string, new (message: string, details: Details) => ToolherdError>> = {
  ToolherdError,
  MCPError: callErrors.MCPError,
  MCPConnectionError: callErrors.MCPConnectionError,
  MCPTimeoutError: callErrors.MCPTimeoutError,
  MCPProtocolError: callErrors.MCPProtocolError,
  MCPToolNotFoundError: callErrors.MCPToolNotFoundError,
  MCPPromptNotFoundError: callErrors.MCPPromptNotFoundError,
  MCPResourceNotFoundError: callErrors.MCPResourceNotFoundError,
  MCPToolError: callErrors.MCPToolError,
  ServerNotFoundError: callErrors.ServerNotFoundError,
  ProfileNotFoundError: callErrors.ProfileNotFoundError,
  ServerUnavailableError: callErrors.ServerUnavailableError,
  ServerCrashedError: callErrors.ServerCrashedError,
  ResultTooLargeError: callErrors.ResultTooLargeError,
  OverloadedError: callErrors.OverloadedError,
  CancelledError: callErrors.CancelledError,
  TrustRequiredError: callErrors.TrustRequiredError,
  AuthRequiredError: callErrors.AuthRequiredError,
};
const CONFIG_CLASSES: Readonly<Record<string, typeof ConfigError>> = { ConfigError, MCPConfigError };

/**
 * What a script catches for what a fleet threw: the same class with the same fields, whether the herd is in this process or
 * at the other end of the socket. An error of the connection itself, and a bug, stay as they are.
 */
export function fleetError(thrown: unknown): unknown {
  if (thrown instanceof RemoteError) return ofClass(thrown.type, thrown as ErrorObject) ?? thrown;
  const object = thrown instanceof ToolherdError ? toErrorObject(thrown) : undefined;
  if (object === undefined) return thrown;
  // as the socket would carry it
  const data = JSON.parse(JSON.stringify(object.data)) as WireError;
  return ofClass(data.type, { ...object, data }, (thrown as Error).cause) ?? thrown;
}

/** The error of a result with `success: false`, for scripts that want to throw it or to ask for its class. */
export function toError(error: WireError): ToolherdError {
  const object = { code: errorCodeOf(error.type), message: error.message, data: error };
  return ofClass(error.type, object) ?? new RemoteError(object);
}

function ofClass(
  type: string,
  { code, message, data }: ErrorObject,
  cause?: unknown,
): ToolherdError | undefined {
  const wire = (data ?? {}) as Partial<WireError>;
  const { why, fix, retryable, sent, problems = [] } = wire;
  const rpc = wire.rpc ?? rpcOf(wire);
  const details: Details = { message, why, fix, retryable, sent, rpc, problems, code, data, cause };
  if (Object.hasOwn(CONFIG_CLASSES, type)) return new CONFIG_CLASSES[type]!(problems, details);
  return Object.hasOwn(CLASSES, type) ? new CLASSES[type]!(message, details) : undefined;
}

/** A `ToolResult` has the code and the data of the server's error, and its message within that of toolherd. */
function rpcOf({ code, message = '', data }: Partial<WireError>): WireError['rpc'] {
  return code === undefined ? undefined : { code, message, ...(data === undefined ? {} : { data }) };
}
