import { shownName, toolDefinition } from '../../fleet/definitions.js';
import type { LocalFleet, McpResult, Patience, ResultCut, ToolEntry } from '../../fleet/fleet.js';
import type { JsonObject } from '../../shared/json.js';
import { toolFilter } from '../../shared/mcp/profile.js';
import { isOwnName, type Surface } from '../../shared/mcp/surface.js';
import { untilCancelled } from '../jsonrpc/until-cancelled.js';
import { answerOwn, calledTool, isRefusal, notThroughCallTool } from './own-answers.js';
import { OWN_TOOLS } from './own-tools.js';
import { pageOf } from './pages.js';

export interface AgentSurfaceOptions {
  fleet: LocalFleet;
  /** By the present config, and as the client chose it. */
  surface(): Surface;
  /** The one server that the agent sees; undefined: the herd. */
  server(): string | undefined;
  /** Whose results are kept: the connection, or the client of many connections. */
  owner(): string;
  /**
   * The owners that search, where each request of a client is a connection: it keeps what an earlier request decided.
   * Default: the connection remembers it.
   */
  searching?: Pick<Set<string>, 'has' | 'add'> | undefined;
}

/** What a `tools/call` means: the call of a server's tool, with these params, or the answer of a tool of toolherd. */
export type CallTarget =
  | { kind: 'call'; params: JsonObject; cut: ResultCut | undefined }
  | { kind: 'answer'; answer(signal: AbortSignal): Promise<McpResult> };

/**
 * The tools as one agent lists and calls them: all of them, or four that find, describe and call the others, and page
 * their results.
 *
 * `auto` decides by the first list: search where the definitions have more tokens than the threshold, else all. It is
 * final, so that the list of an agent does not change its kind; only while lists of servers are missing may a later,
 * longer list still lead to search. Search never becomes all again. A client that calls a tool of toolherd has listed it,
 * perhaps from an earlier daemon: then it searches too.
 */
export class AgentSurface {
  readonly #options: AgentSurfaceOptions;
  /** By `auto`. `open`: it may still become search. */
  #choice: 'open' | 'all' | 'search' = 'open';
  /** The kind of the last list that the client got. */
  #listed: 'all' | 'search' | undefined;

  constructor(options: AgentSurfaceOptions) {
    this.#options = options;
  }

  /** Whether the agent searches, as far as it is decided. */
  get isSearch(): boolean {
    const { surface, searching } = this.#options;
    const { mode } = surface();
    if (mode !== 'auto') return mode === 'search';
    return this.#choice === 'search' || searching?.has(this.#key) === true;
  }

  /** Whether a changed list of tools changes what the client lists. Without `always` the tools of toolherd never change. */
  get followsTools(): boolean {
    return !(this.#listed === 'search' && this.isSearch && this.#options.surface().always.length === 0);
  }

  /** The instructions of the servers, in the form that fits. `auto` looks at the lists that are known now. */
  instructions(): string | undefined {
    const { fleet, server } = this.#options;
    this.#decide(true);
    return fleet.instructions({ server: server(), form: this.isSearch ? 'lines' : 'sections' });
  }

  /** The result of `tools/list`. */
  async list(cursor: string | undefined, signal: AbortSignal): Promise<McpResult> {
    const { fleet, surface, server } = this.#options;
    const { always } = surface();
    if (this.isSearch && always.length === 0) return this.#ownList([], cursor);
    // an agent does not wait for a slow server: it gets `list_changed` later. Only the first page waits at all
    const patience: Patience = cursor === undefined ? 'list_wait' : 'none';
    const { tools, missing } = await untilCancelled(signal, fleet.tools(server(), false, patience));
    const callable = tools.filter(({ blocked }) => blocked === undefined);
    if (cursor === undefined) this.#decide(missing.length > 0);
    if (this.isSearch) return this.#ownList(callable.filter(isAlways(always)), cursor);
    this.#listed = 'all';
    const { items, ...rest } = pageOf(callable, this.#nameOf, cursor);
    return { tools: items.map((tool) => toolDefinition(tool, this.#nameOf(tool))), ...rest };
  }

  /** A promise only where the name is one of toolherd's, and a server may have a tool of the same name. */
  target(params: JsonObject): CallTarget | Promise<CallTarget> {
    if (!isOwnName(params.name)) return this.#call(params);
    if (this.isSearch) return this.#own(params);
    if (this.#options.surface().mode !== 'auto' || this.#choice === 'all') return this.#call(params);
    return this.#undecided(params);
  }

  /** The client may have this name from a server, which it sees alone or by a short separator. */
  async #undecided(params: JsonObject): Promise<CallTarget> {
    if (await this.#isOfServer(params.name)) return this.#call(params);
    this.#search();
    return this.#own(params);
  }

  async #isOfServer(name: unknown): Promise<boolean> {
    const { fleet, server } = this.#options;
    const { tools } = await fleet.tools(server(), false, 'none');
    return tools.some((tool) => this.#nameOf(tool) === name);
  }

  #call(params: JsonObject): CallTarget {
    const { owner, surface } = this.#options;
    const limit = this.isSearch ? surface().resultLimit : 0;
    return { kind: 'call', params, cut: limit === 0 ? undefined : { limit, owner: owner() } };
  }

  /** Through `call_tool` a name of toolherd means the tool of a server. */
  async #calledOwn(called: JsonObject): Promise<CallTarget> {
    if (await this.#isOfServer(called.name)) return this.#call(called);
    return { kind: 'answer', answer: async () => notThroughCallTool(called.name) };
  }

  #own(params: JsonObject): CallTarget | Promise<CallTarget> {
    const { fleet, surface, server, owner } = this.#options;
    const { name } = params;
    if (name === 'call_tool') {
      const called = calledTool(params);
      if (isRefusal(called)) return { kind: 'answer', answer: async () => called };
      return isOwnName(called.name) ? this.#calledOwn(called) : this.#call(called);
    }
    const tool = name as Parameters<typeof answerOwn>[0];
    const own = { fleet, server: server(), surface: surface(), owner: owner() };
    return {
      kind: 'answer',
      answer: (signal) => untilCancelled(signal, answerOwn(tool, params.arguments, own)),
    };
  }

  /** `isOpen`: lists are missing, or the client has not listed yet. */
  #decide(isOpen: boolean): void {
    const { surface, fleet, server } = this.#options;
    const { mode, aboveTokens } = surface();
    if (mode !== 'auto' || this.#choice !== 'open') return;
    if (fleet.toolsTokens(server()) > aboveTokens) this.#search();
    else if (!isOpen) this.#choice = 'all';
  }

  #search(): void {
    this.#choice = 'search';
    this.#options.searching?.add(this.#key);
  }

  #ownList(always: readonly ToolEntry[], cursor: string | undefined): McpResult {
    this.#listed = 'search';
    this.#options.fleet.prepareSearch();
    const others = always.filter((tool) => !isOwnName(this.#nameOf(tool)));
    const definitions: JsonObject[] = [...OWN_TOOLS, ...others.map((tool) => this.#alwaysListed(tool))];
    const { items, ...rest } = pageOf(definitions, ({ name }) => String(name), cursor);
    return { tools: items, ...rest };
  }

  /** A cut result may have no structured content, which clients refuse of a tool that has an output schema. */
  #alwaysListed(tool: ToolEntry): JsonObject {
    const { outputSchema, ...definition } = toolDefinition(tool, this.#nameOf(tool));
    const mayBeCut = this.#options.surface().resultLimit > 0;
    return mayBeCut || outputSchema === undefined ? definition : { ...definition, outputSchema };
  }

  /** The server's own name where the client sees one server, else the public name. */
  readonly #nameOf = (tool: ToolEntry): string => shownName(this.#options.server(), tool);

  get #key(): string {
    return `${this.#options.owner()} ${this.#options.server() ?? ''}`;
  }
}

function isAlways(globs: readonly string[]): (tool: ToolEntry) => boolean {
  const isNamed = toolFilter(globs);
  return ({ server, name }) => isNamed(server, name);
}
