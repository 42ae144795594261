import type {
  BroadcastParams,
  CallContext,
  CallManyParams,
  CallParams,
  ManyContext,
  ToolResult,
  Truncation,
} from '../../fleet/fleet.js';
import type { MCPError } from '../../shared/call-errors.js';
import type { Outcome } from '../../shared/call-sink.js';
import type { Clock } from '../../shared/clock.js';
import { nameFilter } from '../../shared/text/glob.js';
import type { ConfiguredServer } from '../server/configured-server.js';
import type { ViewCatalog } from '../view/view-catalog.js';
import type { CallRouter } from './call-router.js';
import { fanOut } from './fan-out.js';
import type { HerdCall } from './target-resolver.js';
import { toToolResult } from './tool-result.js';

export interface ToolCallsOptions {
  router: CallRouter;
  catalog: ViewCatalog;
  clock: Clock;
  /** `of`: the server whose secrets may be in the text. */
  redact<T>(value: T, of?: ConfiguredServer): T;
  /** Writes a line about a server into the log. */
  note(server: ConfiguredServer, text: string): void;
  newRequestId(): string;
}

/** Calls of tools for scripts: a call that fails has a `ToolResult` too. */
export class ToolCalls {
  readonly #options: ToolCallsOptions;

  constructor(options: ToolCallsOptions) {
    this.#options = options;
  }

  call(params: CallParams, context: CallContext = {}): Promise<ToolResult> {
    const { router, clock, redact, note } = this.#options;
    const { onProgress: progress, onRequest: ask, onCancel } = context;
    const begun = clock.now();
    const call = this.#toHerdCall(params, context);
    const { requestId } = call;
    return new Promise((resolve) => {
      // the server that ran the call: after a reload another one may have its name
      let server: ConfiguredServer | undefined;
      let incarnation: number | null = null;
      const redactOwn = <T>(value: T) => redact(value, server);
      const unknown = (type: string) =>
        server && note(server, `content of unknown type '${type}' was kept as it came`);
      const handle = router.send(call, {
        progress,
        ask,
        found: (to) => {
          server = to;
        },
        routed: (to) => {
          incarnation = to;
        },
        settle: (outcome: Outcome, truncated?: Truncation) => {
          const elapsedMs = clock.now() - begun;
          // written out: a spread took a tenth of a call's CPU time (2026-11-18)
          const about = { params, requestId, incarnation, elapsedMs, truncated, redact: redactOwn, unknown };
          resolve(toToolResult(outcome, about));
        },
      });
      onCancel?.((reason) => handle.cancel(reason));
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
    const outcome = { ok: false, error: router.refuse(call, error) } as const;
    const about = { params, requestId: call.requestId, incarnation: null, elapsedMs: 0 };
    return toToolResult(outcome, { ...about, redact, unknown: () => undefined });
  }

  #toHerdCall(
    params: CallParams,
    { caller, signal, separator }: ManyContext,
  ): HerdCall & { requestId: string } {
    const { server, tool, arguments: args = {}, timeout_ms: timeoutMs } = params;
    const requestId = params.request_id ?? this.#options.newRequestId();
    const given = { name: tool, arguments: args };
    return { server, method: 'tools/call', params: given, timeoutMs, caller, requestId, signal, separator };
  }
}
