import type { CallHandle, CallRequest } from '../../link/calls/call.js';
import { cancelled } from '../../link/calls/refusals.js';
import type { MCPError } from '../../shared/call-errors.js';
import type { Ask, CallSink, Outcome } from '../../shared/call-sink.js';
import type { Clock } from '../../shared/clock.js';
import type { JsonObject } from '../../shared/json.js';
import type { Candidate } from './candidate.js';
import { type Refusal, refusedByAll } from './refusals.js';

/** What the calls of one server share. */
export interface CallsHome {
  /** The server's name, for messages. */
  readonly name: string;
  readonly clock: Clock;
  /** The time of a call that brings none, in milliseconds. */
  readonly timeoutMs: number;
  /** The next node for a call that these nodes did not take; undefined: there is none. */
  next(tried: readonly Candidate[]): Candidate | undefined;
  /** The error of a call while no node offers the server. */
  refusal(): MCPError;
}

/**
 * Errors which say that a node cannot take the call now. Others are about the call itself (an unknown tool, a
 * cancellation), and every node would answer the same.
 */
const MOVING: ReadonlySet<string> = new Set([
  'AuthRequiredError',
  'MCPConnectionError',
  'MCPProtocolError',
  'MCPTimeoutError',
  'OverloadedError',
  'ServerCrashedError',
  'ServerNotFoundError',
  'ServerUnavailableError',
]);

/**
 * A call of a server that several nodes have. A node that refuses it before anything was sent gives it back, and the next
 * one gets it, each node at most once. An error with `sent: true` is final: the tool may have run.
 *
 * | state | what is true in it |
 * |---|---|
 * | `choosing` | a node is being given the call, and may refuse it before `send` returns |
 * | `placed` | a node has it |
 * | `settled` | the caller has its outcome |
 */
export class MovableCall implements CallSink, CallHandle {
  readonly id = 0;
  readonly progress: ((progress: JsonObject) => void) | undefined;
  readonly ask: Ask | undefined;
  readonly acceptsRaw: boolean | undefined;
  readonly #home: CallsHome;
  readonly #request: CallRequest;
  readonly #sink: CallSink;
  readonly #begunAt: number;
  readonly #tried: Candidate[] = [];
  readonly #refusals: Refusal[] = [];
  #state: 'choosing' | 'placed' | 'settled' = 'choosing';
  #handle: CallHandle | undefined;
  /** The caller has cancelled it while it was given to a node. */
  #cancelReason: string | undefined;

  constructor(home: CallsHome, request: CallRequest, sink: CallSink) {
    this.#home = home;
    this.#request = request;
    this.#sink = sink;
    this.#begunAt = home.clock.now();
    this.progress = sink.progress;
    this.ask = sink.ask;
    this.acceptsRaw = sink.acceptsRaw;
  }

  get isSettled(): boolean {
    return this.#state === 'settled';
  }

  /** Gives it to one node after the other, until one takes it. */
  place(): void {
    this.#state = 'choosing';
    while (this.#state === 'choosing') this.#offer();
    if (this.#state === 'placed' && this.#cancelReason !== undefined)
      this.#handle?.cancel(this.#cancelReason);
  }

  /** A node that refuses the call before `send` returns leaves it `choosing`. */
  #offer(): void {
    const candidate = this.#cancelReason === undefined ? this.#home.next(this.#tried) : undefined;
    if (candidate === undefined) {
      this.#settle({ ok: false, error: this.#lastError() });
      return;
    }
    this.#tried.push(candidate);
    const refusals = this.#refusals.length;
    const handle = candidate.send(this.#remaining(), this);
    if (this.isSettled || this.#refusals.length > refusals) return;
    this.#handle = handle;
    this.#state = 'placed';
  }

  routed(incarnation: number): void {
    this.#sink.routed?.(incarnation);
  }

  /** The outcome at the node that has the call. */
  settle(outcome: Outcome): void {
    if (this.isSettled) return;
    const candidate = this.#tried.at(-1)!;
    const isRefused = !outcome.ok && this.#isMoving(outcome.error);
    candidate.ended(isRefused);
    if (isRefused) this.#refusals.push({ node: candidate.node, error: outcome.error });
    if (!isRefused) this.#settle(outcome);
    else if (this.#state === 'placed') this.place();
  }

  cancel(reason = 'cancelled by the caller'): void {
    if (this.#state === 'placed') this.#handle?.cancel(reason);
    else this.#cancelReason = reason;
  }

  #isMoving({ sent, type }: MCPError): boolean {
    if (sent || !MOVING.has(type)) return false;
    const { timeoutMs } = this.#request;
    // a node that is slow to start must not have the time of a call twice
    const limitMs =
      timeoutMs ?? (type === 'MCPTimeoutError' ? this.#home.timeoutMs : Number.POSITIVE_INFINITY);
    return this.#elapsedMs < limitMs;
  }

  get #elapsedMs(): number {
    return this.#home.clock.now() - this.#begunAt;
  }

  #remaining(): CallRequest {
    const { timeoutMs } = this.#request;
    if (timeoutMs === undefined || this.#tried.length === 1) return this.#request;
    return { ...this.#request, timeoutMs: timeoutMs - this.#elapsedMs };
  }

  #lastError(): MCPError {
    const { name } = this.#home;
    if (this.#cancelReason !== undefined) return cancelled(name, false, this.#cancelReason);
    return this.#refusals.length === 0 ? this.#home.refusal() : refusedByAll(name, this.#refusals);
  }

  #settle(outcome: Outcome): void {
    this.#state = 'settled';
    this.#sink.settle(outcome);
  }
}
