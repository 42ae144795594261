import type { Ask, CallSink } from '../shared/call-sink.js';
import type { Separator } from '../shared/mcp/separators.js';

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
  /** Only a replica of this daemon may take it, and none of another node of the cluster. Not on the socket. */
  ownOnly?: true | undefined;
}

export interface WatchParams {
  /** Absent: the server is found by the URI. */
  server?: string | undefined;
  uri: string;
  /** As for `RequestParams`. */
  ownOnly?: true | undefined;
}

/** A result of MCP, as it came from the server. */
export type McpResult = Record<string, unknown>;

/** Answers one request of a server. */
export type OnRequest = Ask;

/** How the text of a result is cut for an agent that can page it with `read_result`. */
export interface ResultCut {
  /** In characters. An entry's `result_limit` comes first. */
  limit: number;
  /** Only this owner can read the kept text by its id. */
  owner: string;
}

/** Receives the outcome of a forwarded request, perhaps before `forward` returns. */
export interface ForwardSink extends CallSink {
  readonly caller: string;
  /** In the public names that the caller lists. Absent: that of the config. */
  readonly separator?: Separator | undefined;
  /** Absent: only the entry of the server may cut the result. */
  readonly cut?: ResultCut | undefined;
}

export interface ForwardHandle {
  cancel(reason?: string): void;
}
