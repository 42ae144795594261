import type { BusyMap } from '../../shared/busy-map.js';
import { RawJson } from '../../shared/framing/raw-json.js';
import { CODE } from '../../shared/mcp/rpc-codes.js';
import type { IdText } from './message.js';
import type { Text } from './pending-texts.js';
import { cancelled, type ErrorObject, errorText, toErrorObject } from './rpc-error.js';

const CLOSE = Buffer.from('}');
/** The reason that a server gets for a call that its client cancelled: the message of an AbortSignal without a reason. */
const ABORTED = 'This operation was aborted';

/** A request, for the method that answers it. */
export interface RequestContext {
  /** The JSON text of its id; undefined for a notification. */
  readonly id: IdText | undefined;
  /** Aborts when the request is cancelled or the connection closes. Costs more than a small call: see `onCancel`. */
  readonly signal: AbortSignal;
  readonly isCancelled: boolean;
  /** False after the reply, or when the connection has closed. */
  readonly isOpen: boolean;
  /** It stays open until it is cancelled, and does not keep open a connection whose client has ended its side. */
  markEndless(): void;
  /** Runs after the reply was queued, or where none is sent. */
  afterReply(run: () => void): void;
  /** Runs when `signal` would abort. It holds one function. */
  onCancel(run: (reason: string) => void): void;
  /** A method that returned `DEFERRED` calls one of these, once. */
  answer(result: unknown): void;
  answerJson(result: string): void;
  fail(error: unknown): void;
}

/** Called once with the text of the reply; undefined where the client wants none. */
export type Reply = (text: Text | undefined) => void;

/** The requests of one connection. */
export interface OpenRequests {
  byId: BusyMap<IdText, IncomingRequest>;
  notifications: Set<IncomingRequest>;
  /** Requests of `byId` that end only when they are cancelled. */
  endless: Set<IncomingRequest>;
  /** Called with errors that the other side must not see. */
  report: (error: unknown, method: string) => void;
}

/** One request of the other side, until the reply. */
export class IncomingRequest implements RequestContext {
  readonly id: IdText | undefined;
  readonly #open: OpenRequests;
  readonly #method: string;
  readonly #reply: Reply | undefined;
  #controller: AbortController | undefined;
  #onCancel: ((reason: string) => void) | undefined;
  #afterReply: (() => void)[] | undefined;
  #state: 'running' | 'cancelled' | 'settled' = 'running';
  /** `unwanted`: the client has cancelled it and expects none. `undeliverable`: the connection has closed. */
  #replyIs: 'wanted' | 'unwanted' | 'undeliverable' = 'wanted';

  /** Without an id it is a notification, which gets no reply. */
  constructor(open: OpenRequests, method: string, id?: IdText, reply?: Reply) {
    this.#open = open;
    this.#method = method;
    this.id = id;
    this.#reply = reply;
  }

  /** Created on first use: most requests are never cancelled. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.isCancelled) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  get isCancelled(): boolean {
    return this.#state === 'cancelled';
  }

  get isOpen(): boolean {
    return this.#state !== 'settled' && this.#replyIs !== 'undeliverable';
  }

  /** `wantsReply`: the client expects a reply nevertheless. */
  cancel(wantsReply: boolean): void {
    this.#replyIs = wantsReply ? 'wanted' : 'unwanted';
    this.#cancel();
  }

  /** The connection has closed: it is cancelled, and gets no reply. */
  disconnect(): void {
    this.#replyIs = 'undeliverable';
    this.#cancel();
  }

  #cancel(): void {
    if (this.#state !== 'running') return;
    this.#state = 'cancelled';
    this.#onCancel?.(ABORTED);
    this.#controller?.abort();
  }

  onCancel(run: (reason: string) => void): void {
    this.#onCancel = run;
    if (this.isCancelled) run(ABORTED);
  }

  markEndless(): void {
    if (this.#state !== 'settled') this.#open.endless.add(this);
  }

  afterReply(run: () => void): void {
    if (this.#afterReply === undefined) this.#afterReply = [run];
    else this.#afterReply.push(run);
  }

  answer(result: unknown): void {
    const { id } = this;
    if (this.#state === 'settled') return;
    this.#settle(id === undefined ? undefined : this.#resultText(id, result));
  }

  answerJson(result: string): void {
    if (this.#state !== 'settled') this.#settle(`{"jsonrpc":"2.0","id":${this.id},"result":${result}}`);
  }

  fail(error: unknown): void {
    const { id } = this;
    if (this.#state === 'settled') return;
    // explained also for a notification, so that a bug is reported
    const explained = this.#explain(error);
    this.#settle(id === undefined ? undefined : errorText(id, explained));
  }

  #settle(text: Text | undefined): void {
    this.#state = 'settled';
    const { byId, notifications, endless } = this.#open;
    // before the reply, so that the client may use the id again when it has it
    if (this.id === undefined) notifications.delete(this);
    else byId.delete(this.id);
    if (endless.size > 0) endless.delete(this);
    if (this.#replyIs !== 'undeliverable') this.#reply?.(this.#replyIs === 'wanted' ? text : undefined);
    this.#onCancel = undefined;
    if (this.#afterReply !== undefined) for (const run of this.#afterReply) run();
  }

  #resultText(id: IdText, result: unknown): Text {
    if (result instanceof RawJson) return rawText(id, result);
    try {
      return `{"jsonrpc":"2.0","id":${id},"result":${JSON.stringify(result ?? null) ?? 'null'}}`;
    } catch (error) {
      this.#open.report(error, this.#method);
      return errorText(id, {
        code: CODE.internal,
        message: `Internal error: the result of ${this.#method} cannot be written as JSON`,
      });
    }
  }

  #explain(error: unknown): ErrorObject {
    const known = toErrorObject(error);
    if (known !== undefined) return known;
    if (this.isCancelled && this.id !== undefined) return cancelled();
    this.#open.report(error, this.#method);
    return { code: CODE.internal, message: `Internal error in ${this.#method}; the log says why` };
  }
}

/** The bytes of the server's result, inside a reply. */
function rawText(id: IdText, { pieces }: RawJson): Buffer[] {
  return [Buffer.from(`{"jsonrpc":"2.0","id":${id},"result":`), ...pieces, CLOSE];
}
