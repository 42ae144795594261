import type {
  CallContext,
  ForwardHandle,
  ForwardSink,
  McpResult,
  PromptParams,
  RequestParams,
  ResourceParams,
} from '../../fleet/fleet.js';
import type { Outcome } from '../../link/calls/call.js';
import { type MCPError, MCPProtocolError } from '../../shared/call-errors.js';
import type { RawJson } from '../../shared/framing/raw-json.js';
import { CODE } from '../../shared/mcp/rpc-codes.js';
import { unknownResource } from '../errors.js';
import type { CallRouter, HerdCall, RouterSink } from './call-router.js';
import { noSuchResource } from './target-resolver.js';

/** Requests of MCP whose results are passed on as they came. */
export class McpRequests {
  readonly #router: CallRouter;

  constructor(router: CallRouter) {
    this.#router = router;
  }

  /** The form without a promise. */
  forward(
    { server, method, params, timeout_ms: timeoutMs }: RequestParams,
    sink: ForwardSink,
  ): ForwardHandle {
    return this.#router.send({ server, method, params, timeoutMs, caller: sink.caller }, sink);
  }

  request(
    { timeout_ms: timeoutMs, ...request }: RequestParams,
    context: CallContext = {},
  ): Promise<McpResult> {
    return this.#promise({ ...request, timeoutMs }, context);
  }

  prompt(params: PromptParams, context: CallContext = {}): Promise<McpResult> {
    const { server, name, arguments: args, timeout_ms: timeoutMs } = params;
    const given = args === undefined ? {} : { arguments: args };
    const call: HerdCall = { server, method: 'prompts/get', params: { name, ...given }, timeoutMs };
    return this.#promise(call, context, (error) => {
      if (codeOf(error) !== CODE.invalidParams) return error;
      const { message, sent, why } = error;
      return new MCPProtocolError(message, { sent, why, fix: `see "toolherd prompts ${server}"` });
    });
  }

  /** A server may have more resources than it lists, so the server decides whether it has this one. */
  resource(params: ResourceParams, context: CallContext = {}): Promise<McpResult> {
    const { server: name, uri, timeout_ms: timeoutMs } = params;
    const call: HerdCall = { server: name, method: 'resources/read', params: { uri }, timeoutMs };
    return this.#promise(call, context, (error, { catalog }) => {
      const rpc = noSuchResource(error);
      if (rpc === undefined) return error;
      return unknownResource(name, uri, [...(catalog.keysOf('resources') ?? [])], rpc.message);
    });
  }

  #promise(call: HerdCall, context: CallContext, explain?: RouterSink['explain']): Promise<McpResult> {
    const { signal, caller, onProgress: progress, onRequest: ask, onServer: found, acceptsRaw } = context;
    return new Promise((resolve, reject) => {
      const settle = (outcome: Outcome) => {
        if (!outcome.ok) reject(outcome.error);
        else resolve(outcome.raw === undefined ? outcome.result : asResult(outcome.raw));
      };
      this.#router.send({ ...call, caller, signal }, { settle, progress, ask, found, acceptsRaw, explain });
    });
  }
}

/** Callers with `acceptsRaw` expect a RawJson. */
function asResult(raw: RawJson): McpResult {
  return raw as object as McpResult;
}

function codeOf(error: MCPError): number | undefined {
  return error instanceof MCPProtocolError ? error.rpc?.code : undefined;
}
