import type { NamedList } from '../../fleet/fleet.js';
import { cancelled } from '../../link/calls/refusals.js';
import { abortReason, onAbort, withTimeout } from '../../shared/async.js';
import type { MCPError } from '../../shared/call-errors.js';
import type { Clock } from '../../shared/clock.js';
import { DEFAULT_SEPARATOR, type NameForm, type Separator } from '../../shared/mcp/separators.js';
import type { ListName } from '../catalog/lists.js';
import type { ProfileLens } from '../catalog/profile-lens.js';
import { type PublicEntry, publicPrefix } from '../catalog/public-names.js';
import { listsTooLate, noServerHas, searchTooLate } from '../errors.js';
import type { ConfiguredServer } from '../server/configured-server.js';
import type { ViewCatalog } from '../view/view-catalog.js';
import type { ViewServers } from '../view/view-servers.js';

/** The servers and lists that are searched. */
export interface SearchedView {
  servers: ViewServers;
  catalog: ViewCatalog;
  clock: Clock;
  /** The profile of the view; undefined: it has all tools of its servers. */
  lens(): ProfileLens | undefined;
}

/** For how long a request may take. */
export interface SearchLimits {
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

export interface SearchedCall {
  server?: string | undefined;
  timeoutMs?: number | undefined;
  /** In the names that the caller lists. Absent: that of the config. */
  separator?: Separator | undefined;
}

/** The request whose server is searched. */
export interface SearchedRequest {
  /** Set when the search knows it: a refused request is recorded under its name. */
  server: ConfiguredServer | undefined;
  /** Aborts when the request is cancelled. Absent where the caller gave none and nothing was awaited yet. */
  readonly signal: AbortSignal | undefined;
  /** Called only where something has to be awaited. */
  limits(timeoutMs: number | undefined): SearchLimits;
}

/**
 * One search for the server that has a tool or a prompt, and for that server's own name of it. A named server gets own
 * names and public names. Without one, the name is public: it belongs to the server that lists it, else to the server
 * whose prefix it has. Where neither is known, the unknown lists of the herd are read first.
 */
export class NameSearch {
  /** The result: set when `run` has returned, or its promise has resolved. */
  server!: ConfiguredServer;
  /** What the search left of the request's time. */
  timeoutMs: number | undefined;
  readonly #view: SearchedView;
  readonly #list: NamedList;
  readonly #name: string;
  /** Where the caller named no server, names are public names only. */
  readonly #isPublic: boolean;
  readonly #request: SearchedRequest;
  /** How the caller may have written a public name. */
  readonly #forms: readonly NameForm[];
  /** Of the caller. */
  readonly #separator: Separator | undefined;
  /** The own name, where a list of public names has it. */
  #listedName: string | undefined;

  constructor(
    view: SearchedView,
    list: NamedList,
    name: string,
    call: SearchedCall,
    request: SearchedRequest,
  ) {
    this.#view = view;
    this.#list = list;
    this.#name = name;
    this.#isPublic = call.server === undefined;
    this.#separator = call.separator;
    this.#forms = view.catalog.formsOf(name, call.separator);
    this.#request = request;
    this.timeoutMs = call.timeoutMs;
    if (call.server !== undefined) this.server = view.servers.find(call.server);
  }

  /** Answers at once where the known lists suffice. Throws, or rejects with, the reason why no server has it. */
  run(): this | Promise<this> {
    this.#useRename();
    if (this.#listedName !== undefined) return this.#checkList();
    if (this.#isPublic && !this.#findOwner()) return this.#searchHerd();
    return this.#checkList();
  }

  /** A name that the profile gives needs no list: the profile names the server and the tool. */
  #useRename(): void {
    if (this.#list !== 'tools') return;
    const { servers, lens } = this.#view;
    const found = lens()?.renamed(this.#name, servers.names);
    if (found === undefined || (!this.#isPublic && found.server !== this.server.spec.name)) return;
    this.server = servers.find(found.server);
    this.#listedName = found.tool;
  }

  /** Own names win over public names. While the list is unknown, the prefix of a public name is cut off. */
  get ownName(): string {
    if (this.#listedName !== undefined) return this.#listedName;
    const name = this.#name;
    const { spec, catalog } = this.server;
    const keys = catalog.keysOf(this.#list);
    // most calls: no prefix has to be made
    if (keys?.has(name)) return name;
    const form = this.#formOf(spec.name);
    if (form === undefined) return name;
    const listed = this.#listedBy(spec.name);
    if (listed !== undefined) return listed.name;
    const isUnread = keys === undefined && catalog.listStates().has(this.#list);
    // own names such as `git_status` of `git` are common, so only `__` shows that a name is public
    const isGuessed = isUnread && (this.#isPublic || form === DEFAULT_SEPARATOR || form === 'dotted');
    return isGuessed ? name.slice(publicPrefix(spec.name, form).length) : name;
  }

  /** No server has this public name. The error names similar ones, and servers whose lists are not known. */
  unknown(): MCPError {
    const { catalog } = this.#view;
    const known = catalog.publicNames(this.#list, this.#separator).all.map(({ publicName }) => publicName);
    return noServerHas(this.#list, this.#name, known, catalog.missing(this.#list));
  }

  /**
   * The server that lists the public name, else the one with the longest prefix. False where there is neither. A prefix in
   * one form counts more than a list in the next: while a list is unknown, the name must not lead to another server.
   */
  #findOwner(): boolean {
    const { servers, catalog } = this.#view;
    for (const form of this.#forms) {
      const listed = catalog.publicNames(this.#list, form).find(this.#name);
      const owner = listed?.server.spec.name ?? this.#longestPrefix(form);
      if (owner === undefined) continue;
      this.server = servers.find(owner);
      this.#listedName = listed?.name;
      return true;
    }
    return false;
  }

  #longestPrefix(form: NameForm): string | undefined {
    const names = this.#view.servers.names.filter((server) => this.#hasPrefixOf(server, form));
    return names.sort((a, b) => b.length - a.length)[0];
  }

  /** The entry of this server with the public name. */
  #listedBy(server: string): PublicEntry | undefined {
    for (const form of this.#forms) {
      const found = this.#view.catalog.publicNames(this.#list, form).find(this.#name);
      if (found?.server.spec.name === server) return found;
    }
    return undefined;
  }

  /** The form in which the name may be a public name of this server. */
  #formOf(server: string): NameForm | undefined {
    return this.#forms.find((form) => this.#hasPrefixOf(server, form));
  }

  #hasPrefixOf(server: string, form: NameForm): boolean {
    return this.#name.startsWith(publicPrefix(server, form));
  }

  async #searchHerd(): Promise<this> {
    const limits = this.#request.limits(this.timeoutMs);
    this.timeoutMs = await readUnknownLists(this.#view, this.#list, this.#name, limits);
    if (!this.#findOwner()) throw this.unknown();
    return this.#checkList();
  }

  /** The server is asked for its lists first where the known list may be outdated and does not have the name. */
  #checkList(): this | Promise<this> {
    this.#request.server = this.server;
    const isSure = this.#listedName !== undefined || this.#request.signal?.aborted === true;
    return isSure || !this.#mayBeOutdated() ? this : this.#readList();
  }

  #mayBeOutdated(): boolean {
    const { spec, catalog } = this.server;
    const list = this.#list;
    const isWanted = list === 'tools' ? spec.loadTools : spec.loadPrompts;
    if (!spec.enabled || !isWanted) return false;
    const keys = catalog.keysOf(list);
    // most calls: no prefix has to be made
    if (keys?.has(this.#name)) return false;
    const mayBePublic = this.#formOf(spec.name) !== undefined;
    if (keys === undefined) return mayBePublic && catalog.missing([list]).length > 0;
    // the config hides this tool, so the server need not be asked
    if (list === 'tools' && !mayBePublic && !catalog.hasTool(this.#name)) return false;
    return catalog.isDoubted(list) && !keys.has(this.ownName);
  }

  async #readList(): Promise<this> {
    const { timeoutMs } = this;
    const { name } = this.server.spec;
    const limits = this.#request.limits(timeoutMs);
    const reading = this.server.readLists({ refresh: true, withinMs: timeoutMs, purpose: 'use' });
    this.timeoutMs = await timeLeft(reading, limits, this.#view.clock);
    if (this.timeoutMs !== undefined && this.timeoutMs <= 0) throw listsTooLate(name, timeoutMs!);
    // looked up again: a reload may have replaced the server meanwhile
    this.server = this.#view.servers.find(name);
    this.#request.server = this.server;
    if (this.#isPublic) this.#listedName = this.#listedBy(name)?.name;
    return this;
  }
}

/**
 * Reads the lists of the herd that are not known, for at most `daemon.list_wait`: a server that hangs delays no request
 * for another. Resolves with what is left of the request's time. `name`: what is searched, for the error.
 */
export async function readUnknownLists(
  { catalog, clock }: SearchedView,
  list: ListName,
  name: string,
  limits: SearchLimits,
): Promise<number | undefined> {
  const { timeoutMs, signal } = limits;
  const leftMs = await timeLeft(catalog.read(list), limits, clock);
  if (signal?.aborted) throw cancelled(name, false, abortReason(signal) ?? 'before it began');
  if (leftMs !== undefined && leftMs <= 0) throw searchTooLate(list, name, timeoutMs!, catalog.missing(list));
  return leftMs;
}

/** Waits for a reading, until the request is cancelled or its time is over. Resolves with what is left of that time. */
async function timeLeft(
  reading: Promise<unknown>,
  { timeoutMs, signal }: SearchLimits,
  clock: Clock,
): Promise<number | undefined> {
  const begun = clock.now();
  const bounded = timeoutMs === undefined ? reading : withTimeout(timeoutMs, reading, clock);
  await new Promise((resolve, reject) => {
    const stopListening = onAbort(signal, () => resolve(undefined));
    bounded.then(resolve, reject).finally(() => stopListening());
  });
  return timeoutMs === undefined ? undefined : timeoutMs - (clock.now() - begun);
}
