import type { RawJson } from '../shared/framing/raw-json.js';

export interface PromptParams {
  server: string;
  /** Its own name, or its public one. */
  name: string;
  arguments?: Record<string, unknown> | undefined;
  timeout_ms?: number | undefined;
}

export interface ResourceParams {
  server: string;
  uri: string;
  timeout_ms?: number | undefined;
}

/** The requests of MCP that are passed on to a server. */
export const REQUESTS = ['tools/call', 'prompts/get', 'resources/read', 'completion/complete'] as const;

export interface RequestParams {
  /** Absent: the server is found by the public name or the URI. */
  server?: string | undefined;
  method: (typeof REQUESTS)[number];
  /** As MCP has them; names are own or public names. */
  params: Record<string, unknown>;
  timeout_ms?: number | undefined;
}

export interface WatchParams {
  /** Absent: the server is found by the URI. */
  server?: string | undefined;
  uri: string;
}

/** A result of MCP, as it came from the server. */
export type McpResult = Record<string, unknown>;

/** Resolves with the answer, or rejects. The signal aborts when the server does not need the answer any more. */
export type OnRequest = (
  method: string,
  params: Record<string, unknown> | undefined,
  signal: AbortSignal,
) => Promise<Record<string, unknown>>;

/** The outcome of a forwarded request. The error is one that `request` rejects with. */
export type Forwarded =
  /** `raw`, `text`: the source of the result, where it was kept: to pass it on needs no JSON.stringify. */
  | { ok: true; result: McpResult; raw?: RawJson | undefined; text?: string | undefined }
  | { ok: false; error: unknown };

/** Receives the outcome. */
export interface ForwardSink {
  readonly caller: string;
  /** Where it is present, the server is asked for progress. */
  readonly progress: ((progress: Record<string, unknown>) => void) | undefined;
  /** Answers requests of the server during the call. */
  readonly ask: OnRequest | undefined;
  /** The caller only passes the result on, so a large one may be a `RawJson`. */
  readonly acceptsRaw: boolean;
  /** Called once, perhaps before `forward` returns. */
  settle(outcome: Forwarded): void;
}

export interface ForwardHandle {
  cancel(reason?: string): void;
}
