/** One thing that is wrong in a config file. */
export interface ConfigProblem {
  type: 'ConfigError' | 'MCPConfigError' | 'ValidationError';
  message: string;
  why?: string;
  fix: string;
  file: string;
  line: number;
  column: number;
  path: string;
  /** The name of the variable that is not set, where that is the problem. Never a value. */
  variable?: string;
}

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
  problems?: readonly ConfigProblem[] | undefined;
  /** Of an agent's file that is not allowed: what it would run. */
  file?: unknown;
  would_run?: unknown;
}
