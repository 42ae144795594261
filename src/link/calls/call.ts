import type { CallSink } from '../../shared/call-sink.js';
import type { JsonObject } from '../../shared/json.js';
import type { Timed } from './deadlines.js';
import type { Waiter } from './fair-queue.js';

export interface CallRequest {
  method: string;
  params?: JsonObject | undefined;
  /** The call fails after this long without progress. */
  timeoutMs?: number | undefined;
  /** The call fails after this long even with progress. */
  maxTimeoutMs?: number | undefined;
  /** Who made the call: callers take turns where calls have to wait. */
  caller?: string | undefined;
  /** Several callers that have one turn together. Absent: the caller has its turn. */
  turn?: string | undefined;
  /** A request of toolherd itself (it reads a list). It is no use of the server: an idle server stays idle. */
  isOwn?: boolean | undefined;
  /** It came from another node of the cluster: only what runs here may serve it. */
  ownOnly?: boolean | undefined;
}

/** A call without an outcome: who made it, and when. */
export interface BegunCall {
  method: string;
  params?: JsonObject | undefined;
  caller?: string | undefined;
  /** By the clock. */
  begunAt: number;
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
  /** The call counts its timeout from now on. */
  restartTimeout(call: Call): void;
}

export function turnOf({ turn, caller }: CallRequest): string | undefined {
  return turn ?? caller;
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
  readonly turn: string | undefined;
  readonly isOwn: boolean;
  readonly timeoutMs: number;
  /** The caller set the timeout; it is not that of the server's entry. */
  readonly hasOwnTimeout: boolean;
  readonly maxTimeoutMs: number;
  readonly hardDeadline: number;
  deadline: number;
  tick = 0;
  /**
   * `waiting`: nothing was written. `sent`: the server may run it. `awaiting input`: the server has ended its request and
   * asks for more input, so it owes no reply. `settled`: the sink has its outcome.
   */
  state: 'waiting' | 'sent' | 'awaiting input' | 'settled' = 'waiting';
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
    this.turn = turnOf(request);
    this.isOwn = request.isOwn === true;
    this.timeoutMs = request.timeoutMs ?? owner.timeoutMs;
    this.hasOwnTimeout = request.timeoutMs !== undefined;
    this.maxTimeoutMs = request.maxTimeoutMs ?? owner.maxTimeoutMs;
    this.hardDeadline = now + this.maxTimeoutMs;
    this.deadline = Math.min(now + this.timeoutMs, this.hardDeadline);
  }

  cancel(reason = 'cancelled by the caller'): void {
    this.#owner.cancel(this, reason);
  }

  /** The server had the request and may have run something; of a call without an outcome. */
  get wasSent(): boolean {
    return this.state === 'sent' || this.state === 'awaiting input';
  }

  /** Not stored: it would cost every call a field. */
  get begunAt(): number {
    return this.hardDeadline - this.maxTimeoutMs;
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

  /** The server has its answer: after the last release the timeout counts again. */
  release(): void {
    if (this.state === 'settled') return;
    this.#holds -= 1;
    this.#owner.restartTimeout(this);
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
