import type { BegunCall, CallHandle, CallRequest } from '../../link/calls/call.js';
import { Deadlines, type Timed } from '../../link/calls/deadlines.js';
import { cancelled } from '../../link/calls/refusals.js';
import { type MCPError, MCPTimeoutError, OverloadedError } from '../../shared/call-errors.js';
import type { CallSink } from '../../shared/call-sink.js';
import type { Clock } from '../../shared/clock.js';
import { seconds } from '../../shared/text/seconds.js';
import { shellWord } from '../../shared/text/shell-word.js';

/** The same limits as for calls that wait in a session. */
const MOST_WAITING = 10_000;
const MOST_BYTES = 64 * 2 ** 20;

/** Takes a call over: a session, or a process that will have one. */
export type Taker = (request: CallRequest, sink: CallSink) => CallHandle | undefined;

/**
 * Calls that wait for a session or a process, in the order in which they came. Each leaves once: handed over, failed,
 * cancelled, or timed out. Only a timeout that the caller set counts here: how long a start may take is the server's.
 */
export class WaitingCalls {
  readonly #name: string;
  readonly #clock: Clock;
  readonly #waiting = new Set<WaitingCall>();
  readonly #deadlines: Deadlines<WaitingCall>;
  #bytes = 0;

  /** `name`: the server's, for messages. */
  constructor(name: string, clock: Clock) {
    this.#name = name;
    this.#clock = clock;
    this.#deadlines = new Deadlines(clock, (waiting) => this.#expire(waiting));
  }

  get size(): number {
    return this.#waiting.size;
  }

  all(): BegunCall[] {
    return [...this.#waiting].flatMap(({ request, since }) =>
      request.isOwn ? [] : [{ ...request, begunAt: since }],
    );
  }

  /** Undefined when too many wait: its sink has the error then. The handle stays valid after the call was handed over. */
  add(request: CallRequest, sink: CallSink): CallHandle | undefined {
    const overload = this.#overload();
    if (overload !== undefined) {
      sink.settle({ ok: false, error: overload });
      return undefined;
    }
    const waiting = new WaitingCall(request, sink, this.#clock.now());
    this.#waiting.add(waiting);
    this.#bytes += waiting.bytes;
    if (waiting.deadline !== Number.POSITIVE_INFINITY) this.#deadlines.add(waiting);
    const cancel = (reason = 'cancelled by the caller') => {
      if (this.#waiting.has(waiting)) this.#fail(waiting, cancelled(this.#name, false, reason));
      else waiting.handle?.cancel(reason);
    };
    return { id: 0, cancel };
  }

  /** Hands over the one that has waited longest. False when none is left. */
  handOver(taker: Taker): boolean {
    for (const waiting of this.#waiting) {
      const leftMs = waiting.deadline - this.#clock.now();
      // it has timed out, and the timer has not fired yet
      if (leftMs <= 0) {
        this.#expire(waiting);
        continue;
      }
      this.#leave(waiting);
      const { request, sink } = waiting;
      waiting.handle = taker(
        request.timeoutMs === undefined ? request : { ...request, timeoutMs: leftMs },
        sink,
      );
      return true;
    }
    return false;
  }

  /** Fails every call that waits. */
  fail(error: MCPError): void {
    for (const waiting of [...this.#waiting]) this.#fail(waiting, error);
  }

  #overload(): MCPError | undefined {
    if (this.#waiting.size < MOST_WAITING && this.#bytes < MOST_BYTES) return undefined;
    const message = `${this.#name}: ${this.#waiting.size} calls wait for it already`;
    const why = 'it is not connected, or busy with as many as max_in_flight allows';
    return new OverloadedError(message, { retryable: true, why, fix: 'try again when it runs' });
  }

  #expire(waiting: WaitingCall): void {
    const message = `${this.#name}: was not connected within the ${seconds(waiting.request.timeoutMs ?? 0)} of this call`;
    const details = {
      retryable: true,
      why: 'the call was not sent',
      fix: `see "toolherd why ${shellWord(this.#name)}"`,
    };
    this.#fail(waiting, new MCPTimeoutError(message, details));
  }

  #fail(waiting: WaitingCall, error: MCPError): void {
    // the sink may cancel other calls, and cancel this one again
    if (this.#leave(waiting)) waiting.sink.settle({ ok: false, error });
  }

  #leave(waiting: WaitingCall): boolean {
    if (!this.#waiting.delete(waiting)) return false;
    this.#bytes -= waiting.bytes;
    this.#deadlines.remove(waiting);
    return true;
  }
}

class WaitingCall implements Timed {
  readonly request: CallRequest;
  readonly sink: CallSink;
  readonly since: number;
  readonly deadline: number;
  readonly bytes: number;
  tick = 0;
  /** Set when it was handed over. */
  handle: CallHandle | undefined;

  constructor(request: CallRequest, sink: CallSink, now: number) {
    this.request = request;
    this.sink = sink;
    this.since = now;
    this.deadline = request.timeoutMs === undefined ? Number.POSITIVE_INFINITY : now + request.timeoutMs;
    this.bytes = weightOf(request.params);
  }
}

/** The length of its line. One that cannot be written counts as 0: the session will refuse it. */
function weightOf(params: unknown): number {
  try {
    return JSON.stringify(params)?.length ?? 0;
  } catch {
    return 0;
  }
}
