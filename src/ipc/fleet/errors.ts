export interface WireError {
  type: string;
  message: string;
  why?: string | undefined;
  fix?: string | undefined;
  retryable: boolean;
  /** Whether the request had been written to the server: it may have run. */
  sent: boolean;
  /** The server's own JSON-RPC error, where that is what went wrong. */
  rpc?: { code: number; message: string; data?: unknown } | undefined;
  /** Of a config that is wrong: each problem with its place. */
  problems?: unknown;
  /** Of an agent's file that is not allowed: what it would run. */
  file?: unknown;
  would_run?: unknown;
}
