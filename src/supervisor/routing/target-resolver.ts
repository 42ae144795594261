import type { MissingList } from '../../fleet/fleet.js';
import { type MCPError, MCPProtocolError, type RpcErrorObject } from '../../shared/call-errors.js';
import { isObject, type JsonObject } from '../../shared/json.js';
import { CODE, MCP_CODE } from '../../shared/mcp/rpc-codes.js';
import type { Lists } from '../catalog/lists.js';
import { matchesTemplate } from '../catalog/uri-template.js';
import { noServerHas, unknownPrompt } from '../errors.js';
import { callRefusal } from '../server/call-refusal.js';
import type { ConfiguredServer } from '../server/configured-server.js';
import type { SearchLimits, ViewCatalog } from '../view/view-catalog.js';
import type { ViewServers } from '../view/view-servers.js';
import type { HerdCall } from './call-router.js';

type NamedList = 'tools' | 'prompts';

/** The server that serves a request, and the request in that server's own names. */
export interface Target {
  server: ConfiguredServer;
  params: JsonObject;
  /** What the search left of the request's time. */
  timeoutMs: number | undefined;
  /** Says what an error of this server means, given how the server was found. */
  explain?: ((error: MCPError) => MCPError) | undefined;
}

/** One search for a target. */
export interface Search {
  /** The name of the server, as far as it is known: a request that is refused is recorded under it. */
  serverName: string;
  /** The caller's, or one of the search; aborted when the request is cancelled. */
  readonly signal: AbortSignal | undefined;
  /** Called only where something has to be awaited. */
  limits(timeoutMs: number | undefined): SearchLimits;
}

interface Owner {
  server: ConfiguredServer;
  /** What the server itself calls it, where a list says so. */
  ownName?: string;
  timeoutMs: number | undefined;
}

export interface ResourceOwner {
  server: ConfiguredServer;
  timeoutMs: number | undefined;
  /** Lists of others that may have it. Empty where the owner was named, or is known to have it. */
  unheard: readonly MissingList[];
}

export interface TargetResolverOptions {
  servers: ViewServers;
  catalog: ViewCatalog;
}

/**
 * Finds out which server a request is for, and what that server calls the thing that is named. `resolve` answers at once
 * where the lists that are known suffice; it returns a promise only where a list has to be read first.
 */
export class TargetResolver {
  readonly #servers: ViewServers;
  readonly #catalog: ViewCatalog;

  constructor({ servers, catalog }: TargetResolverOptions) {
    this.#servers = servers;
    this.#catalog = catalog;
  }

  /** Throws, or rejects with, the reason why no server can serve it. */
  resolve(call: HerdCall, search: Search): Target | Promise<Target> {
    const { params } = call;
    switch (call.method) {
      case 'tools/call':
        return this.#byName('tools', textOf(params, 'name'), call, search);
      case 'prompts/get':
        return this.#byName('prompts', textOf(params, 'name'), call, search);
      case 'resources/read':
        return this.#byUri(textOf(params, 'uri'), call, search);
      case 'completion/complete':
        return this.#completion(call, search);
    }
  }

  /**
   * The server that has a resource. Of several that list it the first counts. A server may have more than it lists, if
   * it is the only one that offers resources.
   */
  async ownerOf(uri: string, server?: string, limits: SearchLimits = {}): Promise<ResourceOwner> {
    if (server !== undefined)
      return { server: this.#servers.find(server), timeoutMs: limits.timeoutMs, unheard: [] };
    const look = () => this.holderOf(uri);
    const { found, timeoutMs } = await this.#catalog.search('resources', uri, look, limits);
    if (found !== undefined) return { server: found, timeoutMs, unheard: [] };
    const offering = this.#servers.servers.filter(({ catalog }) => offersResources(catalog.lists));
    const [only] = offering;
    const missing = this.#catalog.missing('resources');
    if (only === undefined || offering.length > 1) throw noServerHas('resources', uri, [], missing);
    const unheard = missing.filter((list) => list.server !== only.spec.name);
    return { server: only, timeoutMs, unheard };
  }

  /** The first server that lists it, else the first that has a template for it; undefined where no list has it. */
  holderOf(uri: string): ConfiguredServer | undefined {
    const { servers } = this.#servers;
    return (
      servers.find((server) => listsResource(server, uri)) ??
      servers.find((server) => hasTemplateFor(server, uri))
    );
  }

  // The branches on promises are written out: a closure for each step of each call is a tenth of what a call costs.
  #byName(list: NamedList, name: string, call: HerdCall, search: Search): Target | Promise<Target> {
    const owner = this.#find(list, name, call, search);
    if (owner instanceof Promise) return owner.then((found) => this.#target(list, name, call, search, found));
    return this.#target(list, name, call, search, owner);
  }

  #target(list: NamedList, name: string, call: HerdCall, search: Search, owner: Owner): Target {
    const { server, timeoutMs } = owner;
    const own = this.#ownName(list, name, owner);
    this.#check(list, name, own, server, call, search);
    return { server, params: own === name ? call.params : { ...call.params, name: own }, timeoutMs };
  }

  #byUri(uri: string, call: HerdCall, search: Search): Target | Promise<Target> {
    const { server, params, timeoutMs } = call;
    const known = server === undefined ? this.holderOf(uri) : this.#servers.find(server);
    if (known !== undefined) return { server: known, params, timeoutMs };
    return this.ownerOf(uri, undefined, search.limits(timeoutMs)).then(({ unheard, ...owner }) => {
      const isGuess = call.method === 'resources/read' && unheard.length > 0;
      return { ...owner, params, explain: isGuess ? notHeard(uri, owner.server, unheard) : undefined };
    });
  }

  #completion(call: HerdCall, search: Search): Target | Promise<Target> {
    const ref = isObject(call.params.ref) ? call.params.ref : {};
    if (ref.type !== 'ref/prompt') return this.#byUri(textOf(ref, 'uri'), call, search);
    const name = textOf(ref, 'name');
    const toTarget = (owner: Owner): Target => {
      const own = this.#ownName('prompts', name, owner);
      return { ...owner, params: { ...call.params, ref: { ...ref, name: own } } };
    };
    const owner = this.#find('prompts', name, call, search);
    return owner instanceof Promise ? owner.then(toTarget) : toTarget(owner);
  }

  #find(list: NamedList, name: string, call: HerdCall, search: Search): Owner | Promise<Owner> {
    const owner = this.#owner(list, name, call, search);
    if (owner instanceof Promise) return owner.then((found) => this.#sure(list, name, call, search, found));
    return this.#sure(list, name, call, search, owner);
  }

  /** The server is asked first what it has, where its list may be outdated and does not have the name. */
  #sure(list: NamedList, name: string, call: HerdCall, search: Search, owner: Owner): Owner | Promise<Owner> {
    const { server, ownName, timeoutMs } = owner;
    search.serverName = server.spec.name;
    const isSure = ownName !== undefined || search.signal?.aborted === true;
    if (isSure || !this.#catalog.isUnsure(list, server, name)) return owner;
    return this.#catalog.makeSure(server, search.limits(timeoutMs)).then((leftMs) => {
      // looked up anew: a reload may have replaced the server meanwhile
      const present = this.#servers.find(server.spec.name);
      return this.#known(list, name, call, { server: present, timeoutMs: leftMs });
    });
  }

  #owner(list: NamedList, name: string, call: HerdCall, search: Search): Owner | Promise<Owner> {
    const { timeoutMs } = call;
    if (call.server !== undefined) return { server: this.#servers.find(call.server), timeoutMs };
    const held = this.#catalog.holderOf(list, name);
    if (held !== undefined) return { server: this.#servers.find(held.server), ownName: held.name, timeoutMs };
    const guess = this.#catalog.longestPrefix(name);
    if (guess !== undefined) return { server: this.#servers.find(guess), timeoutMs };
    return this.#catalog
      .findOwner(list, name, search.limits(timeoutMs))
      .then(({ found, timeoutMs: left }) => {
        if (found === undefined) throw this.#unknown(list, name);
        return this.#known(list, name, call, { server: this.#servers.find(found), timeoutMs: left });
      });
  }

  /** After a list was read: without a server, names are public names. */
  #known(list: NamedList, name: string, call: HerdCall, owner: Owner): Owner {
    const held = call.server === undefined ? this.#catalog.holderOf(list, name) : undefined;
    return held?.server === owner.server.spec.name ? { ...owner, ownName: held.name } : owner;
  }

  #ownName(list: NamedList, name: string, { server, ownName }: Owner): string {
    return ownName ?? this.#catalog.ownName(list, server, name);
  }

  #check(
    list: NamedList,
    name: string,
    own: string,
    server: ConfiguredServer,
    call: HerdCall,
    { signal }: Search,
  ): void {
    const refusal =
      list === 'tools'
        ? callRefusal(this.#servers, { server: server.spec.name, tool: own }, signal)
        : promptRefusal(server, own);
    if (refusal === undefined) return;
    const isUnknown = refusal.type.endsWith('NotFoundError');
    throw isUnknown && call.server === undefined ? this.#unknown(list, name) : refusal;
  }

  #unknown(list: NamedList, name: string): MCPError {
    return noServerHas(list, name, this.#catalog.names(list), this.#catalog.missing(list));
  }
}

/** Whether a list of the server has the resource. */
export function offersResource(server: ConfiguredServer, uri: string): boolean {
  return listsResource(server, uri) || hasTemplateFor(server, uri);
}

function listsResource({ catalog }: ConfiguredServer, uri: string): boolean {
  return (['resources', 'templates'] as const).some((list) => catalog.keysOf(list)?.has(uri));
}

function hasTemplateFor({ catalog }: ConfiguredServer, uri: string): boolean {
  return [...(catalog.keysOf('templates') ?? [])].some((template) => matchesTemplate(template, uri));
}

/** What servers answer when they have no such resource: the code of 2025, and that of 2026-07-28 and of older SDKs. */
const NO_SUCH_RESOURCE: readonly unknown[] = [MCP_CODE.resourceNotFound, CODE.invalidParams];

/** A server's own error to `resources/read` if it means that the server has no such resource; else undefined. */
export function noSuchResource(error: MCPError): RpcErrorObject | undefined {
  const rpc = error instanceof MCPProtocolError ? error.rpc : undefined;
  return NO_SUCH_RESOURCE.includes(rpc?.code) ? rpc : undefined;
}

/** The server was only a guess: the error names the servers whose lists are not known yet. */
function notHeard(uri: string, { spec }: ConfiguredServer, unheard: readonly MissingList[]) {
  return (error: MCPError): MCPError => {
    const rpc = noSuchResource(error);
    if (rpc === undefined) return error;
    return noServerHas('resources', uri, [], unheard, { server: spec.name, rpc });
  };
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
