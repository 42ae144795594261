import type { OnRequest } from './requests.js';
import type { ToolResult } from './results.js';

export interface CallParams {
  server: string;
  tool: string;
  arguments?: Record<string, unknown> | undefined;
  timeout_ms?: number | undefined;
  request_id?: string | undefined;
}

/** Who is behind the calls of one connection. */
export interface Caller {
  via: 'socket' | 'http' | 'library';
  /** As it calls itself; null where it did not say. */
  client: { name: string; version: string | null } | null;
  /** The agent's file; null: the global herd. */
  agent: string | null;
}

export interface CallContext {
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: Record<string, unknown>) => void) | undefined;
  /** Answers what the server asks for while it works on this call (sampling, elicitation). Absent: nobody can. */
  onRequest?: OnRequest | undefined;
  /** Told by `request`, in this process alone, which server was found to be meant. */
  onServer?: ((server: string) => void) | undefined;
  /** On whose behalf. Calls that do not say are taken for those of one caller. */
  caller?: string | undefined;
  /** Whoever asks only hands the result of MCP on, so that a large one may be a `RawJson`. */
  acceptsRaw?: boolean | undefined;
}

export interface CallManyParams {
  calls: CallParams[];
  /** How many are under way at once; default: all of them. */
  concurrency?: number | undefined;
  /** `first`: one success is enough; `quorum`: as many as `quorum` says. The rest is cancelled. Default `all`. */
  mode?: 'all' | 'first' | 'quorum' | undefined;
  quorum?: number | undefined;
  /** For all of them together. */
  timeout_ms?: number | undefined;
}

/** The same call to every server that has this tool. */
export interface BroadcastParams {
  tool: string;
  arguments?: Record<string, unknown> | undefined;
  /** Globs of names; default: all. */
  servers?: string[] | undefined;
  timeout_ms?: number | undefined;
}

export interface ManyContext {
  signal?: AbortSignal | undefined;
  caller?: string | undefined;
  /** Each result as it comes; `total`: of how many calls. */
  onResult?: ((index: number, result: ToolResult, total: number) => void) | undefined;
}
