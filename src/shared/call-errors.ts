import { type ErrorDetails, ToolherdError } from './errors.js';

/** The errors of calls and of connections to servers. The library exports them. */
export class MCPError extends ToolherdError {
  override readonly type: string = 'MCPError';
}

/** The server could not be reached, or was lost. */
export class MCPConnectionError extends MCPError {
  override readonly type: string = 'MCPConnectionError';
}

/** No handshake or no reply in time. */
export class MCPTimeoutError extends MCPConnectionError {
  override readonly type: string = 'MCPTimeoutError';
}

/** The process ended while the call was waiting or running. */
export class ServerCrashedError extends MCPConnectionError {
  override readonly type: string = 'ServerCrashedError';
}

/** There is no server to take the call now: stopped, stopping, quarantined. */
export class ServerUnavailableError extends MCPConnectionError {
  override readonly type: string = 'ServerUnavailableError';
}

export const INTERNAL_ERROR = 'InternalError';

/** A fault of toolherd itself. What was thrown is only for the log: it may hold what was asked or answered. */
class InternalError extends MCPError {
  override readonly type: string = INTERNAL_ERROR;

  constructor(cause: unknown) {
    super('Internal error; the log says why', { cause });
  }
}

/** The error of a call for what was thrown on its way. `warn` logs a fault of toolherd itself, and where it is. */
export function asCallError(thrown: unknown, warn: (text: string) => void): MCPError {
  if (thrown instanceof MCPError) return thrown;
  const { name, stack = '' } = thrown instanceof Error ? thrown : new Error();
  const frame = /^ +at .+$/m.exec(stack)?.[0].trim() ?? 'at an unknown place';
  warn(`a fault in toolherd itself: ${name} ${frame}`);
  return new InternalError(thrown);
}

/** For calls while the herd shuts down. */
export function shuttingDown(): MCPError {
  return new ServerUnavailableError('the daemon is shutting down', { retryable: true, fix: 'toolherd up' });
}

/** A server's own JSON-RPC error, as it came. */
export interface RpcErrorObject {
  code: number;
  message: string;
  data?: unknown;
}

/** The server answered with a JSON-RPC error, or with something that is not a reply. */
export class MCPProtocolError extends MCPError {
  override readonly type: string = 'MCPProtocolError';
  /** What the server sent, unchanged; undefined when the fault is in the shape of its reply. */
  readonly rpc: RpcErrorObject | undefined;

  constructor(message: string, details: ErrorDetails & { rpc?: RpcErrorObject | undefined } = {}) {
    super(message, details);
    this.rpc = details.rpc;
  }
}

/** A reply over `max_message_bytes`. Only this call fails; the server keeps running. */
export class ResultTooLargeError extends MCPError {
  override readonly type: string = 'ResultTooLargeError';
}

/** Too much is waiting already; nothing was queued. */
export class OverloadedError extends MCPError {
  override readonly type: string = 'OverloadedError';
}

/** The caller cancelled the call. */
export class CancelledError extends MCPError {
  override readonly type: string = 'CancelledError';
}

/** The server asks for an authorisation that we do not have. */
export class AuthRequiredError extends MCPError {
  override readonly type: string = 'AuthRequiredError';
}

/** No server of this name is configured. */
export class ServerNotFoundError extends MCPError {
  override readonly type: string = 'ServerNotFoundError';
}

/** No profile of this name is configured, or none any more. */
export class ProfileNotFoundError extends MCPError {
  override readonly type: string = 'ProfileNotFoundError';
}

/** The server has no such tool. */
export class MCPToolNotFoundError extends MCPError {
  override readonly type: string = 'MCPToolNotFoundError';
}

/** The server has no such prompt. */
export class MCPPromptNotFoundError extends MCPError {
  override readonly type: string = 'MCPPromptNotFoundError';
}

/** The server says that it has no such resource. */
export class MCPResourceNotFoundError extends MCPError {
  override readonly type: string = 'MCPResourceNotFoundError';
  /** The error for an MCP client, where the server's own words are to be passed on. */
  readonly rpc: RpcErrorObject | undefined;

  constructor(message: string, details: ErrorDetails & { rpc?: RpcErrorObject | undefined } = {}) {
    super(message, details);
    this.rpc = details.rpc;
  }
}

/** The tool ran and said that it failed. */
export class MCPToolError extends MCPError {
  override readonly type: string = 'MCPToolError';
}

/** The user has not allowed it: a file that is new, changed or revoked, or a tool that differs from its pin. */
export class TrustRequiredError extends MCPError {
  override readonly type: string = 'TrustRequiredError';
}
