import type { WireError } from '../../fleet/fleet.js';
import { INTERNAL_ERROR } from '../../shared/call-errors.js';
import { ToolherdError } from '../../shared/errors.js';
import { CODE } from '../../shared/mcp/rpc-codes.js';
import type { IdText } from './message.js';

/** The `error` of a reply. */
export interface ErrorObject {
  code: number;
  message: string;
  data?: unknown;
}

/** An error that the other side gets as it is. */
export class RpcError extends Error implements ErrorObject {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** The JSON-RPC code of each type of error; docs/PROTOCOL.md lists them. A number is never given to another type. */
export const ERROR_CODES: Readonly<Record<string, number>> = {
  ToolherdError: 1000,
  ConfigError: 1001,
  MCPConfigError: 1002,
  MCPError: 1010,
  MCPConnectionError: 1011,
  MCPTimeoutError: 1012,
  MCPProtocolError: 1013,
  MCPToolNotFoundError: 1014,
  MCPToolError: 1015,
  MCPPromptNotFoundError: 1016,
  MCPResourceNotFoundError: 1017,
  ServerNotFoundError: 1020,
  ServerUnavailableError: 1021,
  ServerCrashedError: 1022,
  ProfileNotFoundError: 1023,
  ResultTooLargeError: 1030,
  OverloadedError: 1031,
  CancelledError: 1032,
  TrustRequiredError: 1040,
  AuthRequiredError: 1041,
};

/** What the subclasses of `ToolherdError` add, each of them some of it. */
interface MoreDetails {
  rpc?: WireError['rpc'];
  /** Of a ConfigError. */
  problems?: WireError['problems'];
  /** Of a TrustRequiredError. */
  file?: unknown;
  wouldRun?: readonly { envFile?: string }[];
}

/** Undefined for an error that is not part of the protocol. That is a bug, and its text is only for the log. */
export function toErrorObject(error: unknown): ErrorObject | undefined {
  if (error instanceof RpcError) return { code: error.code, message: error.message, data: error.data };
  const isKnown = error instanceof ToolherdError && error.type !== INTERNAL_ERROR;
  return isKnown ? describe(error) : undefined;
}

function describe(error: ToolherdError & MoreDetails): ErrorObject {
  const { type, message, why, fix, retryable, sent, rpc, problems, file, wouldRun } = error;
  const data: WireError = {
    type,
    message,
    why,
    fix,
    retryable,
    sent,
    ...(rpc === undefined ? {} : { rpc }),
    ...(problems === undefined ? {} : { problems }),
    ...(wouldRun === undefined ? {} : { file, would_run: wouldRun.map(toWire) }),
  };
  return { code: errorCodeOf(type), message, data };
}

/** 1000 for a type without a number. */
export function errorCodeOf(type: string): number {
  return (Object.hasOwn(ERROR_CODES, type) ? ERROR_CODES[type] : ERROR_CODES.ToolherdError) ?? CODE.internal;
}

/** The error of a request that its client cancelled. `sent`: a server may have begun to work on it. */
export function cancelled(sent = false): ErrorObject {
  const message = 'the request was cancelled';
  const data: WireError = { type: 'CancelledError', message, retryable: false, sent };
  return { code: errorCodeOf('CancelledError'), message, data };
}

/** The same for a cancelled request that failed with `error`. */
export function wasCancelled(error?: unknown): RpcError {
  const { code, message, data } = cancelled(error instanceof ToolherdError && error.sent);
  return new RpcError(code, message, data);
}

/** The line of a reply, without its end. */
export function errorText(id: IdText, { code, message, data }: ErrorObject): string {
  return `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify({ code, message, data })}}`;
}

function toWire({ envFile, ...rest }: { envFile?: string }): Record<string, unknown> {
  return envFile === undefined ? rest : { ...rest, env_file: envFile };
}
