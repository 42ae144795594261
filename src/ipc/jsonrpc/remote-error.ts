import type { WireError } from '../../fleet/fleet.js';
import { type ErrorDetails, ToolherdError } from '../../shared/errors.js';
import { CODE } from '../../shared/mcp/rpc-codes.js';
import type { ErrorObject } from './rpc-error.js';

/** The error types for JSON-RPC's own codes. */
const TYPE_BY_CODE: Readonly<Record<number, string>> = {
  [CODE.parse]: 'ParseError',
  [CODE.invalidRequest]: 'InvalidRequestError',
  [CODE.methodNotFound]: 'MethodNotFoundError',
  [CODE.invalidParams]: 'InvalidParamsError',
  [CODE.internal]: 'InternalError',
};

/** An error of the other side, with the `type` that it has there. */
export class RemoteError extends ToolherdError {
  override readonly type: string;
  /** The JSON-RPC error of the MCP server, where the server answered with one. */
  readonly rpc: WireError['rpc'];

  constructor({ code, message, data }: ErrorObject) {
    const { type, why, fix, retryable, sent, rpc } = isWireError(data) ? data : detailsByCode(code);
    super(message, { why, fix, retryable, sent, code, data });
    this.type = type;
    this.rpc = rpc;
  }
}

type Details = Omit<WireError, 'message'>;

function detailsByCode(code: number): Details {
  const type = TYPE_BY_CODE[code] ?? 'RemoteError';
  if (code !== CODE.methodNotFound) return { type, retryable: false, sent: false };
  const fix = "the daemon may be older than this client: 'toolherd up --replace' starts this version";
  return { type, fix, retryable: false, sent: false };
}

function isWireError(data: unknown): data is WireError {
  if (typeof data !== 'object' || data === null) return false;
  const { type, retryable, sent } = data as Partial<WireError>;
  return typeof type === 'string' && typeof retryable === 'boolean' && typeof sent === 'boolean';
}

/** The connection ended before the reply came. */
export class ConnectionLostError extends ToolherdError {
  override readonly type: string = 'ConnectionLostError';

  /** `sent`: the request was written. */
  constructor(reason: string, { sent, ...details }: ErrorDetails & { sent: boolean }) {
    super(`the connection is closed: ${reason}`, { ...details, sent, retryable: !sent });
  }
}
