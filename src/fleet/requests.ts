import type { RawJson } from '../shared/framing/raw-json.js';

export interface PromptParams {
  server: string;
  /** Its own name, or its exposed one. */
  name: string;
  arguments?: Record<string, unknown> | undefined;
  timeout_ms?: number | undefined;
}

export interface ResourceParams {
  server: string;
  uri: string;
  timeout_ms?: number | undefined;
}

/** The requests of MCP that go through to a server. */
export const REQUESTS = ['tools/call', 'prompts/get', 'resources/read', 'completion/complete'] as const;

export interface RequestParams {
  /** Absent: whoever has what is asked for, by its exposed name or its URI. */
  server?: string | undefined;
  method: (typeof REQUESTS)[number];
  /** As MCP has them; names are the server's own or exposed. */
  params: Record<string, unknown>;
  timeout_ms?: number | undefined;
}

export interface WatchParams {
  /** Absent: whoever has it. */
  server?: string | undefined;
  uri: string;
}

/** A result of MCP, as it came from the server. */
export type McpResult = Record<string, unknown>;

/** Resolves with the result, or rejects with the reason why not. The signal: the answer is not wanted any more. */
export type OnRequest = (
  method: string,
  params: Record<string, unknown> | undefined,
  signal: AbortSignal,
) => Promise<Record<string, unknown>>;

/** What became of a request that was forwarded. The error is a typed one, as `request` rejects with. */
export type Forwarded =
  /** `raw`, `text`: the same as it came, where nobody looked into it or need write it again. */
  | { ok: true; result: McpResult; raw?: RawJson | undefined; text?: string | undefined }
  | { ok: false; error: unknown };

/** Where the outcome goes. */
export interface ForwardSink {
  readonly caller: string;
  /** Where it is present, the server is asked for progress. */
  readonly progress: ((progress: Record<string, unknown>) => void) | undefined;
  /** Answers what the server asks for while it works on the call. */
  readonly ask: OnRequest | undefined;
  /** It passes the result on without looking into it: a large one may come as bytes. */
  readonly acceptsRaw: boolean;
  /** Called once, perhaps before `forward` returns. */
  settle(outcome: Forwarded): void;
}

export interface ForwardHandle {
  cancel(reason?: string): void;
}
