import { onAbort } from '../../shared/async.js';
import { BusyMap } from '../../shared/busy-map.js';
import { CancelledError } from '../../shared/call-errors.js';
import { ToolherdError } from '../../shared/errors.js';
import type { IdText } from './message.js';
import { ConnectionLostError, RemoteError } from './remote-error.js';
import type { ErrorObject } from './rpc-error.js';

/** Unique to this process. */
const RUN = `${process.pid.toString(36)}-${Date.now().toString(36)}`;
const NOT_WANTED = 'the answer is not wanted any more';

interface WaitingRequest {
  resolve(result: unknown): void;
  reject(error: Error): void;
  /** No abort is waited for any more. */
  forget(): void;
}

/** Our requests to the other side that wait for their reply. */
export class OutgoingRequests {
  readonly #send: (text: string) => void;
  readonly #waiting = new BusyMap<IdText, WaitingRequest>();
  #next = 1;
  #closedBy: string | undefined;

  constructor(send: (text: string) => void) {
    this.#send = send;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /**
   * A request to a daemon. An abort asks the daemon to cancel it, and then waits for its reply: only the daemon knows
   * how far the request came.
   */
  request(method: string, params: unknown, signal?: AbortSignal): Promise<unknown> {
    const id = this.#next++;
    return this.#ask(id, method, params, signal, () => this.#notify('$/cancel', { id }));
  }

  /**
   * A request to an MCP client. An abort sends MCP's cancellation and rejects at once, since the client does not reply
   * to a cancelled request. No other daemon uses the same id: a bridge may bring the reply to a request of the daemon
   * before this one.
   */
  requestClient(method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
    const id = `${RUN}-${this.#next++}`;
    return this.#ask(id, method, params, signal, () => {
      const request = this.#take(JSON.stringify(id));
      if (request === undefined) return;
      this.#notify('notifications/cancelled', { requestId: id, reason: NOT_WANTED });
      request.reject(new CancelledError(`${method}: ${NOT_WANTED}`));
    });
  }

  /** A reply to no request of ours is ignored. */
  answered(id: IdText, result: unknown): void {
    this.#take(id)?.resolve(result);
  }

  failed(id: IdText, error: ErrorObject): void {
    this.#take(id)?.reject(new RemoteError(error));
  }

  close(reason: string): void {
    this.#closedBy ??= reason;
    const lost = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { forget, reject } of lost) {
      forget();
      reject(new ConnectionLostError(reason, { sent: true }));
    }
  }

  #ask(
    id: number | string,
    method: string,
    params: unknown,
    signal: AbortSignal | undefined,
    cancel: () => void,
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#closedBy !== undefined) throw new ConnectionLostError(this.#closedBy, { sent: false });
      if (signal?.aborted) throw new CancelledError(`${method} was cancelled before it was sent`);
      const text = encode({ jsonrpc: '2.0', id, method, params });
      const forget = onAbort(signal, cancel);
      this.#waiting.set(JSON.stringify(id), { resolve, reject, forget });
      this.#send(text);
    });
  }

  #notify(method: string, params: Record<string, unknown>): void {
    this.#send(encode({ jsonrpc: '2.0', method, params }));
  }

  #take(id: IdText): WaitingRequest | undefined {
    const request = this.#waiting.get(id);
    this.#waiting.delete(id);
    request?.forget();
    return request;
  }
}

/** Throws a typed error for values that JSON cannot hold: a BigInt, a circle, 5,000 levels of nesting. */
export function encode(message: Record<string, unknown>): string {
  try {
    return JSON.stringify(message);
  } catch (cause) {
    throw new ToolherdError(`the params of ${message.method} cannot be written as JSON`, {
      why: cause instanceof Error ? cause.message : undefined,
      cause,
    });
  }
}
