import type { SearchParams, SearchResult, ToolMatch } from '../../fleet/fleet.js';
import { cosine, fuse, type ToolVectors, textOfTool, type Vector } from '../../search/meaning.js';
import { firstSentence, signature } from '../../search/signature.js';
import { type ToolDocument, toolDocument } from '../../search/tool-document.js';
import { type Ranked, ToolIndex } from '../../search/tool-index.js';
import { coalesce, nextTurn, serialize } from '../../shared/async.js';
import type { Clock } from '../../shared/clock.js';
import type { JsonObject } from '../../shared/json.js';
import type { Separator } from '../../shared/mcp/separators.js';
import type { ProfileLens } from '../catalog/profile-lens.js';
import type { PublicNames } from '../catalog/public-names.js';
import type { ConfiguredServer } from '../server/configured-server.js';
import { searchHints } from './search-hints.js';
import type { ViewCatalog } from './view-catalog.js';
import type { ViewServers } from './view-servers.js';

export interface ViewSearchOptions {
  servers: ViewServers;
  catalog: ViewCatalog;
  clock: Clock;
  /** How often a tool was called. `recall` resolves when the calls of earlier daemons are counted too. */
  calls: { recall(): Promise<void>; of(server: ConfiguredServer, tool: string): number };
  /** The profile of the view; undefined: it has all tools of its servers. */
  lens(): ProfileLens | undefined;
  /** Vectors of texts; undefined: words alone rank. */
  vectors(): ToolVectors | undefined;
  /** Takes secrets out of a text that leaves the machine. */
  redact(text: string, of?: ConfiguredServer): string;
}

/** What the index has of a server. */
interface Indexed {
  server: ConfiguredServer;
  tools: readonly JsonObject[];
  instructions: string | undefined;
  items: readonly IndexedTool[];
}

interface IndexedTool {
  server: ConfiguredServer;
  definition: JsonObject;
}

const NO_TOOLS: readonly JsonObject[] = [];
const DEFAULT_LIMIT = 10;
const MOST_FOUND = 100;
/** The index is brought up to date in slices, so that calls pass meanwhile. */
const SLICE_MS = 5;
/** The part of the tools that has to have vectors: else the few that have one would seem near. */
const LEAST_KNOWN = 0.9;
/** So many tools that words find are ranked by meaning too. */
const MOST_FUSED = 50;
/** Views share the words of a tool: to count them takes longer than all else. */
const documents = new WeakMap<JsonObject, { document: ToolDocument; instructions: string | undefined }>();

/** What is sent of a tool to get its vector. Where a profile changes a tool, the tool has another definition. */
const texts = new WeakMap<JsonObject, string>();

/**
 * Finds tools of a view by what they do. The index is made for the first agent that will search, or by the first search.
 * From then on it follows the lists in the background, and each search reads what is left: only servers with other lists
 * than before, also those whose lists are from the cache. Which tools may be found is decided with the answer, from the
 * present lists and pins.
 */
export class ViewSearch {
  readonly #options: ViewSearchOptions;
  readonly #index = new ToolIndex<IndexedTool>();
  readonly #indexed = new Map<string, Indexed>();
  readonly #inTurn = serialize();
  #state: 'unused' | 'used' = 'unused';
  readonly #follow = coalesce(async () => {
    // several lists may change in one turn
    await nextTurn();
    await this.#options.calls.recall();
    await this.#inTurn(() => this.#update());
  });

  constructor(options: ViewSearchOptions) {
    this.#options = options;
  }

  /** An agent will search: it need not wait until the index is made. */
  prepare(): void {
    this.#state = 'used';
    this.#follow();
  }

  /** Lists, servers or the profile have changed. */
  changed(): void {
    if (this.#state === 'used') this.#follow();
  }

  async search(
    { query, limit = DEFAULT_LIMIT, server }: SearchParams,
    separator?: Separator,
  ): Promise<SearchResult> {
    const { catalog, calls, redact } = this.#options;
    this.#state = 'used';
    const vectors = this.#options.vectors();
    const [asked, meant] = await Promise.all([
      catalog.read('tools', server),
      vectors?.ofQuery(redact(query)),
      calls.recall(),
    ]);
    return this.#inTurn(async () => {
      await this.#update();
      const meanings = vectors && (await this.#meanings(vectors, meant));
      const names = catalog.publicNames('tools', separator);
      const accept = (tool: IndexedTool) => isCallable(tool, names);
      const most = Math.min(limit, MOST_FOUND);
      const byWords = this.#index.search(query, {
        limit: meant === undefined ? most : Math.max(most, MOST_FUSED),
        group: server,
        accept,
        callsOf: (tool) => calls.of(tool.server, String(tool.definition.name)),
      });
      const isAsked = ({ item }: Ranked<IndexedTool>) =>
        (server === undefined || item.server.spec.name === server) && accept(item);
      const matches = meanings === undefined ? byWords : fuse(byWords, meanings.filter(isAsked), most);
      return {
        tools: matches.map(({ item, score }) => toolMatch(item, score, names)),
        missing: catalog.missing('tools', asked),
        hints: matches.length > 0 ? [] : searchHints(query, asked, names, this.#options.lens()),
      };
    });
  }

  async #update(): Promise<void> {
    const { servers: viewServers, clock } = this.#options;
    const lens = this.#options.lens();
    const { servers } = viewServers;
    const present = new Map(servers.map((server) => [server.spec.name, server]));
    for (const name of [...this.#indexed.keys()]) if (!present.has(name)) this.#remove(name);
    let begunAt = clock.now();
    for (const [name, server] of present) {
      const listed = server.catalog.knownLists().tools ?? NO_TOOLS;
      const tools = lens?.tools(name, listed) ?? listed;
      const known = this.#indexed.get(name);
      const instructions = server.catalog.instructions();
      if (known?.server === server && known.tools === tools && known.instructions === instructions) continue;
      this.#remove(name);
      if (tools.length === 0) continue;
      const items = tools.map((definition) => ({ server, definition }));
      for (const item of items) {
        const { definition } = item;
        const renamed = lens?.publicNameOf(name, String(definition.name));
        this.#index.add(name, item, documentOf(name, definition, instructions, renamed));
        if (clock.now() - begunAt < SLICE_MS) continue;
        await nextTurn();
        begunAt = clock.now();
      }
      this.#indexed.set(name, { server, tools, instructions, items });
    }
  }

  /**
   * How near each tool is to the query, as far as its vector is known; undefined: too little is known to compare them. It
   * also leads to the vectors of the tools that have none yet. Texts of tools that cannot be found are not sent.
   */
  async #meanings(
    vectors: ToolVectors,
    meant: Vector | undefined,
  ): Promise<Ranked<IndexedTool>[] | undefined> {
    const { clock, catalog } = this.#options;
    const names = catalog.publicNames('tools');
    const found: Ranked<IndexedTool>[] = [];
    let count = 0;
    let begunAt = clock.now();
    for (const { items } of this.#indexed.values()) {
      for (const item of items) {
        if (!isCallable(item, names)) continue;
        count += 1;
        const vector = vectors.of(this.#textOf(item));
        if (vector !== undefined && meant !== undefined) found.push({ item, score: cosine(meant, vector) });
        if (clock.now() - begunAt < SLICE_MS) continue;
        await nextTurn();
        begunAt = clock.now();
      }
    }
    return found.length === 0 || found.length < LEAST_KNOWN * count ? undefined : found;
  }

  #textOf({ server, definition }: IndexedTool): string {
    const known = texts.get(definition);
    if (known !== undefined) return known;
    const { name } = server.spec;
    const renamed = this.#options.lens()?.publicNameOf(name, String(definition.name));
    const named = renamed === undefined ? definition : { ...definition, name: renamed };
    const text = this.#options.redact(textOfTool(name, named), server);
    texts.set(definition, text);
    return text;
  }

  #remove(name: string): void {
    this.#index.remove(name);
    this.#indexed.delete(name);
  }
}

/** A tool that a profile renames has its own definition there, and is found by its new name. */
function documentOf(
  server: string,
  definition: JsonObject,
  instructions: string | undefined,
  renamed: string | undefined,
): ToolDocument {
  const known = documents.get(definition);
  if (known !== undefined && known.instructions === instructions) return known.document;
  const named = renamed === undefined ? definition : { ...definition, name: renamed };
  const document = toolDocument({ server, definition: named, instructions });
  documents.set(definition, { document, instructions });
  return document;
}

/** The config does not hide it, and no pin blocks it. */
function isCallable(tool: IndexedTool, names: PublicNames): boolean {
  const { server, definition } = tool;
  const isBlocked = server.catalog.blockOf(String(definition.name)) !== undefined;
  return !isBlocked && publicEntry(tool, names) !== undefined;
}

function publicEntry({ server, definition }: IndexedTool, names: PublicNames) {
  return names.of(server, String(definition.name));
}

function toolMatch(tool: IndexedTool, score: number, names: PublicNames): ToolMatch {
  const { server, definition } = tool;
  const { name, description } = definition;
  const { publicName, alias } = publicEntry(tool, names)!;
  return {
    server: server.spec.name,
    name: String(name),
    exposed_name: publicName,
    signature: signature(alias === undefined ? definition : { ...definition, name: alias }),
    description: firstSentence(typeof description === 'string' ? description : ''),
    score: Math.round(score * 1000) / 1000,
  };
}
