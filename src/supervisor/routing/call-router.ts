import type { ServerSpec } from '../../config/schema/spec.js';
import type { RequestParams } from '../../fleet/fleet.js';
import type { Ask, CallHandle, CallSink, Outcome } from '../../link/calls/call.js';
import { cancelled } from '../../link/calls/refusals.js';
import { onAbort } from '../../shared/async.js';
import { MCPError, type MCPProtocolError, type RpcErrorObject } from '../../shared/call-errors.js';
import type { Clock } from '../../shared/clock.js';
import type { JsonObject } from '../../shared/json.js';
import { disabled } from '../errors.js';
import type { EndedCall, HerdRequest } from '../events/call-event.js';
import { reasonOf } from '../server/call-refusal.js';
import type { ConfiguredServer } from '../server/configured-server.js';
import type { SearchLimits } from '../view/view-catalog.js';
import { type KeepText, limitMcpResult } from './result-limit.js';
import type { Search, Target, TargetResolver } from './target-resolver.js';
import { toWireError } from './tool-result.js';

/** A request to the herd. Names in its params are public names, or those of `server`. */
export interface HerdCall extends HerdRequest {
  /** Absent: the server that has what is named serves it. */
  server?: string | undefined;
  method: RequestParams['method'];
  params: JsonObject;
  signal?: AbortSignal | undefined;
}

/** Where the outcome of a request goes. */
export interface RouterSink extends CallSink {
  /** The name of the server that serves it. */
  found?: ((server: string) => void) | undefined;
  /** It cuts results to `result_limit` in its own form; the router leaves them whole. */
  cutsResults?: boolean | undefined;
  /** Says better what a server's error means, knowing what was asked for. */
  explain?: ((error: MCPError, server: ConfiguredServer) => MCPError) | undefined;
}

export interface CallRouterOptions {
  resolver: TargetResolver;
  clock: Clock;
  /** `of`: the server whose secrets may be in the text. */
  redact(text: string, of?: ConfiguredServer): string;
  keepText: KeepText;
  /** Records a request that no server was given. */
  refused(server: string, call: EndedCall): void;
}

/** A caller that gives no name. */
const LOCAL = 'local';

/**
 * The one way of a request from the herd's interface to a server. It finds the server, refuses, cancels, redacts errors
 * and records: each in one place. A call whose server is known and open is sent before `send` returns, without a promise
 * or a timer; one that has to wait for a list takes the same steps when the list is there.
 */
export class CallRouter {
  readonly #options: CallRouterOptions;

  constructor(options: CallRouterOptions) {
    this.#options = options;
  }

  /** The sink is settled exactly once, perhaps before this returns. */
  send(call: HerdCall, sink: RouterSink): Pick<CallHandle, 'cancel'> {
    return new RoutedCall(call, sink, this.#options).begin();
  }

  /** Records a request that is given up before it is routed. */
  refuse(call: HerdCall, error: MCPError): void {
    this.#options.refused(call.server ?? '', unserved(call, error, 0));
  }
}

function unserved(call: HerdCall, error: MCPError, elapsedMs: number): EndedCall {
  const { method, params, caller = LOCAL, requestId } = call;
  const request: HerdRequest = { method, params, caller, requestId };
  return { request, outcome: { ok: false, error }, elapsedMs, incarnation: null };
}

/** One request on its way: `resolving` → `sent` → `settled`, or refused in between. */
class RoutedCall implements CallSink, Search {
  readonly progress: ((progress: JsonObject) => void) | undefined;
  readonly ask: Ask | undefined;
  acceptsRaw: boolean | undefined;
  serverName: string;
  readonly #call: HerdCall;
  readonly #sink: RouterSink;
  readonly #options: CallRouterOptions;
  #state: 'resolving' | 'sent' | 'settled' = 'resolving';
  #server: ConfiguredServer | undefined;
  #request: HerdRequest | undefined;
  #explain: Target['explain'];
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
    this.serverName = call.server ?? '';
    this.#call = call;
    this.#sink = sink;
    this.#options = options;
    this.#begunMs = options.clock.now();
  }

  begin(): this {
    const { signal } = this.#call;
    const target = this.#resolve();
    if (target instanceof Promise)
      void target.then(
        (found) => this.#sendLate(found),
        (error: MCPError) => this.#refuse(error),
      );
    else if (target !== undefined) this.#send(target);
    if (signal !== undefined && !this.#isSettled)
      this.#stopListening = onAbort(signal, () => this.cancel(reasonOf(signal)));
    return this;
  }

  /** Undefined when no server can serve it; the sink has the reason then. */
  #resolve(): Target | Promise<Target> | undefined {
    try {
      return this.#options.resolver.resolve(this.#call, this);
    } catch (error) {
      this.#refuse(error as MCPError);
      return undefined;
    }
  }

  get #isSettled(): boolean {
    return this.#state === 'settled';
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

  /** What the search took is not the server's time. */
  #sendLate(target: Target): void {
    this.#begunMs = this.#options.clock.now();
    this.#send(target);
  }

  #send({ server, params, timeoutMs, explain }: Target): void {
    const { method, caller = LOCAL, requestId } = this.#call;
    const { spec } = server;
    const refusal = this.#refusalBy(spec);
    if (refusal !== undefined) {
      this.#refuse(refusal);
      return;
    }
    this.#sink.found?.(spec.name);
    // a result that is cut has to be parsed
    if (spec.resultLimit !== 0) this.acceptsRaw = false;
    this.#server = server;
    this.#explain = explain;
    this.#request = { method, params, timeoutMs, caller, requestId };
    this.#state = 'sent';
    this.#handle = server.send(this.#request, this);
  }

  #refusalBy(spec: ServerSpec): MCPError | undefined {
    if (!spec.enabled) return disabled(spec);
    if (!this.signal?.aborted) return undefined;
    return cancelled(spec.name, false, reasonOf(this.signal) ?? 'before it began');
  }

  /** No server was given the request. */
  #refuse(error: MCPError): void {
    if (this.#state === 'settled') return;
    this.#end();
    const elapsedMs = this.#options.clock.now() - this.#begunMs;
    this.#options.refused(this.serverName, unserved(this.#call, error, elapsedMs));
    this.#sink.settle({ ok: false, error });
  }

  #end(): void {
    this.#state = 'settled';
    this.#stopListening?.();
  }

  #deliver(outcome: Outcome): void {
    const server = this.#server!;
    const sink = this.#sink;
    if (!outcome.ok) {
      const explained = sink.explain?.(outcome.error, server) ?? outcome.error;
      const error = this.#explain?.(explained) ?? explained;
      sink.settle({ ok: false, error: redactedError(error, (text) => this.#options.redact(text, server)) });
      return;
    }
    const limit = this.#call.method === 'tools/call' ? server.spec.resultLimit : 0;
    if (limit === 0 || sink.cutsResults === true) sink.settle(outcome);
    else
      void limitMcpResult(outcome.result, limit, this.#options.keepText).then(
        (result) => sink.settle({ ok: true, result }),
        () => sink.settle(outcome),
      );
  }

  #record(outcome: Outcome): void {
    const elapsedMs = this.#options.clock.now() - this.#begunMs;
    this.#server!.settled({ request: this.#request!, outcome, elapsedMs, incarnation: this.#incarnation });
  }
}

/** The same error without secrets of the server. */
export function redactedError(error: MCPError, redact: (text: string) => string): MCPError {
  return new RedactedError(toWireError(error, redact), (error as Partial<MCPProtocolError>).rpc);
}

class RedactedError extends MCPError {
  override readonly type: string;
  /** The server's own error, unchanged, as its results are. */
  readonly rpc: RpcErrorObject | undefined;

  constructor(
    { type, message, ...details }: ReturnType<typeof toWireError>,
    rpc: RpcErrorObject | undefined,
  ) {
    super(message, details);
    this.type = type;
    this.rpc = rpc;
  }
}
