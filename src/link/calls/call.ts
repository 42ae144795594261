import type { MCPError } from '../../shared/call-errors.js';
import type { RawJson } from '../../shared/framing/raw-json.js';
import type { JsonObject } from '../../shared/json.js';
import type { Timed } from './deadlines.js';
import type { Waiter } from './fair-queue.js';

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

export interface CallRequest {
  method: string;
  params?: JsonObject | undefined;
  /** The call fails after this long without progress. */
  timeoutMs?: number | undefined;
  /** The call fails after this long even with progress. */
  maxTimeoutMs?: number | undefined;
  /** Who made the call: callers take turns where calls have to wait. */
  caller?: string | undefined;
  /** A request of toolherd itself (it reads a list). It is no use of the server: an idle server stays idle. */
  isOwn?: boolean | undefined;
}

export interface CallOptions extends Omit<CallRequest, 'method' | 'params'> {
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: JsonObject) => void) | undefined;
}

/** A call that was accepted. */
export interface CallHandle {
  readonly id: number;
  /** Settles the sink with CancelledError, and cancels the request at the server if it was sent. */
  cancel(reason?: string): void;
}

/** The limits of a call without its own. */
export interface CallLimits {
  timeoutMs: number;
  maxTimeoutMs: number;
}

/** The session, as its calls see it. */
export interface CallOwner extends CallLimits {
  cancel(call: Call, reason: string): void;
}

/** The session's record of a call, and the handle of its caller. */
export class Call implements Timed, Waiter, CallHandle {
  /** A second try, after the server asked for more input, gets a new id. */
  id: number;
  line: string;
  readonly method: string;
  readonly params: JsonObject | undefined;
  readonly sink: CallSink;
  readonly caller: string | undefined;
  readonly isOwn: boolean;
  readonly timeoutMs: number;
  readonly maxTimeoutMs: number;
  readonly hardDeadline: number;
  deadline: number;
  tick = 0;
  /** `waiting`: nothing was written. `sent`: the server may run it. `settled`: the sink has its outcome. */
  state: 'waiting' | 'sent' | 'settled' = 'waiting';
  readonly #owner: CallOwner;
  #holds = 0;
  #ended: AbortController | undefined;

  constructor(id: number, line: string, request: CallRequest, sink: CallSink, owner: CallOwner, now: number) {
    this.#owner = owner;
    this.id = id;
    this.line = line;
    this.sink = sink;
    this.method = request.method;
    this.params = request.params;
    this.caller = request.caller;
    this.isOwn = request.isOwn === true;
    this.timeoutMs = request.timeoutMs ?? owner.timeoutMs;
    this.maxTimeoutMs = request.maxTimeoutMs ?? owner.maxTimeoutMs;
    this.hardDeadline = now + this.maxTimeoutMs;
    this.deadline = Math.min(now + this.timeoutMs, this.hardDeadline);
  }

  cancel(reason = 'cancelled by the caller'): void {
    this.#owner.cancel(this, reason);
  }

  /** UTF-16 units, close enough to bytes for a limit. */
  get bytes(): number {
    return this.line.length;
  }

  /** Aborts when the call has its outcome. Created on first use: most servers send no requests. */
  get ended(): AbortSignal {
    this.#ended ??= new AbortController();
    if (this.state === 'settled') this.#ended.abort();
    return this.#ended.signal;
  }

  /** The server waits for an answer of ours: only the hard limit counts, until each hold is released. */
  hold(): void {
    this.#holds += 1;
    this.deadline = this.hardDeadline;
  }

  release(now: number): void {
    this.#holds -= 1;
    this.extend(now);
  }

  /** Progress came: the timeout starts over. */
  extend(now: number): void {
    if (this.#holds === 0) this.deadline = Math.min(now + this.timeoutMs, this.hardDeadline);
  }

  /** The call has its outcome. Its line is dropped, since handles may keep the call itself alive. */
  end(): void {
    this.state = 'settled';
    this.line = '';
    this.#ended?.abort();
  }
}
