import { type ErrorDetails, ToolherdError } from './errors.js';

/**
 * The errors of calls and of connections to servers. Each has two facts:
 *
 * - `sent`: bytes of the request may have reached the server, so the tool may have run;
 * - `retryable`: a repeat may succeed and cannot run anything twice. A call that was sent is never `retryable`, so
 *   that a script which looks at nothing else is safe.
 */
export interface MCPErrorDetails extends ErrorDetails {
  retryable?: boolean | undefined;
  sent?: boolean | undefined;
}

export class MCPError extends ToolherdError {
  override readonly type: string = 'MCPError';
  readonly retryable: boolean;
  readonly sent: boolean;

  constructor(message: string, details: MCPErrorDetails = {}) {
    super(message, details);
    this.sent = details.sent ?? false;
    this.retryable = !this.sent && (details.retryable ?? false);
  }
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

  constructor(message: string, details: MCPErrorDetails & { rpc?: RpcErrorObject | undefined } = {}) {
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
