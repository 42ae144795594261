import type { CallContext, McpResult, MissingList, RequestParams } from '../../fleet/fleet.js';
import { type MCPError, MCPProtocolError } from '../../shared/call-errors.js';
import { isObject, type JsonObject } from '../../shared/json.js';
import { CODE } from '../../shared/rpc-codes.js';
import type { Lists } from '../catalog/lists.js';
import { matchesTemplate } from '../catalog/uri-template.js';
import { disabled, noServerHas, unknownPrompt } from '../errors.js';
import type { Limits } from '../herd/view-catalog.js';
import { callRefusal } from '../server/call-refusal.js';
import type { ConfiguredServer } from '../server/configured-server.js';
import { type LookupOptions, saidNoSuchResource } from './lookups.js';
import { type KeepText, limitMcpResult } from './result-limit.js';
import { type SendOptions, sendToServer } from './send-to-server.js';
import type { RecordedContext } from './unserved-request.js';

type Named = 'tools' | 'prompts';

export interface RequestsOptions extends LookupOptions {
  keepText: KeepText;
}

export interface ResourceOwner {
  owner: ConfiguredServer;
  /** What is left of the time of the request. */
  timeoutMs: number | undefined;
  /** Lists of others that may have it. Empty where the owner was named, or is known to have it. */
  unheard: readonly MissingList[];
}

/** Requests of MCP that go through as they are: only the name is made the server's own. What its config hides stays hidden. */
export class Requests {
  readonly #options: RequestsOptions;

  constructor(options: RequestsOptions) {
    this.#options = options;
  }

  async send(request: RequestParams, context: RecordedContext): Promise<McpResult> {
    switch (request.method) {
      case 'tools/call':
        return this.#named('tools', textOf(request.params, 'name'), request, context);
      case 'prompts/get':
        return this.#named('prompts', textOf(request.params, 'name'), request, context);
      case 'resources/read':
        return this.#passToOwner(textOf(request.params, 'uri'), request, context);
      case 'completion/complete':
        return this.#complete(request, context);
    }
  }

  async #named(
    list: Named,
    name: string,
    request: RequestParams,
    context: RecordedContext,
  ): Promise<McpResult> {
    const { server, own, timeoutMs } = await this.#find(list, name, request, context);
    this.#check(list, server, own, context, request.server === undefined ? name : undefined);
    const params = { ...request.params, name: own };
    const result = await this.#pass(server, { ...request, params, timeout_ms: timeoutMs }, context);
    const { resultLimit } = server.spec;
    if (list === 'prompts' || resultLimit === 0) return result;
    return limitMcpResult(result, resultLimit, this.#options.keepText);
  }

  async #complete(request: RequestParams, context: RecordedContext): Promise<McpResult> {
    const ref = isObject(request.params.ref) ? request.params.ref : {};
    if (ref.type !== 'ref/prompt') return this.#passToOwner(textOf(ref, 'uri'), request, context);
    const { server, own, timeoutMs } = await this.#find('prompts', textOf(ref, 'name'), request, context);
    const params = { ...request.params, ref: { ...ref, name: own } };
    return this.#pass(server, { ...request, params, timeout_ms: timeoutMs }, context);
  }

  async #passToOwner(uri: string, request: RequestParams, context: RecordedContext): Promise<McpResult> {
    const limits = { timeoutMs: request.timeout_ms, signal: context.signal };
    const { owner, timeoutMs, unheard } = await this.ownerOf(uri, request.server, limits);
    const server = owner.spec.name;
    const explain = (error: MCPError) => {
      const rpc = request.method === 'resources/read' ? saidNoSuchResource(error) : undefined;
      if (rpc === undefined || unheard.length === 0) return error;
      return noServerHas('resources', uri, [], unheard, { server, rpc });
    };
    return this.#pass(owner, { ...request, timeout_ms: timeoutMs }, context, explain);
  }

  #pass(
    server: ConfiguredServer,
    { method, params, timeout_ms: timeoutMs }: RequestParams,
    context: RecordedContext,
    explain?: SendOptions['explain'],
  ): Promise<McpResult> {
    if (!server.spec.enabled) throw disabled(server.spec);
    context.onServer?.(server.spec.name);
    const { redact } = this.#options;
    return sendToServer(server, { method, params, timeoutMs }, context, { redact, explain });
  }

  /** Whose it is and what that server calls it; with what is left of the time. */
  async #find(list: Named, name: string, request: RequestParams, { signal, unserved }: RecordedContext) {
    const { servers, catalog } = this.#options;
    const limits = { timeoutMs: request.timeout_ms, signal };
    const { found: owner, timeoutMs: leftMs } =
      request.server === undefined
        ? await catalog.findOwner(list, name, limits)
        : { found: request.server, timeoutMs: request.timeout_ms };
    if (owner === undefined) throw noServerHas(list, name, catalog.names(list), catalog.missing(list));
    if (unserved !== undefined) unserved.server = owner;
    const server = servers.find(owner);
    const timeoutMs = catalog.isUnsure(list, server, name)
      ? await catalog.makeSure(server, { timeoutMs: leftMs, signal })
      : leftMs;
    // who sees the whole herd means what the herd calls so, whatever else its server calls so
    const held = request.server === undefined ? catalog.holderOf(list, name) : undefined;
    const own = held?.server === owner ? held.name : catalog.ownName(list, server, name);
    return { server, own, timeoutMs };
  }

  /** `exposedName`: what it was called, by somebody who knows the names of the herd. */
  #check(
    list: Named,
    server: ConfiguredServer,
    own: string,
    { signal }: CallContext,
    exposedName: string | undefined,
  ): void {
    const { servers, catalog } = this.#options;
    const refusal =
      list === 'tools'
        ? callRefusal(servers, { server: server.spec.name, tool: own }, signal)
        : promptRefusal(server, own);
    if (refusal === undefined) return;
    const isUnknown = refusal.type.endsWith('NotFoundError');
    if (!isUnknown || exposedName === undefined) throw refusal;
    throw noServerHas(list, exposedName, catalog.names(list), catalog.missing(list));
  }

  /** Of several that offer it the first counts. A server may have more than it lists, if it is the only one to ask. */
  async ownerOf(uri: string, server?: string, limits: Limits = {}): Promise<ResourceOwner> {
    const { servers, catalog } = this.#options;
    if (server !== undefined)
      return { owner: servers.find(server), timeoutMs: limits.timeoutMs, unheard: [] };
    const look = () => this.holderOf(uri);
    const { found: listed, timeoutMs } = await catalog.search('resources', uri, look, limits);
    if (listed !== undefined) return { owner: listed, timeoutMs, unheard: [] };
    const offering = servers.servers.filter(({ catalog }) => offersResources(catalog.lists));
    const [only] = offering;
    const missing = catalog.missing('resources');
    if (only === undefined || offering.length > 1) throw noServerHas('resources', uri, [], missing);
    const unheard = missing.filter(({ server }) => server !== only.spec.name);
    return { owner: only, timeoutMs, unheard };
  }

  /** The first server that lists it, or else the first that has a template for it; undefined where none is known to. */
  holderOf(uri: string): ConfiguredServer | undefined {
    const { servers } = this.#options.servers;
    return (
      servers.find((server) => listsResource(server, uri)) ??
      servers.find((server) => hasTemplateFor(server, uri))
    );
  }
}

/** Whether it is known to have it. */
export function offersResource(server: ConfiguredServer, uri: string): boolean {
  return listsResource(server, uri) || hasTemplateFor(server, uri);
}

function listsResource({ catalog }: ConfiguredServer, uri: string): boolean {
  return (['resources', 'templates'] as const).some((list) => catalog.keysOf(list)?.has(uri));
}

function hasTemplateFor({ catalog }: ConfiguredServer, uri: string): boolean {
  return [...(catalog.keysOf('templates') ?? [])].some((template) => matchesTemplate(template, uri));
}

function promptRefusal({ catalog, spec }: ConfiguredServer, name: string): MCPError | undefined {
  const known = catalog.keysOf('prompts');
  if (known?.has(name) !== false || catalog.isDoubted('prompts')) return undefined;
  return unknownPrompt(spec.name, name, [...known]);
}

function offersResources({ resources, templates }: Lists): boolean {
  return (resources?.length ?? 0) > 0 || (templates?.length ?? 0) > 0;
}

function textOf(params: JsonObject, name: string): string {
  const value = params[name];
  if (typeof value === 'string' && value !== '') return value;
  const message = `Invalid params: '${name}' must be a non-empty string`;
  throw new MCPProtocolError(message, { rpc: { code: CODE.invalidParams, message } });
}
