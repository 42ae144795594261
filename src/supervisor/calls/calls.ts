import type {
  BroadcastParams,
  CallContext,
  CallManyParams,
  CallParams,
  ManyContext,
  ToolResult,
} from '../../fleet/fleet.js';
import type { CallHandle, Outcome } from '../../link/session/call.js';
import type { MCPError } from '../../shared/call-errors.js';
import type { Clock } from '../../shared/clock.js';
import { nameFilter } from '../catalog/tool-filter.js';
import type { ViewCatalog } from '../herd/view-catalog.js';
import type { ViewServers } from '../herd/view-servers.js';
import { callRefusal, reasonOf } from '../server/call-refusal.js';
import type { ConfiguredServer } from '../server/configured-server.js';
import type { RoutedSink } from '../server/routed-sink.js';
import { fanOut } from './fan-out.js';
import { type KeepText, limitResult } from './result-limit.js';
import { toToolResult } from './tool-result.js';
import { type Refused, unservedEvent } from './unserved-request.js';

export interface CallsOptions {
  servers: ViewServers;
  catalog: ViewCatalog;
  clock: Clock;
  /** `of`: whose words are in the text. */
  redact(text: string, of?: ConfiguredServer): string;
  keepText: KeepText;
  /** Writes down what toolherd has to say about a server. */
  note(server: string, text: string): void;
  refused: Refused;
  /** One that no other call has. */
  newRequestId(): string;
}

interface OwnSink extends RoutedSink {
  /** No server takes it. */
  refuse(error: MCPError): void;
}

/** Calls of tools. Whatever becomes of one, its caller is given a result. */
export class Calls {
  readonly #options: CallsOptions;

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  many({ calls, mode, quorum, ...limits }: CallManyParams, context: ManyContext): Promise<ToolResult[]> {
    const enough = mode === 'first' ? 1 : mode === 'quorum' ? quorum : undefined;
    const { concurrency, timeout_ms: timeoutMs } = limits;
    return fanOut(
      calls,
      { ...context, concurrency, enough, timeoutMs },
      {
        clock: this.#options.clock,
        call: (params, one) => this.call(params, one),
        refuse: (params, error) => this.#refuse(params, context, error),
      },
    );
  }

  /** Servers that were never seen are asked what they have: a call to all of them leaves none out. */
  async broadcast(params: BroadcastParams, context: ManyContext): Promise<ToolResult[]> {
    // whom it would have called, nobody has found out
    if (context.signal?.aborted) return [];
    const isMeant = nameFilter(params.servers ?? ['*']);
    const { tools } = await this.#options.catalog.tools(undefined, false, 'start_timeout');
    const owners = tools.filter(({ server, name }) => name === params.tool && isMeant(server));
    const { tool, arguments: args, timeout_ms } = params;
    return this.many(
      { calls: owners.map(({ server }) => ({ server, tool, arguments: args, timeout_ms })) },
      context,
    );
  }

  call(params: CallParams, context: CallContext): Promise<ToolResult> {
    const { clock, redact: clean, note, servers } = this.#options;
    const begun = clock.now();
    const requestId = this.#requestId(params);
    const unknown = (type: string) =>
      note(params.server, `content of unknown type '${type}' was kept as it came`);
    return new Promise((resolve) => {
      let incarnation: number | null = null;
      const routed = (to: number) => {
        incarnation = to;
      };
      const settle = (outcome: Outcome) => {
        const elapsedMs = clock.now() - begun;
        const redact = (text: string) => clean(text, servers.get(params.server));
        const about = { params, requestId, incarnation, elapsedMs, redact, unknown };
        resolve(this.#limited(params.server, toToolResult(outcome, about)));
      };
      const refuse = (error: MCPError) => {
        this.#record(named, context, error, clock.now() - begun);
        settle({ ok: false, error });
      };
      const named = { ...params, request_id: requestId };
      this.#begin(named, context, { settle, routed, refuse });
    });
  }

  /** The result of a call that was not even tried. */
  #refuse(params: CallParams, context: ManyContext, error: MCPError): ToolResult {
    const requestId = this.#requestId(params);
    const about = { params, requestId, incarnation: null, elapsedMs: 0 };
    const { redact } = this.#options;
    this.#record({ ...params, request_id: requestId }, context, error, 0);
    return toToolResult({ ok: false, error }, { ...about, redact, unknown: () => undefined });
  }

  /** No server took it, so that none will tell of it. */
  #record(params: CallParams, { caller }: ManyContext, error: MCPError, elapsedMs: number): void {
    const { server, tool, arguments: args = {}, request_id: requestId } = params;
    const request = { method: 'tools/call', params: { name: tool, arguments: args }, caller, requestId };
    this.#options.refused(server, unservedEvent(request, error, elapsedMs));
  }

  #requestId({ request_id }: CallParams): string {
    return request_id ?? this.#options.newRequestId();
  }

  /** At once where it is certain which tool is meant; else its server is asked first what it has. */
  #begin(params: CallParams, context: CallContext, sink: OwnSink): void {
    const { servers, catalog } = this.#options;
    const server = servers.get(params.server);
    const isSure = server === undefined || !catalog.isUnsure('tools', server, params.tool);
    if (isSure || context.signal?.aborted) {
      this.#send(params, context, sink);
      return;
    }
    void catalog.makeSure(server, { timeoutMs: params.timeout_ms, signal: context.signal }).then(
      (timeout_ms) => this.#send({ ...params, timeout_ms }, context, sink),
      (error: MCPError) => sink.refuse(error),
    );
  }

  #send(params: CallParams, context: CallContext, { settle, routed, refuse }: OwnSink): void {
    const { servers, catalog } = this.#options;
    const { signal, onProgress, onRequest, caller } = context;
    const server = servers.get(params.server);
    const tool = server === undefined ? params.tool : catalog.ownName('tools', server, params.tool);
    const refusal = callRefusal(servers, { server: params.server, tool }, signal);
    if (refusal !== undefined) {
      refuse(refusal);
      return;
    }
    let handle: CallHandle | undefined;
    const abort = () => handle?.cancel(reasonOf(signal));
    signal?.addEventListener('abort', abort, { once: true });
    const request = {
      method: 'tools/call',
      params: { name: tool, arguments: params.arguments ?? {} },
      timeoutMs: params.timeout_ms,
      caller,
      requestId: params.request_id,
    };
    const done = (outcome: Outcome) => {
      signal?.removeEventListener('abort', abort);
      settle(outcome);
    };
    handle = server?.call(request, { settle: done, progress: onProgress, ask: onRequest, routed });
  }

  #limited(server: string, result: ToolResult): ToolResult | Promise<ToolResult> {
    const { servers, keepText } = this.#options;
    const limit = servers.get(server)?.spec.resultLimit ?? 0;
    return limit === 0 ? result : limitResult(result, limit, keepText);
  }
}
