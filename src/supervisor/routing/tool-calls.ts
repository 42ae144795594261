import type {
  BroadcastParams,
  CallContext,
  CallManyParams,
  CallParams,
  ManyContext,
  ToolResult,
} from '../../fleet/fleet.js';
import type { Outcome } from '../../link/calls/call.js';
import type { MCPError } from '../../shared/call-errors.js';
import type { Clock } from '../../shared/clock.js';
import { nameFilter } from '../catalog/tool-filter.js';
import type { ConfiguredServer } from '../server/configured-server.js';
import type { ViewCatalog } from '../view/view-catalog.js';
import type { ViewServers } from '../view/view-servers.js';
import type { CallRouter, HerdCall } from './call-router.js';
import { fanOut } from './fan-out.js';
import { type KeepText, limitResult } from './result-limit.js';
import { toToolResult } from './tool-result.js';

export interface ToolCallsOptions {
  router: CallRouter;
  servers: ViewServers;
  catalog: ViewCatalog;
  clock: Clock;
  /** `of`: the server whose secrets may be in the text. */
  redact(text: string, of?: ConfiguredServer): string;
  keepText: KeepText;
  /** Writes a line about a server into the log. */
  note(server: string, text: string): void;
  newRequestId(): string;
}

/** Calls of tools for scripts: whatever becomes of a call, its caller gets a `ToolResult`. */
export class ToolCalls {
  readonly #options: ToolCallsOptions;

  constructor(options: ToolCallsOptions) {
    this.#options = options;
  }

  call(params: CallParams, context: CallContext = {}): Promise<ToolResult> {
    const { router, clock, redact, note, servers } = this.#options;
    const { server } = params;
    const { onProgress: progress, onRequest: ask } = context;
    const begun = clock.now();
    const call = this.#toHerdCall(params, context);
    return new Promise((resolve) => {
      let incarnation: number | null = null;
      const settle = (outcome: Outcome) => {
        const about = {
          params,
          requestId: call.requestId,
          incarnation,
          elapsedMs: clock.now() - begun,
          redact: (text: string) => redact(text, servers.get(server)),
          unknown: (type: string) => note(server, `content of unknown type '${type}' was kept as it came`),
        };
        resolve(this.#limited(server, toToolResult(outcome, about)));
      };
      const routed = (to: number) => {
        incarnation = to;
      };
      router.send(call, { settle, routed, progress, ask, cutsResults: true });
    });
  }

  many({ calls, mode, quorum, ...limits }: CallManyParams, context: ManyContext = {}): Promise<ToolResult[]> {
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

  /** Servers whose tools are not known are asked for them first, so that the call reaches every server that has the tool. */
  async broadcast(params: BroadcastParams, context: ManyContext = {}): Promise<ToolResult[]> {
    // which servers have the tool is not known yet
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

  /** The result of a call that was not even tried. */
  #refuse(params: CallParams, context: ManyContext, error: MCPError): ToolResult {
    const { router, redact } = this.#options;
    const call = this.#toHerdCall(params, context);
    router.refuse(call, error);
    const about = { params, requestId: call.requestId, incarnation: null, elapsedMs: 0 };
    return toToolResult({ ok: false, error }, { ...about, redact, unknown: () => undefined });
  }

  #toHerdCall(params: CallParams, { caller, signal }: ManyContext): HerdCall & { requestId: string } {
    const { server, tool, arguments: args = {}, timeout_ms: timeoutMs } = params;
    const requestId = params.request_id ?? this.#options.newRequestId();
    const given = { name: tool, arguments: args };
    return { server, method: 'tools/call', params: given, timeoutMs, caller, requestId, signal };
  }

  #limited(server: string, result: ToolResult): ToolResult | Promise<ToolResult> {
    const { servers, keepText } = this.#options;
    const limit = servers.get(server)?.spec.resultLimit ?? 0;
    return limit === 0 ? result : limitResult(result, limit, keepText);
  }
}
