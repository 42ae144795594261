import type {
  CallContext,
  ForwardHandle,
  ForwardSink,
  McpResult,
  PromptParams,
  RequestParams,
  ResourceParams,
} from '../../fleet/fleet.js';
import { type MCPError, MCPProtocolError } from '../../shared/call-errors.js';
import type { Outcome } from '../../shared/call-sink.js';
import type { RawJson } from '../../shared/framing/raw-json.js';
import { CODE } from '../../shared/mcp/rpc-codes.js';
import { shellWord } from '../../shared/text/shell-word.js';
import { unknownResource } from '../errors.js';
import type { ConfiguredServer } from '../server/configured-server.js';
import type { CallRouter } from './call-router.js';
import { type Explain, type HerdCall, noSuchResource } from './target-resolver.js';

/** Requests of MCP whose results are passed on as they came. */
export class McpRequests {
  readonly #router: CallRouter;

  constructor(router: CallRouter) {
    this.#router = router;
  }

  /** The form without a promise. A property, so that a fleet can have it as its method. */
  readonly forward = (
    { server, method, params, timeout_ms: timeoutMs, ownOnly }: RequestParams,
    sink: ForwardSink,
  ): ForwardHandle => {
    const { caller, separator, cut } = sink;
    return this.#router.send({ server, method, params, timeoutMs, caller, separator, cut, ownOnly }, sink);
  };

  request(
    { timeout_ms: timeoutMs, ...request }: RequestParams,
    context: CallContext = {},
  ): Promise<McpResult> {
    return this.#promise({ ...request, timeoutMs }, context);
  }

  prompt(params: PromptParams, context: CallContext = {}): Promise<McpResult> {
    const { server, name, arguments: args, timeout_ms: timeoutMs } = params;
    const given = args === undefined ? {} : { arguments: args };
    const explain: Explain = (error) => {
      if (codeOf(error) !== CODE.invalidParams) return error;
      const { message, sent, why } = error;
      return new MCPProtocolError(message, { sent, why, fix: `see "toolherd prompts ${shellWord(server)}"` });
    };
    const asked = { name, ...given };
    return this.#promise({ server, method: 'prompts/get', params: asked, timeoutMs, explain }, context);
  }

  /** A server may have more resources than it lists, so the server decides whether it has this one. */
  resource(params: ResourceParams, context: CallContext = {}): Promise<McpResult> {
    const { server, uri, timeout_ms: timeoutMs } = params;
    const explain: Explain = (error, { catalog }) => {
      const rpc = noSuchResource(error);
      if (rpc === undefined) return error;
      return unknownResource(server, uri, [...(catalog.keysOf('resources') ?? [])], rpc.message);
    };
    return this.#promise({ server, method: 'resources/read', params: { uri }, timeoutMs, explain }, context);
  }

  #promise(call: HerdCall, context: CallContext): Promise<McpResult> {
    const { signal, caller, turn, separator, cut, onServer, acceptsRaw } = context;
    const { onProgress: progress, onRequest: ask, onCancel } = context;
    const found = onServer && (({ spec }: ConfiguredServer) => onServer(spec.name));
    return new Promise((resolve, reject) => {
      const settle = (outcome: Outcome) => {
        if (!outcome.ok) reject(outcome.error);
        else resolve(outcome.raw === undefined ? outcome.result : asResult(outcome.raw));
      };
      const sink = { settle, progress, ask, found, acceptsRaw };
      const handle = this.#router.send({ ...call, caller, turn, signal, separator, cut }, sink);
      onCancel?.((reason) => handle.cancel(reason));
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
