import type { ConfigProblem } from '../shared/report/config-problem.js';

export type { ConfigProblem };

export interface WireError {
  type: string;
  message: string;
  why?: string | undefined;
  fix?: string | undefined;
  retryable: boolean;
  /** Whether the request was written to the server: it may have run. */
  sent: boolean;
  /** Of a `ToolResult`: the code and the data of the server's JSON-RPC error, where it answered with one. */
  code?: number | undefined;
  data?: unknown;
  /** The JSON-RPC error of the server, where it answered with one. */
  rpc?: { code: number; message: string; data?: unknown } | undefined;
  /** Of a wrong config: each problem with its position. */
  problems?: readonly ConfigProblem[] | undefined;
  /** Of an agent's file that is not allowed: what it would run. */
  file?: unknown;
  would_run?: unknown;
}

/** What a block holds beside its content, as it came. */
export interface BlockExtras {
  annotations?: unknown;
  /** Its `_meta`. */
  meta?: unknown;
  /** Every other field; `more.resource` has those of an embedded resource. */
  more?: Record<string, unknown>;
}

export type ContentBlock =
  | ({ type: 'text'; text: string } & BlockExtras)
  | ({ type: 'image' | 'audio'; data: string; mime_type: string } & BlockExtras)
  | ({
      type: 'binary';
      /** Base64, also of text; null for a link. */
      data: string | null;
      mime_type: string | null;
      uri: string | null;
      name?: string;
    } & BlockExtras)
  | { type: 'unknown'; original_type: string; raw: unknown };

/** A result that `result_limit` cut. */
export interface Truncation {
  /** Characters of text that the tool gave, and how many of them are in `content`. */
  characters: number;
  given: number;
  /** The file that holds all of the text; null when it could not be written. */
  uri: string | null;
}

export interface ToolResult {
  success: boolean;
  content: ContentBlock[];
  error: WireError | null;
  metadata: {
    server: string;
    tool: string;
    request_id: string;
    incarnation: number | null;
    execution_time_ms: number;
    is_error: boolean;
    structured_content?: unknown;
    meta?: unknown;
    truncated?: Truncation;
  };
}
