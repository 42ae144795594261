import type { MissingList, NamedList, RequestParams, ResultCut } from '../../fleet/fleet.js';
import {
  type MCPError,
  MCPPromptNotFoundError,
  MCPProtocolError,
  MCPToolNotFoundError,
  type RpcErrorObject,
} from '../../shared/call-errors.js';
import { isObject, type JsonObject } from '../../shared/json.js';
import { CODE, MCP_CODE } from '../../shared/mcp/rpc-codes.js';
import type { Separator } from '../../shared/mcp/separators.js';
import type { Lists } from '../catalog/lists.js';
import type { ProfileLens } from '../catalog/profile-lens.js';
import { invalidParams, noServerHas, unknownPrompt, unknownTool } from '../errors.js';
import type { HerdRequest } from '../events/call-event.js';
import type { ConfiguredServer } from '../server/configured-server.js';
import { toolRefusal } from '../server/refusal.js';
import {
  NameSearch,
  readUnknownLists,
  type SearchedRequest,
  type SearchedView,
  type SearchLimits,
} from './name-search.js';

/** Replaces an error of the server by one that says more, from what was asked for or how the server was found. */
export type Explain = (error: MCPError, server: ConfiguredServer) => MCPError;

/** A request to the herd. Names in its params are public names, or those of `server`. */
export interface HerdCall extends HerdRequest {
  /** Absent: the server that has what is named serves it. */
  server?: string | undefined;
  method: RequestParams['method'];
  params: JsonObject;
  signal?: AbortSignal | undefined;
  /** In the names that the caller lists. Absent: that of the config. */
  separator?: Separator | undefined;
  /** How the text of a tool's result is cut for the caller, where the server's entry does not say. */
  cut?: ResultCut | undefined;
  explain?: Explain | undefined;
}

/** The server that serves a request, and the request in that server's own names. */
export interface Target {
  server: ConfiguredServer;
  params: JsonObject;
  /** The name by which the caller called a tool, where the view has a profile. */
  calledAs?: string | undefined;
  /** What the search left of the request's time. */
  timeoutMs: number | undefined;
  /** By its lists the server would refuse it. */
  refusal?: MCPError | undefined;
  /** Instead of that of the request. */
  explain?: Explain | undefined;
}

export interface ResourceOwner {
  server: ConfiguredServer;
  timeoutMs: number | undefined;
  /** Lists of others that may have it. Empty where the owner was named, or is known to have it. */
  missing: readonly MissingList[];
}

/**
 * Finds the server that a request is for, and that server's own name for what the request names. `resolve` answers at
 * once where the known lists suffice; it returns a promise only where a list has to be read first.
 */
export class TargetResolver {
  readonly #view: SearchedView;

  constructor(view: SearchedView) {
    this.#view = view;
  }

  /** Throws, or rejects with, the reason why no server can serve it. */
  resolve(call: HerdCall, request: SearchedRequest): Target | Promise<Target> {
    const { params } = call;
    this.#view.lens()?.check();
    switch (call.method) {
      case 'tools/call':
        return this.#byName('tools', textOf(params, 'name'), call, request);
      case 'prompts/get':
        return this.#byName('prompts', textOf(params, 'name'), call, request);
      case 'resources/read':
        return this.#byUri(textOf(params, 'uri'), call, request);
      case 'completion/complete':
        return this.#completion(call, request);
    }
  }

  /**
   * The server that has a resource. Of several that list it the first counts. A server may have more than it lists, if
   * it is the only one that offers resources.
   */
  async findOwnerByUri(uri: string, server?: string, limits: SearchLimits = {}): Promise<ResourceOwner> {
    const { servers, catalog, lens } = this.#view;
    lens()?.check();
    const known = server === undefined ? this.ownerByUri(uri) : servers.find(server);
    if (known !== undefined) return { server: known, timeoutMs: limits.timeoutMs, missing: [] };
    const timeoutMs = await readUnknownLists(this.#view, 'resources', uri, limits);
    const found = this.ownerByUri(uri);
    if (found !== undefined) return { server: found, timeoutMs, missing: [] };
    const offering = servers.servers.filter((one) => offersResources(one.catalog.knownLists()));
    const [only] = offering;
    const missing = catalog.missing('resources');
    if (only === undefined || offering.length > 1) throw noServerHas('resources', uri, [], missing);
    const others = missing.filter((list) => list.server !== only.spec.name);
    return { server: only, timeoutMs, missing: others };
  }

  /** The first server that lists it, else the first that has a template for it; undefined where no list has it. */
  ownerByUri(uri: string): ConfiguredServer | undefined {
    const { servers } = this.#view.servers;
    return (
      servers.find((server) => listsResource(server, uri)) ??
      servers.find((server) => hasTemplateFor(server, uri))
    );
  }

  // Branches on promises are written out: closures for the steps took a tenth of a call's time (2026-11-18).
  #byName(list: NamedList, name: string, call: HerdCall, request: SearchedRequest): Target | Promise<Target> {
    const search = new NameSearch(this.#view, list, name, call, request);
    const found = search.run();
    if (found instanceof Promise) return found.then(() => this.#named(list, name, call, search));
    return this.#named(list, name, call, search);
  }

  #named(list: NamedList, name: string, call: HerdCall, search: NameSearch): Target {
    const lens = list === 'tools' ? this.#view.lens() : undefined;
    const target = namedTarget(list, name, call, search, lens);
    return lens === undefined ? target : throughProfile(lens, target, name, call, search);
  }

  #byUri(uri: string, call: HerdCall, request: SearchedRequest): Target | Promise<Target> {
    const { server, params, timeoutMs } = call;
    const known = server === undefined ? this.ownerByUri(uri) : this.#view.servers.find(server);
    if (known !== undefined) return { server: known, params, timeoutMs };
    return this.findOwnerByUri(uri, undefined, request.limits(timeoutMs)).then(({ missing, ...owner }) => {
      const isGuess = call.method === 'resources/read' && missing.length > 0;
      return { ...owner, params, explain: isGuess ? guessed(uri, missing) : undefined };
    });
  }

  #completion(call: HerdCall, request: SearchedRequest): Target | Promise<Target> {
    const ref = isObject(call.params.ref) ? call.params.ref : {};
    if (ref.type !== 'ref/prompt') return this.#byUri(textOf(ref, 'uri'), call, request);
    const toTarget = ({ server, timeoutMs, ownName }: NameSearch): Target => {
      return { server, timeoutMs, params: { ...call.params, ref: { ...ref, name: ownName } } };
    };
    const found = new NameSearch(this.#view, 'prompts', textOf(ref, 'name'), call, request).run();
    return found instanceof Promise ? found.then(toTarget) : toTarget(found);
  }
}

function namedTarget(
  list: NamedList,
  name: string,
  call: HerdCall,
  search: NameSearch,
  lens: ProfileLens | undefined,
): Target {
  const { server, timeoutMs, ownName } = search;
  const params = ownName === name ? call.params : { ...call.params, name: ownName };
  const refusal = list === 'tools' ? toolRefusalNow(server, ownName, lens) : promptRefusal(server, ownName);
  const isUnknown = refusal instanceof MCPToolNotFoundError || refusal instanceof MCPPromptNotFoundError;
  return {
    server,
    params,
    timeoutMs,
    refusal: isUnknown && call.server === undefined ? search.unknown() : refusal,
  };
}

/** A tool that the profile renames has no other public name; a caller that names the server may use its own name. */
function throughProfile(
  lens: ProfileLens,
  { server, params, ...target }: Target,
  name: string,
  call: HerdCall,
  search: NameSearch,
): Target {
  const { ownName } = search;
  const renamed = lens.publicNameOf(server.spec.name, ownName);
  const isOldName = call.server === undefined && renamed !== undefined && renamed !== name;
  return {
    ...target,
    server,
    params: lens.filledIn(server.spec.name, ownName, params),
    ...(name === ownName ? {} : { calledAs: name }),
    // the list may have changed while the call waited
    explain: (error) =>
      error instanceof MCPToolNotFoundError ? unknownInProfile(lens, server, ownName) : error,
    refusal: target.refusal ?? (isOldName ? search.unknown() : undefined),
  };
}

function toolRefusalNow(
  server: ConfiguredServer,
  tool: string,
  lens: ProfileLens | undefined,
): MCPError | undefined {
  const { catalog, spec } = server;
  const isUnknown = lens !== undefined && !catalog.hasTool(tool) && catalog.blockOf(tool) === undefined;
  if (isUnknown || lens?.has(spec.name, tool) === false) return unknownInProfile(lens!, server, tool);
  const refusal = toolRefusal(server, tool);
  if (refusal === undefined || !server.isComparedAnew) return refusal;
  // the process that is yet to start may have the tool as it was pinned
  return server.catalog.blockOf(tool) === undefined ? refusal : undefined;
}

/** The error names only tools of the profile. */
function unknownInProfile(lens: ProfileLens, { catalog, spec }: ConfiguredServer, tool: string): MCPError {
  const known = [...(catalog.keysOf('tools') ?? [])].filter((one) => lens.has(spec.name, one));
  return unknownTool(spec.name, tool, known);
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

/**
 * Whether a URI may be an expansion of a template (RFC 6570). Only the fixed parts are compared, in their order: the
 * server knows which values a variable takes.
 */
export function matchesTemplate(template: string, uri: string): boolean {
  const parts = template.split(/\{[^{}]*\}/);
  const [first = '', ...rest] = parts;
  const last = rest.pop();
  if (last === undefined) return uri === template;
  if (!uri.startsWith(first) || uri.length < first.length + last.length || !uri.endsWith(last)) return false;
  const middle = uri.slice(first.length, uri.length - last.length);
  let at = 0;
  for (const part of rest) {
    const found = middle.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return true;
}

/** What servers answer when they have no such resource: the code of 2025, and that of 2026-07-28 and of older SDKs. */
const NO_SUCH_RESOURCE: readonly unknown[] = [MCP_CODE.resourceNotFound, CODE.invalidParams];

/** A server's own error to `resources/read` if it means that the server has no such resource; else undefined. */
export function noSuchResource(error: MCPError): RpcErrorObject | undefined {
  const rpc = error instanceof MCPProtocolError ? error.rpc : undefined;
  return NO_SUCH_RESOURCE.includes(rpc?.code) ? rpc : undefined;
}

/** The server was only a guess: the error names the servers whose lists are not known yet. */
function guessed(uri: string, missing: readonly MissingList[]): Explain {
  return (error, { spec }) => {
    const rpc = noSuchResource(error);
    if (rpc === undefined) return error;
    return noServerHas('resources', uri, [], missing, { server: spec.name, rpc });
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
  throw invalidParams(`'${name}' must be a non-empty string`);
}
