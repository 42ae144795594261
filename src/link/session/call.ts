import type { MCPError } from '../../shared/call-errors.js';
import type { RawJson } from '../../shared/framing/raw-json.js';
import type { JsonObject } from '../../shared/json.js';
import type { Timed } from './deadlines.js';
import type { Waiter } from './fair-queue.js';

/**
 * How a call ended. Exactly one of these reaches its sink. `raw`: the result as its bytes, for a sink that accepts them;
 * whoever asks for `result` all the same has it parsed. `text`: the same of one that was short enough to be parsed. `isError`: what is known of it all the same. `bytes`: of the
 * result, or of the whole reply where it was parsed.
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

/** Where the outcome goes. The form without a promise, for whoever forwards ten thousand calls a second. */
export interface CallSink {
  /** Once; for a call that is refused at the door, before `send` returns. */
  settle(outcome: Outcome): void;
  /** Where it is present, the server is asked for progress, and progress extends the timeout. */
  progress?: ((progress: JsonObject) => void) | undefined;
  /**
   * Answers what the server itself asks for while it works on this call (sampling, elicitation): resolves with the
   * result, rejects with the reason why not. Absent where nobody can be asked.
   */
  ask?: Ask | undefined;
  /** It only hands the result on: a long one may come as the server's own bytes. */
  acceptsRaw?: boolean | undefined;
}

/** One question of a server. The signal aborts when the answer is not wanted any more. */
export type Ask = (
  method: string,
  params: JsonObject | undefined,
  signal: AbortSignal,
) => Promise<JsonObject>;

export interface CallRequest {
  method: string;
  params?: JsonObject | undefined;
  /** Without progress for this long the call fails. */
  timeoutMs?: number | undefined;
  /** With any amount of progress it fails after this long. */
  maxTimeoutMs?: number | undefined;
  /** On whose behalf: callers take turns where calls have to wait. */
  caller?: string | undefined;
  /** Toolherd asks it for itself (it reads a list), so it is no use of the server: an idle server stays idle. */
  isOwn?: boolean | undefined;
}

export interface CallOptions extends Omit<CallRequest, 'method' | 'params'> {
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: JsonObject) => void) | undefined;
}

/** A call that was accepted. */
export interface CallHandle {
  readonly id: number;
  /** Takes the call back: its sink is settled with CancelledError, and the server is told if it knows of the call. */
  cancel(reason?: string): void;
}

/** What holds for a call that does not say otherwise. */
export interface Limits {
  timeoutMs: number;
  maxTimeoutMs: number;
}

/** What a session tells its calls. */
export interface CallHome extends Limits {
  takeBack(call: Call, reason: string): void;
}

/** The session's own record of a call, and what whoever made it holds of it. */
export class Call implements Timed, Waiter, CallHandle {
  /** A call that is asked again, because the server wanted to know more, gets a new one. */
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
  /** `waiting`: not a byte was written. `sent`: it may run. `settled`: the sink has its outcome. */
  state: 'waiting' | 'sent' | 'settled' = 'waiting';
  readonly #home: CallHome;
  #holds = 0;
  #ended: AbortController | undefined;

  constructor(id: number, line: string, request: CallRequest, sink: CallSink, home: CallHome, now: number) {
    this.#home = home;
    this.id = id;
    this.line = line;
    this.sink = sink;
    this.method = request.method;
    this.params = request.params;
    this.caller = request.caller;
    this.isOwn = request.isOwn === true;
    this.timeoutMs = request.timeoutMs ?? home.timeoutMs;
    this.maxTimeoutMs = request.maxTimeoutMs ?? home.maxTimeoutMs;
    this.hardDeadline = now + this.maxTimeoutMs;
    this.deadline = Math.min(now + this.timeoutMs, this.hardDeadline);
  }

  cancel(reason = 'cancelled by the caller'): void {
    this.#home.takeBack(this, reason);
  }

  /** UTF-16 units, near enough to bytes for a cap. */
  get bytes(): number {
    return this.line.length;
  }

  /** Aborts when the call has its outcome. Made when it is asked for: most servers ask nothing. */
  get ended(): AbortSignal {
    this.#ended ??= new AbortController();
    if (this.state === 'settled') this.#ended.abort();
    return this.#ended.signal;
  }

  /** It waits for us, not for the server: only its hard limit counts, until each hold was released. */
  hold(): void {
    this.#holds += 1;
    this.deadline = this.hardDeadline;
  }

  release(now: number): void {
    this.#holds -= 1;
    this.extend(now);
  }

  /** Something was heard of it. */
  extend(now: number): void {
    if (this.#holds === 0) this.deadline = Math.min(now + this.timeoutMs, this.hardDeadline);
  }

  /** Nobody waits for it any more. What it said is let go, whoever still holds the call itself. */
  end(): void {
    this.state = 'settled';
    this.line = '';
    this.#ended?.abort();
  }
}
