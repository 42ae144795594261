import type { WireError } from '../../fleet/fleet.js';
import { ToolherdError } from '../../shared/errors.js';
import { CODE } from '../../shared/rpc-codes.js';
import { type ErrorObject, RpcError } from './rpc-error.js';

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
  ResultTooLargeError: 1030,
  OverloadedError: 1031,
  CancelledError: 1032,
  TrustRequiredError: 1040,
  AuthRequiredError: 1041,
};

interface Typed {
  type: string;
  message: string;
  why?: unknown;
  fix?: unknown;
  retryable?: unknown;
  sent?: unknown;
  rpc?: WireError['rpc'];
  /** Of a ConfigError. */
  problems?: WireError['problems'];
  /** Of a TrustRequiredError. */
  file?: unknown;
  wouldRun?: readonly { envFile?: string }[];
}

/** Told apart by `type`: the classes live where src/ipc may not look. */
function isTyped(error: unknown): error is Typed {
  if (typeof error !== 'object' || error === null) return false;
  const { type, message } = error as Partial<Typed>;
  if (typeof type !== 'string' || typeof message !== 'string') return false;
  return Object.hasOwn(ERROR_CODES, type) || error instanceof ToolherdError;
}

/** Undefined for an error that is no part of the protocol: a bug, whose words are for the log alone. */
export function toErrorObject(error: unknown): ErrorObject | undefined {
  if (error instanceof RpcError) return { code: error.code, message: error.message, data: error.data };
  if (!isTyped(error)) return undefined;
  const data: WireError = {
    type: error.type,
    message: error.message,
    why: textOf(error.why),
    fix: textOf(error.fix),
    retryable: error.retryable === true,
    sent: error.sent === true,
    ...(error.rpc === undefined ? {} : { rpc: error.rpc }),
    ...(error.problems === undefined ? {} : { problems: error.problems }),
    ...(error.wouldRun === undefined ? {} : { file: error.file, would_run: error.wouldRun.map(toWire) }),
  };
  return { code: codeOf(error.type), message: error.message, data };
}

function codeOf(type: string): number {
  return (Object.hasOwn(ERROR_CODES, type) ? ERROR_CODES[type] : ERROR_CODES.ToolherdError) ?? CODE.internal;
}

/** The answer to a request that was taken back. `sent`: a server may have begun with it. */
export function cancelled(sent = false): ErrorObject {
  const message = 'the request was cancelled';
  const data: WireError = { type: 'CancelledError', message, retryable: false, sent };
  return { code: codeOf('CancelledError'), message, data };
}

/** The same of one that failed with this. */
export function wasCancelled(error?: unknown): RpcError {
  const { code, message, data } = cancelled((error as Partial<Typed> | undefined)?.sent === true);
  return new RpcError(code, message, data);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function toWire({ envFile, ...rest }: { envFile?: string }): Record<string, unknown> {
  return envFile === undefined ? rest : { ...rest, env_file: envFile };
}
