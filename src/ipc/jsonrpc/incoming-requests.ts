import { BusyMap } from '../../shared/busy-map.js';
import { OverloadedError } from '../../shared/call-errors.js';
import { CODE } from '../../shared/mcp/rpc-codes.js';
import { IncomingRequest, type OpenRequests, type Reply, type RequestContext } from './incoming-request.js';
import type { IdText, Incoming } from './message.js';
import { type ErrorObject, errorText, toErrorObject } from './rpc-error.js';

/** Returned by a method that replies later through its context. Calls do this, because it costs no promise. */
export const DEFERRED = Symbol('deferred');

export type Method = (params: unknown, context: RequestContext) => unknown;

type Request = Extract<Incoming, { kind: 'request' }>;

/** More requests at once on one connection than the herd lets wait. */
const MAX_RUNNING = 20_000;

/**
 * The open requests of the other side. Each gets exactly one reply: a result, or an error. `close` cancels them all, and
 * none gets a reply after it.
 */
export class IncomingRequests {
  readonly #find: (method: string) => Method | undefined;
  readonly #open: OpenRequests;

  constructor(
    find: (method: string) => Method | undefined,
    report: (error: unknown, method: string) => void,
  ) {
    this.#find = find;
    this.#open = { byId: new BusyMap(), notifications: new Set(), endless: new Set(), report };
  }

  /** How many requests wait for their reply, without the endless ones. */
  get size(): number {
    return this.#open.byId.size - this.#open.endless.size;
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
    const incoming = new IncomingRequest(this.#open, method, id, reply);
    this.#open.byId.set(id, incoming);
    begin(run, params, incoming);
  }

  /** Runs the method like a request, without a reply. */
  notification(method: string, params: unknown): void {
    const run = this.#find(method);
    if (run === undefined) return;
    const incoming = new IncomingRequest(this.#open, method);
    this.#open.notifications.add(incoming);
    begin(run, params, incoming);
  }

  cancel(id: IdText, wantsReply = true): void {
    this.#open.byId.get(id)?.cancel(wantsReply);
  }

  close(): void {
    const { byId, notifications } = this.#open;
    for (const request of [...byId.values(), ...notifications]) request.disconnect();
  }

  #refusal(id: IdText): ErrorObject | undefined {
    const { byId } = this.#open;
    if (byId.get(id) !== undefined) {
      return {
        code: CODE.invalidRequest,
        message: `Invalid request: id ${id} is in use by a request in flight`,
      };
    }
    if (byId.size < MAX_RUNNING) return undefined;
    const message = `${MAX_RUNNING} requests of this connection are waiting already`;
    const why = 'a connection may not hold more';
    return toErrorObject(new OverloadedError(message, { why, retryable: true }));
  }
}

/** Calls the method at once, so that requests begin in their order. An exception is an error like a rejection. */
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
