import type { BegunCall, CallHandle, CallRequest } from '../../link/calls/call.js';
import type { Session } from '../../link/calls/session.js';
import type { MCPError } from '../../shared/call-errors.js';
import type { CallSink } from '../../shared/call-sink.js';
import type { Clock } from '../../shared/clock.js';
import { type Taker, WaitingCalls } from './waiting-calls.js';

export interface GateOptions {
  /** The server's name, for messages. */
  name: string;
  clock: Clock;
  /** Why a call cannot wait here for a session; undefined when it can. */
  refusal(): MCPError | undefined;
  /** A call waits: start the server. Called in the same tick in which the call begins to wait. */
  wake(): void;
}

/**
 * Where the calls of one server pass or wait. It points at the session that takes calls now, or holds them until there is
 * one: a lazy server is starting, a crashed one coming back. A waiting call was never written, so any incarnation may
 * serve it. The gate decides nothing: the machines open and seal it, and the keeper's state says which calls may wait.
 */
export class Gate {
  readonly #options: GateOptions;
  readonly #waitingCalls: WaitingCalls;
  #session: Session | undefined;

  constructor(options: GateOptions) {
    this.#options = options;
    this.#waitingCalls = new WaitingCalls(options.name, options.clock);
  }

  /** Calls that are here or with the server, for choosing the least busy of several. */
  get load(): number {
    return this.#waitingCalls.size + (this.#session?.inFlight ?? 0) + (this.#session?.waiting ?? 0);
  }

  /** Calls that wait here. */
  get held(): BegunCall[] {
    return this.#waitingCalls.all();
  }

  get waiting(): number {
    return this.#waitingCalls.size;
  }

  /** A process that has died closes its session at once; the machine gets a report when all of it is gone. */
  get isOpen(): boolean {
    return this.#session?.state === 'open';
  }

  send(request: CallRequest, sink: CallSink): CallHandle | undefined {
    if (this.#session !== undefined && this.isOpen) return this.#session.send(request, sink);
    const refusal = this.#options.refusal();
    if (refusal !== undefined) {
      sink.settle({ ok: false, error: refusal });
      return undefined;
    }
    const handle = this.#waitingCalls.add(request, sink);
    if (handle !== undefined) this.#options.wake();
    return handle;
  }

  /** Called on entering `connected`: waiting calls pass first, in order. */
  open(session: Session, take: Taker = (request, sink) => session.send(request, sink)): void {
    this.#session = session;
    while (this.#waitingCalls.handOver(take));
  }

  /** Called on entering `closing` and on leaving `connected`. */
  seal(): void {
    this.#session = undefined;
  }

  /** Fails the calls that wait. */
  fail(error: MCPError): void {
    this.#waitingCalls.fail(error);
  }
}
