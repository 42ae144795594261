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
