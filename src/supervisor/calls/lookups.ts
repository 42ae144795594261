import type { CallContext, McpResult, PromptParams, ResourceParams } from '../../fleet/fleet.js';
import type { CallRequest } from '../../link/session/call.js';
import { type MCPError, MCPProtocolError, type RpcError } from '../../shared/call-errors.js';
import { CODE } from '../../shared/rpc-codes.js';
import { disabled, unknownPrompt, unknownResource } from '../errors.js';
import type { ViewCatalog } from '../herd/view-catalog.js';
import type { ViewServers } from '../herd/view-servers.js';
import type { ConfiguredServer } from '../server/configured-server.js';
import { sendToServer } from './send-to-server.js';

export interface LookupOptions {
  servers: ViewServers;
  catalog: ViewCatalog;
  /** `of`: whose words are in the text. */
  redact(text: string, of?: ConfiguredServer): string;
}

/** What a server says when it has no such resource: the code of 2025, and that of 2026-07-28 and of the SDKs before. */
const NO_SUCH_RESOURCE: readonly unknown[] = [-32002, CODE.invalidParams];

/** What a server said to `resources/read` if that means that it has no such resource; undefined for any other error. */
export function saidNoSuchResource(error: MCPError): RpcError | undefined {
  const rpc = error instanceof MCPProtocolError ? error.rpc : undefined;
  return NO_SUCH_RESOURCE.includes(rpc?.code) ? rpc : undefined;
}

/** Prompts and resources: they wait for a server that starts, are cancelled and run out of time as calls do. */
export class Lookups {
  readonly #options: LookupOptions;

  constructor(options: LookupOptions) {
    this.#options = options;
  }

  async prompt(params: PromptParams, context: CallContext = {}): Promise<McpResult> {
    const { catalog } = this.#options;
    const server = this.#find(params.server);
    const isUnsure = catalog.isUnsure('prompts', server, params.name);
    const limits = { timeoutMs: params.timeout_ms, signal: context.signal };
    const timeoutMs = isUnsure ? await catalog.makeSure(server, limits) : params.timeout_ms;
    const name = catalog.ownName('prompts', server, params.name);
    const known = server.catalog.keysOf('prompts');
    if (known?.has(name) === false && !server.catalog.isDoubted('prompts')) {
      throw unknownPrompt(params.server, params.name, [...known]);
    }
    const given = params.arguments === undefined ? {} : { arguments: params.arguments };
    const request = { method: 'prompts/get', params: { name, ...given }, timeoutMs };
    return this.#send(server, request, context, (error) => {
      if (codeOf(error) !== CODE.invalidParams) return error;
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
      const said = saidNoSuchResource(error);
      if (said === undefined) return error;
      return unknownResource(name, uri, [...(server.catalog.keysOf('resources') ?? [])], said.message);
    });
  }

  #find(name: string): ConfiguredServer {
    const server = this.#options.servers.find(name);
    if (!server.spec.enabled) throw disabled(server.spec);
    return server;
  }

  #send(
    server: ConfiguredServer,
    request: CallRequest,
    context: CallContext,
    explain: (error: MCPError) => MCPError,
  ): Promise<McpResult> {
    return sendToServer(server, request, context, { redact: this.#options.redact, explain });
  }
}

function codeOf(error: MCPError): number | undefined {
  return error instanceof MCPProtocolError ? error.rpc?.code : undefined;
}
