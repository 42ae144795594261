import type { ForwardSink } from '../../fleet/fleet.js';
import type { Outcome } from '../../shared/call-sink.js';
import type { RequestContext } from '../jsonrpc/incoming-request.js';
import { wasCancelled } from '../jsonrpc/rpc-error.js';
import { toFailedResult, toTypedError } from './failures.js';

/** Replies to a `tools/call` with the outcome of the call. */
export class McpReplySink implements ForwardSink {
  readonly caller: string;
  readonly separator: ForwardSink['separator'];
  readonly progress: ForwardSink['progress'];
  readonly ask: ForwardSink['ask'];
  readonly cut: ForwardSink['cut'];
  readonly acceptsRaw = true;
  readonly #context: RequestContext;
  readonly #hasTypedErrors: boolean;

  constructor(
    context: RequestContext,
    caller: string,
    separator: ForwardSink['separator'],
    progress: ForwardSink['progress'],
    ask: ForwardSink['ask'],
    cut: ForwardSink['cut'],
    hasTypedErrors: boolean,
  ) {
    this.#hasTypedErrors = hasTypedErrors;
    this.#context = context;
    this.caller = caller;
    this.separator = separator;
    this.progress = progress;
    this.ask = ask;
    this.cut = cut;
  }

  settle(outcome: Outcome): void {
    if (outcome.ok) {
      if (outcome.text === undefined) this.#context.answer(outcome.raw ?? outcome.result);
      else this.#context.answerJson(outcome.text);
    } else if (this.#context.isCancelled) this.#context.fail(wasCancelled(outcome.error));
    else this.#replyFailure(outcome.error);
  }

  #replyFailure(error: unknown): void {
    let result: Record<string, unknown>;
    try {
      if (this.#hasTypedErrors) throw toTypedError(error);
      result = toFailedResult(error);
    } catch (rpcError) {
      this.#context.fail(rpcError);
      return;
    }
    this.#context.answer(result);
  }
}
