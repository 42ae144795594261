import { OverloadedError } from '../../shared/call-errors.js';
import { CODE } from '../../shared/rpc-codes.js';
import { IncomingRequest, type Register, type Reply, type RequestContext } from './incoming-request.js';
import type { IdText, Incoming } from './message.js';
import { type ErrorObject, errorText, toErrorObject } from './rpc-error.js';

/** What a method returns that will answer through its context: the way of calls, which spares them the promises. */
export const DEFERRED = Symbol('later');

export type Method = (params: unknown, context: RequestContext) => unknown;

type Request = Extract<Incoming, { kind: 'request' }>;

/** More at once on one connection than the herd itself lets wait. */
const MAX_RUNNING = 20_000;
const FRESH_AFTER = 1024;

/**
 * The requests of the other side that are being answered. Each gets exactly one reply: a result, or an error. After
 * `close` nobody is answered and everything is aborted.
 */
export class IncomingRequests {
  readonly #find: (method: string) => Method | undefined;
  readonly #register: Register;
  /** How many requests the present Map of those that run has seen. */
  #seen = 0;

  constructor(
    find: (method: string) => Method | undefined,
    report: (error: unknown, method: string) => void,
  ) {
    this.#find = find;
    this.#register = { incoming: new Map(), notified: new Set(), standing: new Set(), report };
  }

  /** How many requests wait for their reply, without those that only stand open. */
  get size(): number {
    return this.#register.incoming.size - this.#register.standing.size;
  }

  request({ id, method, params }: Request, reply: Reply): void {
    const run = this.#find(method);
    if (run === undefined) {
      reply(errorText(id, { code: CODE.methodNotFound, message: `Method not found: ${method}` }));
      return;
    }
    const refusal = this.#refusal(id);
    if (refusal !== undefined) {
      reply(errorText(id, refusal));
      return;
    }
    const incoming = new IncomingRequest(this.#register, method, id, reply);
    this.#add(id, incoming);
    begin(run, params, incoming);
  }

  /** A notification of a method that answers is run like a request whose reply nobody wants. */
  notification(method: string, params: unknown): void {
    const run = this.#find(method);
    if (run === undefined) return;
    const incoming = new IncomingRequest(this.#register, method);
    this.#register.notified.add(incoming);
    begin(run, params, incoming);
  }

  cancel(id: IdText, wantsReply = true): void {
    const incoming = this.#register.incoming.get(id);
    if (incoming === undefined) return;
    incoming.isUnwanted = !wantsReply;
    incoming.cancel();
  }

  close(): void {
    const { incoming, notified } = this.#register;
    for (const one of [...incoming.values(), ...notified]) {
      one.isOpen = false;
      one.cancel();
    }
  }

  /** Now and then into a new Map: one whose entries come and go keeps what went alive (see `InFlight`). */
  #add(id: IdText, incoming: IncomingRequest): void {
    const register = this.#register;
    this.#seen += 1;
    if (this.#seen > FRESH_AFTER + 4 * register.incoming.size) {
      this.#seen = 0;
      register.incoming = new Map(register.incoming);
    }
    register.incoming.set(id, incoming);
  }

  #refusal(id: IdText): ErrorObject | undefined {
    const { incoming } = this.#register;
    if (incoming.has(id)) {
      return {
        code: CODE.invalidRequest,
        message: `Invalid request: id ${id} is in use by a request in flight`,
      };
    }
    if (incoming.size < MAX_RUNNING) return undefined;
    const message = `${MAX_RUNNING} requests of this connection are waiting already`;
    const why = 'a connection may not hold more';
    return toErrorObject(new OverloadedError(message, { why, retryable: true }));
  }
}

/** Called at once, so that requests begin in the order in which they came; what it throws is an error like any other. */
function begin(run: Method, params: unknown, incoming: IncomingRequest): void {
  let result: unknown;
  try {
    result = run(params, incoming);
  } catch (error) {
    incoming.fail(error);
    return;
  }
  if (result === DEFERRED) return;
  if (!(result instanceof Promise)) incoming.answer(result);
  else {
    result.then(
      (value) => incoming.answer(value),
      (error) => incoming.fail(error),
    );
  }
}
