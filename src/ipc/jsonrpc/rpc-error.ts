/** The codes of JSON-RPC itself. */
export const CODE = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
} as const;

/** What stands under `error` in a reply. */
export interface ErrorObject {
  code: number;
  message: string;
  data?: unknown;
}

/** An error that goes over the wire as it is. */
export class RpcError extends Error implements ErrorObject {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}
