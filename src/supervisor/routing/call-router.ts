import type { ServerSpec } from '../../config/fields/spec.js';
import type { Truncation } from '../../fleet/fleet.js';
import type { CallHandle } from '../../link/calls/call.js';
import { cancelled } from '../../link/calls/refusals.js';
import { abortReason, onAbort } from '../../shared/async.js';
import { asCallError, type MCPError } from '../../shared/call-errors.js';
import type { Ask, CallSink, Outcome } from '../../shared/call-sink.js';
import type { Clock } from '../../shared/clock.js';
import type { JsonObject } from '../../shared/json.js';
import { disabled, herdItself } from '../errors.js';
import type { EndedCall, HerdRequest } from '../events/call-event.js';
import type { ConfiguredServer } from '../server/configured-server.js';
import type { SearchedRequest, SearchLimits } from './name-search.js';
import { redactedError } from './redacted-error.js';
import { type KeepText, limitResult } from './result-limit.js';
import type { Explain, HerdCall, Target, TargetResolver } from './target-resolver.js';

/** Where the outcome of a request goes. Its errors have no secrets. */
export interface RouterSink extends CallSink {
  /** The server that serves it; before `settle`. Not called for a request that no server is given. */
  found?: ((server: ConfiguredServer) => void) | undefined;
  /** `truncated`: the text of the result was cut to `result_limit`. */
  settle(outcome: Outcome, truncated?: Truncation): void;
}

export interface CallRouterOptions {
  resolver: TargetResolver;
  clock: Clock;
  /** `of`: the server whose secrets may be in the text. */
  redact(text: string, of?: ConfiguredServer): string;
  /** `owner`: who may read it by its id. */
  keepText(text: string, owner?: string): ReturnType<KeepText>;
  /** Records a request that no server was given. */
  refused(server: string, call: EndedCall): void;
  /** Logs bugs. */
  warn(text: string): void;
}

/** A caller that gives no name. */
const LOCAL = 'local';

/**
 * The one way of a request from the herd's interface to a server. It finds the server, cancels, redacts errors, cuts
 * results and records: each in one place. It refuses what no server may get; what a server has to refuse (a full queue, a
 * stopped server, a blocked tool) comes back as an outcome. A call whose server is known and open is sent before `send` returns,
 * without a promise or a timer; one that has to wait for a list takes the same steps when the list is there.
 */
export class CallRouter {
  readonly #options: CallRouterOptions;

  constructor(options: CallRouterOptions) {
    this.#options = options;
  }

  /** The sink is settled exactly once, perhaps before this returns. */
  send(call: HerdCall, sink: RouterSink): Pick<CallHandle, 'cancel'> {
    const routed = new RoutedCall(call, sink, this.#options);
    const target = routed.resolve();
    if (target instanceof Promise) routed.sendLate(target);
    else if (target !== undefined) routed.send(target);
    if (call.signal !== undefined) routed.cancelOn(call.signal);
    return routed;
  }

  /** Records a request that is given up before it is routed. Returns its error without secrets. */
  refuse(call: HerdCall, error: MCPError): MCPError {
    const { refused, redact } = this.#options;
    refused(call.server ?? '', unserved(call, error, 0));
    return redactedError(error, (text) => redact(text));
  }
}

function unserved(call: HerdCall, error: MCPError, elapsedMs: number): EndedCall {
  const { method, params, caller = LOCAL, requestId } = call;
  const request: HerdRequest = { method, params, caller, requestId };
  return { request, outcome: { ok: false, error }, elapsedMs, incarnation: null };
}

/** One request on its way: `resolving` → `sent` → `settled`, or refused in between. */
class RoutedCall implements CallSink, SearchedRequest {
  readonly progress: ((progress: JsonObject) => void) | undefined;
  readonly ask: Ask | undefined;
  acceptsRaw: boolean | undefined;
  /** As far as it is known. */
  server: ConfiguredServer | undefined;
  readonly #call: HerdCall;
  readonly #sink: RouterSink;
  readonly #options: CallRouterOptions;
  #state: 'resolving' | 'sent' | 'settled' = 'resolving';
  #request: HerdRequest | undefined;
  #explain: Explain | undefined;
  #handle: CallHandle | undefined;
  /** Of a request whose caller gave no signal and whose search takes time. */
  #search: AbortController | undefined;
  #begunMs: number;
  #incarnation: number | null = null;
  #stopListening: (() => void) | undefined;

  constructor(call: HerdCall, sink: RouterSink, options: CallRouterOptions) {
    this.progress = sink.progress;
    this.ask = sink.ask;
    this.acceptsRaw = sink.acceptsRaw;
    this.server = undefined;
    this.#call = call;
    this.#sink = sink;
    this.#options = options;
    this.#begunMs = options.clock.now();
  }

  /** Undefined when no server can serve it; the sink has the reason then. */
  resolve(): Target | Promise<Target> | undefined {
    try {
      return this.#options.resolver.resolve(this.#call, this);
    } catch (error) {
      this.#refuse(asCallError(error, this.#options.warn));
      return undefined;
    }
  }

  send({ server, params, timeoutMs, refusal, explain, calledAs }: Target): void {
    const { method, caller = LOCAL, turn, requestId, ownOnly } = this.#call;
    const refused = this.#refusalBy(server.spec) ?? refusal;
    if (refused !== undefined) {
      this.#refuse(refused);
      return;
    }
    this.#sink.found?.(server);
    // a result that is cut has to be parsed
    if (this.#limitBy(server.spec) !== 0) this.acceptsRaw = false;
    this.server = server;
    this.#explain = explain ?? this.#call.explain;
    this.#request = { method, params, timeoutMs, caller, turn, requestId, calledAs, ownOnly };
    this.#state = 'sent';
    this.#handle = server.send(this.#request, this);
  }

  /** The time of the search is not the server's time. */
  sendLate(resolving: Promise<Target>): void {
    const sent = resolving.then(
      (target) => {
        this.#begunMs = this.#options.clock.now();
        this.send(target);
      },
      (error: unknown) => this.#refuse(asCallError(error, this.#options.warn)),
    );
    this.#logFault(sent);
  }

  cancelOn(signal: AbortSignal): void {
    if (this.#state !== 'settled')
      this.#stopListening = onAbort(signal, () => this.cancel(abortReason(signal)));
  }

  /** A search that goes on ends at once, and with it the request. */
  cancel(reason?: string): void {
    if (this.#handle !== undefined) this.#handle.cancel(reason);
    else if (this.#state === 'resolving')
      this.#search?.abort(reason === undefined ? undefined : new Error(reason));
  }

  get signal(): AbortSignal | undefined {
    return this.#call.signal ?? this.#search?.signal;
  }

  limits(timeoutMs: number | undefined): SearchLimits {
    if (this.#call.signal === undefined) this.#search ??= new AbortController();
    return { timeoutMs, signal: this.signal };
  }

  routed(incarnation: number): void {
    this.#incarnation = incarnation;
    this.#sink.routed?.(incarnation);
  }

  /** The server, or the session it was given to, has an outcome. */
  settle(outcome: Outcome): void {
    if (this.#state === 'settled') return;
    this.#end();
    try {
      this.#deliver(outcome);
    } finally {
      this.#record(outcome);
    }
  }

  #refusalBy(spec: ServerSpec): MCPError | undefined {
    if (!spec.enabled) return disabled(spec);
    if ('address' in spec) return herdItself(spec.name);
    if (!this.signal?.aborted) return undefined;
    return cancelled(spec.name, false, abortReason(this.signal) ?? 'before it began');
  }

  /** 0: the result is passed on as it came. Another node cuts it itself: it could not read the rest here. */
  #limitBy({ resultLimit }: ServerSpec): number {
    if (this.#call.method !== 'tools/call' || this.#call.ownOnly === true) return 0;
    return resultLimit === 0 ? (this.#call.cut?.limit ?? 0) : resultLimit;
  }

  /** No server was given the request. */
  #refuse(error: MCPError): void {
    if (this.#state === 'settled') return;
    this.#end();
    const elapsedMs = this.#options.clock.now() - this.#begunMs;
    const name = this.server?.spec.name ?? this.#call.server ?? '';
    this.#options.refused(name, unserved(this.#call, error, elapsedMs));
    this.#fail(error);
  }

  #end(): void {
    this.#state = 'settled';
    this.#stopListening?.();
  }

  #deliver(outcome: Outcome): void {
    const server = this.server!;
    if (!outcome.ok) {
      this.#fail(this.#explain?.(outcome.error, server) ?? outcome.error);
      return;
    }
    const limit = this.#limitBy(server.spec);
    const { cut } = this.#call;
    const keep: KeepText = (text) => this.#options.keepText(text, cut?.owner);
    if (limit === 0) this.#sink.settle(outcome);
    else
      this.#logFault(
        limitResult(outcome.result, limit, keep, cut !== undefined).then(
          ({ result, truncated }) => this.#sink.settle({ ok: true, result }, truncated),
          () => this.#sink.settle(outcome),
        ),
      );
  }

  /**
   * No caller awaits this promise, so an error of the sink would end the process: it is logged. Only its name is, since
   * its message may hold what was asked.
   */
  #logFault(settling: Promise<void>): void {
    void settling.catch((error: Error) =>
      this.#options.warn(
        `a fault in toolherd itself: an outcome of ${this.#call.method} was lost: ${error.name}`,
      ),
    );
  }

  #fail(error: MCPError): void {
    const redact = (text: string) => this.#options.redact(text, this.server);
    this.#sink.settle({ ok: false, error: redactedError(error, redact) });
  }

  #record(outcome: Outcome): void {
    const elapsedMs = this.#options.clock.now() - this.#begunMs;
    this.server!.settled({ request: this.#request!, outcome, elapsedMs, incarnation: this.#incarnation });
  }
}
