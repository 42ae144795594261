import type { Clock } from '../link/clock.js';
import { Deadlines, type Timed } from '../link/deadlines.js';
import { CancelledError, type MCPError, MCPTimeoutError, OverloadedError } from '../link/errors.js';
import type { CallHandle, CallRequest, CallSink } from '../link/session/call.js';
import type { Session } from '../link/session/session.js';

export interface GateOptions {
  /** The server's name, for messages. */
  name: string;
  clock: Clock;
  /** Why a call cannot wait here for a session; undefined when it can. */
  refusal(): MCPError | undefined;
  /** A call waits: whoever can start the server should. In the same tick as the parking. */
  wake(): void;
}

/** As many as may wait in a session, for the same reason. */
const MOST_PARKED = 10_000;

/**
 * The door of one server. It points at the session that takes calls now, or holds them until there is one: a lazy
 * server is starting, a crashed one coming back. A parked call was never written, so whichever incarnation comes may
 * serve it. The gate decides nothing: the machines open and seal it, and the keeper's state says who may wait.
 */
export class Gate {
  readonly #options: GateOptions;
  readonly #parked = new Set<Parked>();
  readonly #deadlines: Deadlines<Parked>;
  #session: Session | undefined;

  constructor(options: GateOptions) {
    this.#options = options;
    this.#deadlines = new Deadlines(options.clock, (parked) => this.#expire(parked));
  }

  /** Calls that are here or with the server, for choosing the least busy of several. */
  get load(): number {
    return this.#parked.size + (this.#session?.inFlight ?? 0) + (this.#session?.waiting ?? 0);
  }

  get parked(): number {
    return this.#parked.size;
  }

  get isOpen(): boolean {
    return this.#session !== undefined;
  }

  send(request: CallRequest, sink: CallSink): CallHandle | undefined {
    // A session closes the moment its process dies; the machine hears of it when everything of it is gone.
    if (this.#session?.state === 'open') return this.#session.send(request, sink);
    const refusal = this.#options.refusal() ?? this.#overload();
    if (refusal !== undefined) {
      sink.settle({ ok: false, error: refusal });
      return undefined;
    }
    const parked = new Parked(request, sink, this.#options.clock.now());
    this.#parked.add(parked);
    if (parked.deadline !== Number.POSITIVE_INFINITY) this.#deadlines.add(parked);
    this.#options.wake();
    return parked.handleFor((reason) => this.#cancel(parked, reason));
  }

  /** Called on entering `connected`: who waited goes first, in order. */
  open(session: Session): void {
    this.#session = session;
    for (const parked of [...this.#parked]) {
      this.#forget(parked);
      parked.handOver(session, this.#options.clock.now());
    }
  }

  /** Called on entering `closing` and on leaving `connected`. */
  seal(): void {
    this.#session = undefined;
  }

  /** No session will come for those who wait. */
  fail(error: MCPError): void {
    for (const parked of [...this.#parked]) this.#settle(parked, error);
  }

  #overload(): MCPError | undefined {
    if (this.#parked.size < MOST_PARKED) return undefined;
    const message = `${this.#options.name}: ${MOST_PARKED} calls wait for it to start`;
    return new OverloadedError(message, { retryable: true, fix: 'try again when it runs' });
  }

  #expire(parked: Parked): void {
    const { name } = this.#options;
    const message = `${name}: was not connected within the ${(parked.request.timeoutMs ?? 0) / 1000} s of this call`;
    this.#settle(
      parked,
      new MCPTimeoutError(message, {
        retryable: true,
        why: 'the call was not sent',
        fix: `see "toolherd why ${name}"`,
      }),
    );
  }

  #cancel(parked: Parked, reason: string): void {
    if (!this.#parked.has(parked)) return;
    this.#settle(parked, new CancelledError(`${this.#options.name}: the call was cancelled: ${reason}`));
  }

  #settle(parked: Parked, error: MCPError): void {
    this.#forget(parked);
    parked.sink.settle({ ok: false, error });
  }

  #forget(parked: Parked): void {
    this.#parked.delete(parked);
    this.#deadlines.remove(parked);
  }
}

/** A call without a session. Only a timeout that the caller set counts here: how long a start may take is the server's. */
class Parked implements Timed {
  readonly request: CallRequest;
  readonly sink: CallSink;
  readonly deadline: number;
  tick = 0;
  #handle: CallHandle | undefined;

  constructor(request: CallRequest, sink: CallSink, now: number) {
    this.request = request;
    this.sink = sink;
    this.deadline = request.timeoutMs === undefined ? Number.POSITIVE_INFINITY : now + request.timeoutMs;
  }

  handOver(session: Session, now: number): void {
    const left = this.deadline - now;
    const request = this.request.timeoutMs === undefined ? this.request : { ...this.request, timeoutMs: left };
    this.#handle = session.send(request, this.sink);
  }

  /** One handle for the whole way: the caller does not know where the call is. */
  handleFor(cancelParked: (reason: string) => void): CallHandle {
    const cancel = (reason = 'cancelled by the caller') =>
      this.#handle === undefined ? cancelParked(reason) : this.#handle.cancel(reason);
    return { id: 0, cancel };
  }
}
