import type { Separator } from '../shared/mcp/separators.js';
import type { OnRequest, ResultCut } from './requests.js';
import type { ToolResult } from './results.js';

export interface CallParams {
  server: string;
  tool: string;
  arguments?: Record<string, unknown> | undefined;
  timeout_ms?: number | undefined;
  request_id?: string | undefined;
}

/** The client behind the calls of one connection. */
export interface Caller {
  via: 'socket' | 'http' | 'library' | 'page' | 'cluster';
  /** The name that it gives; null where it gives none. */
  client: { name: string; version: string | null } | null;
  /** The agent's file; null: the global herd. */
  agent: string | null;
  /** The profile of the connection; absent or null: none. */
  profile?: string | null | undefined;
}

export interface CallContext {
  signal?: AbortSignal | undefined;
  /**
   * Instead of `signal`, for calls of a connection: it gets the function that cancels the call. An AbortSignal for each call
   * took a third of the daemon's time for `fleet/call`.
   */
  onCancel?: ((cancel: (reason: string) => void) => void) | undefined;
  onProgress?: ((progress: Record<string, unknown>) => void) | undefined;
  /** Answers requests of the server during this call (sampling, elicitation). Absent: the caller answers none. */
  onRequest?: OnRequest | undefined;
  /** `request` calls it with the server that it found. Only in this process. */
  onServer?: ((server: string) => void) | undefined;
  /** The name of the connection. Calls without one count as calls of one caller. */
  caller?: string | undefined;
  /** Where calls wait, those with the same turn count as calls of one caller. Only in this process. */
  turn?: string | undefined;
  /** The caller only passes the result on, so a large one may be a `RawJson`. */
  acceptsRaw?: boolean | undefined;
  /** In the public names that the caller lists. Absent: that of the config. Only in this process. */
  separator?: Separator | undefined;
  /** How the result is cut for the caller. Only in this process. */
  cut?: ResultCut | undefined;
}

export interface CallManyParams {
  calls: CallParams[];
  /** How many run at once; default: all of them. */
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
  separator?: Separator | undefined;
  /** Called with each result when it arrives; `total`: the number of calls. */
  onResult?: ((index: number, result: ToolResult, total: number) => void) | undefined;
}
