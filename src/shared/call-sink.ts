import type { MCPError } from './call-errors.js';
import type { RawJson } from './framing/raw-json.js';
import type { JsonObject } from './json.js';

/**
 * How a call ended. Exactly one of these reaches its sink. `raw`: the bytes of a large result, for a sink that accepts
 * them; reading `result` parses them. `text`: the JSON text of a result that was parsed. `isError`: whether the tool
 * reports a failure, where that is known without parsing. `bytes`: the size of the result, or of the whole reply where it
 * was parsed.
 */
export type Outcome =
  | {
      ok: true;
      readonly result: JsonObject;
      readonly raw?: RawJson | undefined;
      readonly text?: string | undefined;
      readonly isError?: boolean | undefined;
      readonly bytes?: number | undefined;
    }
  | { ok: false; error: MCPError };

/** Gets the outcome. Without a promise, for code that forwards ten thousand calls a second. */
export interface CallSink {
  /** Called once; for a refused call, before `send` returns. */
  settle(outcome: Outcome): void;
  /** The session of this incarnation has the call; before `settle`. A call that waits for a session has none yet. */
  routed?: ((incarnation: number) => void) | undefined;
  /** Where present, the server is asked for progress, and progress extends the timeout. */
  progress?: ((progress: JsonObject) => void) | undefined;
  /**
   * Answers a request of the server during this call (sampling, elicitation): resolves with the result, rejects with the
   * reason. Absent where the caller cannot answer.
   */
  ask?: Ask | undefined;
  /** The sink only passes the result on: a long one may come as the server's bytes. */
  acceptsRaw?: boolean | undefined;
}

/** Answers one request of a server. The signal aborts when the answer is not wanted any more. */
export type Ask = (
  method: string,
  params: JsonObject | undefined,
  signal: AbortSignal,
) => Promise<JsonObject>;
