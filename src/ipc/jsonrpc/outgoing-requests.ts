import { setMaxListeners } from 'node:events';
import { ToolherdError } from '../../shared/errors.js';
import type { IdText } from './message.js';
import { ConnectionLostError, RemoteError } from './remote-error.js';
import type { ErrorObject } from './rpc-error.js';

/** A request that was taken back before it was sent. */
export class RequestCancelledError extends ToolherdError {
  override readonly type: string = 'CancelledError';
  readonly retryable: boolean = false;
  readonly sent: boolean = false;
}

/** Of this process and no other. */
const RUN = `${process.pid.toString(36)}-${Date.now().toString(36)}`;

interface Question {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/**
 * Our requests to the other side that wait for their reply. An abort asks the other side to cancel and then waits for
 * what it says: only it knows how far the request went.
 */
export class OutgoingRequests {
  readonly #send: (text: string) => void;
  readonly #waiting = new Map<IdText, Question>();
  #next = 1;
  #closedBy: string | undefined;

  constructor(send: (text: string) => void) {
    this.#send = send;
  }

  get size(): number {
    return this.#waiting.size;
  }

  async ask(method: string, params: unknown, signal?: AbortSignal): Promise<unknown> {
    if (this.#closedBy !== undefined) throw new ConnectionLostError(this.#closedBy, { sent: false });
    if (signal?.aborted) throw new RequestCancelledError(`${method} was cancelled before it was sent`);
    const id = this.#next++;
    const text = encode({ jsonrpc: '2.0', id, method, params });
    const cancel = () => this.#send(encode({ jsonrpc: '2.0', method: '$/cancel', params: { id } }));
    if (signal !== undefined) {
      // any number of calls may share one, and Node would warn of a leak
      setMaxListeners(0, signal);
      signal.addEventListener('abort', cancel, { once: true });
    }
    try {
      return await new Promise((resolve, reject) => {
        this.#waiting.set(String(id), { resolve, reject });
        this.#send(text);
      });
    } finally {
      signal?.removeEventListener('abort', cancel);
    }
  }

  /**
   * A question to a client of MCP. One that is taken back is told so in MCP's words and does not answer. The id is one
   * that no other daemon uses: a bridge may bring the answer to a question of the daemon before.
   */
  async askClient(method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
    if (this.#closedBy !== undefined) throw new ConnectionLostError(this.#closedBy, { sent: false });
    if (signal.aborted) throw new RequestCancelledError(`${method} was cancelled before it was sent`);
    const id = `${RUN}-${this.#next++}`;
    const key = JSON.stringify(id);
    const text = encode({ jsonrpc: '2.0', id, method, params });
    let cancel = () => {};
    try {
      return await new Promise((resolve, reject) => {
        cancel = () => {
          if (this.#take(key) === undefined) return;
          const reason = 'the answer is not wanted any more';
          this.#send(
            encode({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id, reason } }),
          );
          reject(new RequestCancelledError(`${method}: ${reason}`));
        };
        signal.addEventListener('abort', cancel, { once: true });
        this.#waiting.set(key, { resolve, reject });
        this.#send(text);
      });
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }

  /** A reply to nothing is nobody's. */
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
    for (const { reject } of lost) reject(new ConnectionLostError(reason, { sent: true }));
  }

  #take(id: IdText): Question | undefined {
    const question = this.#waiting.get(id);
    this.#waiting.delete(id);
    return question;
  }
}

/** Throws a typed error for what JSON cannot hold: a BigInt, a circle, 5,000 levels of nesting. */
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
