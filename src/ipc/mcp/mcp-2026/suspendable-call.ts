import type { CallContext, McpResult, OnRequest } from '../../../fleet/fleet.js';
import { nextTurn, onAbort } from '../../../shared/async.js';
import { CODE } from '../../../shared/mcp/rpc-codes.js';
import { RpcError } from '../../jsonrpc/rpc-error.js';
import { answersAnything, type ClientCapabilities, checkOffered } from '../client-questions.js';
import type { SuspendedCall, SuspendedCalls } from '../suspended-calls.js';

interface Question {
  method: string;
  params: Record<string, unknown> | undefined;
  resolve(answer: Record<string, unknown>): void;
  reject(error: Error): void;
}

/** One request of the client for this call: the first one, or a later one that brings answers. */
export interface Leg {
  /** Aborted when the request is cancelled. */
  signal: AbortSignal;
  progress: ((progress: Record<string, unknown>) => void) | undefined;
}

export interface SuspendableCallOptions {
  method: string;
  params: Record<string, unknown>;
  capabilities: ClientCapabilities;
  suspended: SuspendedCalls<SuspendableCall>;
  wantsProgress: boolean;
  /** Another call of the client that has an open request. A server does not say to which call its question belongs. */
  elsewhere?(): SuspendableCall | undefined;
  begin(context: CallContext): Promise<McpResult>;
}

/**
 * A call of 2026-07-28, whose client gets no requests. A question of the server becomes the result of the client's request
 * (`input_required`), and the call stays with the server until a second request brings the answer.
 */
export class SuspendableCall implements SuspendedCall {
  readonly method: string;
  readonly params: Record<string, unknown>;
  /** The server that works on it; undefined until the router has found it. */
  server: string | undefined;
  readonly #options: SuspendableCallOptions;
  readonly #abort = new AbortController();
  readonly #questions = new Map<string, Question>();
  readonly #outcome: Promise<McpResult>;
  #asked = 0;
  #leg: Leg | undefined;
  #wake: () => void = () => undefined;

  constructor(options: SuspendableCallOptions) {
    this.method = options.method;
    this.params = options.params;
    this.#options = options;
    const onRequest: OnRequest = (method, params, signal) => {
      const asked = this.#leg === undefined ? options.elsewhere?.() : this;
      return (asked ?? this).#ask(method, params, signal);
    };
    const onProgress = (progress: Record<string, unknown>) => this.#leg?.progress?.(progress);
    this.#outcome = options.begin({
      signal: this.#abort.signal,
      onProgress: options.wantsProgress ? onProgress : undefined,
      onRequest: answersAnything(options.capabilities) ? onRequest : undefined,
      onServer: (server) => {
        this.server = server;
      },
    });
    // it may fail while no request waits for it
    this.#outcome.catch(() => undefined);
  }

  /** It has an open request, and its client answers questions. */
  get isAttended(): boolean {
    return this.#leg !== undefined && answersAnything(this.#options.capabilities);
  }

  /** Resolves with the result of the server, or with its questions. */
  async run(leg: Leg): Promise<McpResult> {
    const forget = onAbort(leg.signal, () => this.cancel('the client cancelled it'));
    this.#leg = leg;
    try {
      return await this.#next();
    } finally {
      this.#leg = undefined;
      forget();
    }
  }

  /** Questions without an answer are part of the next result again. */
  answer(responses: Record<string, Record<string, unknown>>): void {
    for (const [key, { resolve }] of [...this.#questions]) {
      const answer = Object.hasOwn(responses, key) ? responses[key] : undefined;
      if (answer === undefined) continue;
      this.#questions.delete(key);
      resolve(answer);
    }
  }

  /** Resolves when the server has finished. */
  async whenOver(): Promise<void> {
    await this.#outcome.catch(() => undefined);
  }

  cancel(reason: string): void {
    this.#abort.abort(new Error(reason));
    this.#refuse(reason);
  }

  async #next(): Promise<McpResult> {
    for (;;) {
      const done = await Promise.race([this.#outcome, this.#whenAsked()]);
      if (done !== undefined) return done;
      // a server that has several questions sends them one after the other
      await Promise.race([this.#outcome, nextTurn()]);
      if (this.#questions.size === 0) continue;
      const requestState = this.#options.suspended.suspend(this);
      if (requestState !== undefined) return this.#inputRequired(requestState);
      this.#refuse('too many calls wait for the answers of clients already');
    }
  }

  /** Rejects all questions. The server may go on without the answers. */
  #refuse(reason: string): void {
    for (const { reject } of this.#questions.values()) reject(new RpcError(CODE.internal, reason));
    this.#questions.clear();
  }

  #whenAsked(): Promise<undefined> {
    return new Promise((resolve) => {
      this.#wake = () => resolve(undefined);
      if (this.#questions.size > 0) resolve(undefined);
    });
  }

  #inputRequired(requestState: string): McpResult {
    const asked = [...this.#questions].map(([key, { method, params = {} }]) => [key, { method, params }]);
    return { resultType: 'input_required', inputRequests: Object.fromEntries(asked), requestState };
  }

  async #ask(
    method: string,
    params: Record<string, unknown> | undefined,
    signal: AbortSignal,
  ): Promise<Record<string, unknown>> {
    checkOffered(this.#options.capabilities, method, params);
    const { aborted, reason } = this.#abort.signal;
    if (aborted) throw new RpcError(CODE.internal, (reason as Error).message);
    this.#asked += 1;
    const key = `question-${this.#asked}`;
    return new Promise((resolve, reject) => {
      this.#questions.set(key, { method, params, resolve, reject });
      onAbort(signal, () => {
        this.#questions.delete(key);
        reject(new RpcError(CODE.internal, 'the answer is not wanted any more'));
      });
      this.#wake();
    });
  }
}
