import { RawJson } from '../../shared/framing/raw-json.js';
import { CODE } from '../../shared/rpc-codes.js';
import type { IdText } from './message.js';
import type { Text } from './pending-texts.js';
import { cancelled, type ErrorObject, errorText, toErrorObject } from './rpc-error.js';

const CLOSE = Buffer.from('}');

/** What a method knows of the request it answers. */
export interface RequestContext {
  /** The JSON text of its id; undefined for a notification. */
  readonly id: IdText | undefined;
  /** Aborted when the request is cancelled or the connection closes. Costs more than a small call: see `onCancel`. */
  readonly signal: AbortSignal;
  readonly isCancelled: boolean;
  /** False once it is answered, or nobody is left to be answered. */
  readonly isOpen: boolean;
  /** It stays open until it is cancelled: a client that has said its last word need not be waited for because of it. */
  stand(): void;
  /** Runs when the reply has been queued, or when there is nobody to reply to. */
  afterReply(run: () => void): void;
  /** Runs when `signal` would abort; for one who listens alone. */
  onCancel(run: () => void): void;
  /** For a method that returned `LATER`: one of these, once. */
  answer(result: unknown): void;
  answerJson(result: string): void;
  fail(error: unknown): void;
}

/** Called once, now or later, with the text of the reply; with none where no reply is wanted any more. */
export type Reply = (text: Text | undefined) => void;

/** What one connection's requests share. */
export interface Register {
  incoming: Map<IdText, IncomingRequest>;
  notified: Set<IncomingRequest>;
  standing: Set<IncomingRequest>;
  /** Hears of errors that are not the other side's to know. */
  report: (error: unknown, method: string) => void;
}

/** One request of the other side, until it is answered. */
export class IncomingRequest implements RequestContext {
  readonly id: IdText | undefined;
  readonly #register: Register;
  readonly #method: string;
  readonly #reply: Reply | undefined;
  #controller: AbortController | undefined;
  #onCancel: (() => void) | undefined;
  #afterReply: (() => void)[] | undefined;
  isCancelled = false;
  /** Whoever asked has said that it does not wait for the reply. */
  isUnwanted = false;
  isOpen = true;
  #isSettled = false;

  /** Without an id it is a notification, and nobody is told. */
  constructor(register: Register, method: string, id?: IdText, reply?: Reply) {
    this.#register = register;
    this.#method = method;
    this.id = id;
    this.#reply = reply;
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
    if (this.isCancelled) return;
    this.isCancelled = true;
    this.#onCancel?.();
    this.#controller?.abort();
  }

  onCancel(run: () => void): void {
    this.#onCancel = run;
    if (this.isCancelled) run();
  }

  stand(): void {
    if (!this.#isSettled) this.#register.standing.add(this);
  }

  afterReply(run: () => void): void {
    if (this.#afterReply === undefined) this.#afterReply = [run];
    else this.#afterReply.push(run);
  }

  answer(result: unknown): void {
    const { id } = this;
    if (this.#isSettled) return;
    this.#settle(id === undefined ? undefined : this.#resultText(id, result));
  }

  answerJson(result: string): void {
    if (!this.#isSettled) this.#settle(`{"jsonrpc":"2.0","id":${this.id},"result":${result}}`);
  }

  fail(error: unknown): void {
    const { id } = this;
    if (this.#isSettled) return;
    // of a notification that was cancelled nobody has to hear
    const explained = this.#explain(error);
    this.#settle(id === undefined ? undefined : errorText(id, explained));
  }

  #settle(text: Text | undefined): void {
    this.#isSettled = true;
    const { incoming, notified, standing } = this.#register;
    // first, so that the id is free when the client has its reply
    if (this.id === undefined) notified.delete(this);
    else incoming.delete(this.id);
    if (standing.size > 0) standing.delete(this);
    if (this.isOpen) this.#reply?.(this.isUnwanted ? undefined : text);
    this.isOpen = false;
    this.#onCancel = undefined;
    if (this.#afterReply !== undefined) for (const run of this.#afterReply) run();
  }

  #resultText(id: IdText, result: unknown): Text {
    if (result instanceof RawJson) return rawText(id, result);
    try {
      return `{"jsonrpc":"2.0","id":${id},"result":${JSON.stringify(result ?? null) ?? 'null'}}`;
    } catch (error) {
      this.#register.report(error, this.#method);
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
    this.#register.report(error, this.#method);
    return { code: CODE.internal, message: `Internal error in ${this.#method}; the log says why` };
  }
}

/** The bytes of the server's result, inside a reply. */
function rawText(id: IdText, { pieces }: RawJson): Buffer[] {
  return [Buffer.from(`{"jsonrpc":"2.0","id":${id},"result":`), ...pieces, CLOSE];
}
