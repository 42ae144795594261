import { RawJson } from '../framing/raw-json.js';
import { cancelled, toErrorObject } from './error-codes.js';
import type { IdText, Incoming } from './message.js';
import type { Text } from './outbox.js';
import { CODE, type ErrorObject } from './rpc-error.js';

/** What a method knows of the request it answers. */
export interface RequestContext {
  /** The JSON text of its id; undefined for a notification. */
  readonly id: IdText | undefined;
  /** Aborted when the request is cancelled or the connection closes. */
  readonly signal: AbortSignal;
  /** False once it is answered, or nobody is left to be answered. */
  readonly isOpen: boolean;
  /** It stays open until it is cancelled: a client that has said its last word need not be waited for because of it. */
  stand(): void;
  /** Runs when the reply has been queued, or when there is nobody to reply to. */
  afterReply(run: () => void): void;
}

export type Method = (params: unknown, context: RequestContext) => unknown;

type Request = Extract<Incoming, { kind: 'request' }>;

/** More at once on one connection than the herd itself lets wait. */
const MAX_RUNNING = 20_000;

/**
 * The requests of the other side that are being answered. Each gets exactly one reply: a result, or an error. After
 * `close` nobody is answered and everything is aborted.
 */
export class Answers {
  readonly #find: (method: string) => Method | undefined;
  readonly #report: (error: unknown, method: string) => void;
  readonly #running = new Map<IdText, Running>();
  readonly #notified = new Set<Running>();
  readonly #standing = new Set<Running>();

  constructor(
    find: (method: string) => Method | undefined,
    report: (error: unknown, method: string) => void,
  ) {
    this.#find = find;
    this.#report = report;
  }

  /** How many requests wait for their reply, without those that only stand open. */
  get size(): number {
    return this.#running.size - this.#standing.size;
  }

  /** `reply` is called once, now or later, with the text of the reply; with none where no reply is wanted any more. */
  request(request: Request, reply: (text: Text | undefined) => void): void {
    const { id, method, params } = request;
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
    const running = new Running(id, (one) => this.#standing.add(one));
    this.#running.set(id, running);
    const settle = (text: Text) => {
      // first, so that the id is free when the client has its reply
      this.#running.delete(id);
      this.#standing.delete(running);
      if (running.isOpen) reply(running.isUnwanted ? undefined : text);
      running.end();
    };
    this.#run(run, params, running).then(
      (result) => settle(this.#resultText(id, method, result)),
      (error) => settle(errorText(id, this.#explain(error, method, running))),
    );
  }

  /** A notification of a method that answers is run like a request whose reply nobody wants. */
  notification(method: string, params: unknown): void {
    const run = this.#find(method);
    if (run === undefined) return;
    const running = new Running();
    this.#notified.add(running);
    this.#run(run, params, running)
      .catch((error: unknown) => {
        if (toErrorObject(error) === undefined) this.#report(error, method);
      })
      .finally(() => {
        this.#notified.delete(running);
        running.end();
      });
  }

  cancel(id: IdText, wantsReply = true): void {
    const running = this.#running.get(id);
    if (running === undefined) return;
    running.isUnwanted = !wantsReply;
    running.cancel();
  }

  close(): void {
    for (const running of [...this.#running.values(), ...this.#notified]) {
      running.isOpen = false;
      running.cancel();
    }
  }

  #refusal(id: IdText): ErrorObject | undefined {
    if (this.#running.has(id)) {
      return {
        code: CODE.invalidRequest,
        message: `Invalid request: id ${id} is in use by a request in flight`,
      };
    }
    if (this.#running.size < MAX_RUNNING) return undefined;
    const message = `${MAX_RUNNING} requests of this connection are waiting already`;
    const why = 'a connection may not hold more';
    return toErrorObject({ type: 'OverloadedError', message, why, retryable: true });
  }

  /** Called at once, so that requests begin in the order in which they came; what it throws is a rejection. */
  async #run(run: Method, params: unknown, running: Running): Promise<unknown> {
    return run(params, running);
  }

  #resultText(id: IdText, method: string, result: unknown): Text {
    if (result instanceof RawJson) return rawText(id, result);
    try {
      return `{"jsonrpc":"2.0","id":${id},"result":${JSON.stringify(result ?? null) ?? 'null'}}`;
    } catch (error) {
      this.#report(error, method);
      return errorText(id, {
        code: CODE.internal,
        message: `Internal error: the result of ${method} cannot be written as JSON`,
      });
    }
  }

  #explain(error: unknown, method: string, running: Running): ErrorObject {
    const known = toErrorObject(error);
    if (known !== undefined) return known;
    if (running.isCancelled) return cancelled();
    this.#report(error, method);
    return { code: CODE.internal, message: `Internal error in ${method}; the log says why` };
  }
}

const CLOSE = Buffer.from('}');

/** The bytes of the server, in an envelope of ours. */
function rawText(id: IdText, { pieces }: RawJson): Buffer[] {
  return [Buffer.from(`{"jsonrpc":"2.0","id":${id},"result":`), ...pieces, CLOSE];
}

export function errorText(id: IdText, { code, message, data }: ErrorObject): string {
  return `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify({ code, message, data })}}`;
}

class Running implements RequestContext {
  readonly id: IdText | undefined;
  #controller: AbortController | undefined;
  #afterReply: (() => void)[] = [];
  isCancelled = false;
  /** Whoever asked has said that it does not wait for the reply. */
  isUnwanted = false;
  isOpen = true;
  readonly #onStand: (running: Running) => void;

  constructor(id?: IdText, onStand: (running: Running) => void = () => undefined) {
    this.id = id;
    this.#onStand = onStand;
  }

  /** Made when it is asked for: most requests end before anybody would cancel them. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.isCancelled) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  cancel(): void {
    this.isCancelled = true;
    this.#controller?.abort();
  }

  stand(): void {
    this.#onStand(this);
  }

  afterReply(run: () => void): void {
    this.#afterReply.push(run);
  }

  end(): void {
    this.isOpen = false;
    for (const run of this.#afterReply) run();
  }
}
