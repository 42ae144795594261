import type { CallContext, McpResult, PromptParams, ResourceParams } from '../ipc/fleet.js';
import { CancelledError, MCPError, MCPProtocolError } from '../link/errors.js';
import type { CallHandle, CallRequest, Outcome } from '../link/session/call.js';
import { reasonOf } from './call-refusal.js';
import type { ConfiguredServer } from './configured-server.js';
import { disabled, unknownPrompt, unknownResource } from './errors.js';
import type { Members } from './members.js';
import type { Offers } from './offers.js';
import { toWireError } from './tool-result.js';

export interface LookupOptions {
  members: Members;
  offers: Offers;
  redact(text: string): string;
}

const INVALID_PARAMS = -32602;
/** What a server says when it has no such resource: the code of 2025, and that of 2026-07-28 and of the SDKs before. */
const NO_SUCH_RESOURCE: readonly unknown[] = [-32002, INVALID_PARAMS];

/** Prompts and resources: they wait for a server that starts, are cancelled and run out of time as calls do. */
export class Lookups {
  readonly #options: LookupOptions;

  constructor(options: LookupOptions) {
    this.#options = options;
  }

  async prompt(params: PromptParams, context: CallContext = {}): Promise<McpResult> {
    const { offers } = this.#options;
    const server = this.#find(params.server);
    const isUnsure = offers.isUnsure('prompts', server, params.name);
    const timeoutMs = isUnsure
      ? await offers.makeSure(server, params.timeout_ms, context.signal)
      : params.timeout_ms;
    const name = offers.ownName('prompts', server, params.name);
    const known = server.catalog.keysOf('prompts');
    if (known?.has(name) === false && !server.catalog.isDoubted('prompts')) {
      throw unknownPrompt(params.server, params.name, [...known]);
    }
    const given = params.arguments === undefined ? {} : { arguments: params.arguments };
    const request = { method: 'prompts/get', params: { name, ...given }, timeoutMs };
    return this.#send(server, request, context, (error) => {
      if (codeOf(error) !== INVALID_PARAMS) return error;
      const { message, sent, why } = error;
      return new MCPProtocolError(message, { sent, why, fix: `see "toolherd prompts ${params.server}"` });
    });
  }

  /** A server may have more resources than it lists: whether it has this one is for it to say. */
  async resource(
    { server: name, uri, timeout_ms }: ResourceParams,
    context: CallContext = {},
  ): Promise<McpResult> {
    const server = this.#find(name);
    const request = { method: 'resources/read', params: { uri }, timeoutMs: timeout_ms };
    return this.#send(server, request, context, (error) => {
      if (!NO_SUCH_RESOURCE.includes(codeOf(error))) return error;
      const { rpc } = error as MCPProtocolError;
      return unknownResource(name, uri, [...(server.catalog.keysOf('resources') ?? [])], rpc!.message);
    });
  }

  #find(name: string): ConfiguredServer {
    const server = this.#options.members.find(name);
    if (!server.spec.enabled) throw disabled(server.spec);
    return server;
  }

  #send(
    server: ConfiguredServer,
    request: CallRequest,
    { signal, onProgress, onRequest, caller }: CallContext,
    explain = (error: MCPError): MCPError => error,
  ): Promise<McpResult> {
    return new Promise((resolve, reject) => {
      let handle: CallHandle | undefined;
      const abort = () => handle?.cancel(reasonOf(signal));
      const settle = (outcome: Outcome) => {
        signal?.removeEventListener('abort', abort);
        if (outcome.ok) resolve(outcome.result);
        else reject(this.#told(explain(outcome.error)));
      };
      if (signal?.aborted) {
        const reason = reasonOf(signal) ?? 'before it began';
        settle({
          ok: false,
          error: new CancelledError(`${server.spec.name}: the call was cancelled: ${reason}`),
        });
        return;
      }
      signal?.addEventListener('abort', abort, { once: true });
      handle = server.call({ ...request, caller }, { settle, progress: onProgress, ask: onRequest });
    });
  }

  /** The same error without secrets. */
  #told(error: MCPError): MCPError {
    return new ToldError(toWireError(error, this.#options.redact));
  }
}

function codeOf(error: MCPError): number | undefined {
  return error instanceof MCPProtocolError ? error.rpc?.code : undefined;
}

/** An error in the words in which it may be told. */
class ToldError extends MCPError {
  override readonly type: string;

  constructor({ type, message, ...details }: ReturnType<typeof toWireError>) {
    super(message, details);
    this.type = type;
  }
}
