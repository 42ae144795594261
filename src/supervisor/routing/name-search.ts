import type { NamedList } from '../../fleet/fleet.js';
import { cancelled } from '../../link/calls/refusals.js';
import { abortReason, onAbort, withTimeout } from '../../shared/async.js';
import type { MCPError } from '../../shared/call-errors.js';
import type { Clock } from '../../shared/clock.js';
import type { ListName } from '../catalog/lists.js';
import { publicPrefix } from '../catalog/public-names.js';
import { listsTooLate, noServerHas, searchTooLate } from '../errors.js';
import type { ConfiguredServer } from '../server/configured-server.js';
import type { ViewCatalog } from '../view/view-catalog.js';
import type { ViewServers } from '../view/view-servers.js';

/** The servers and lists that are searched. */
export interface SearchedView {
  servers: ViewServers;
  catalog: ViewCatalog;
  clock: Clock;
}

/** For how long a request may take. */
export interface SearchLimits {
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
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
  /** The own name, where a list of public names has it. */
  #listedName: string | undefined;

  constructor(
    view: SearchedView,
    list: NamedList,
    name: string,
    call: { server?: string | undefined; timeoutMs?: number | undefined },
    request: SearchedRequest,
  ) {
    this.#view = view;
    this.#list = list;
    this.#name = name;
    this.#isPublic = call.server === undefined;
    this.#request = request;
    this.timeoutMs = call.timeoutMs;
    if (call.server !== undefined) this.server = view.servers.find(call.server);
  }

  /** Answers at once where the known lists suffice. Throws, or rejects with, the reason why no server has it. */
  run(): this | Promise<this> {
    if (this.#isPublic && !this.#findOwner()) return this.#searchHerd();
    return this.#checkList();
  }

  /** Own names win over public names. While the list is unknown, the prefix of a public name is cut off. */
  get ownName(): string {
    if (this.#listedName !== undefined) return this.#listedName;
    const name = this.#name;
    const { spec, catalog } = this.server;
    const keys = catalog.keysOf(this.#list);
    if (!hasPrefixOf(spec.name, name) || keys?.has(name)) return name;
    const isUnread = keys === undefined && catalog.listStates().has(this.#list);
    const guess = isUnread ? name.slice(publicPrefix(spec.name).length) : name;
    return this.#view.catalog.publicNames(this.#list).ownName(spec.name, name) ?? guess;
  }

  /** No server has this public name. The error names similar ones, and servers whose lists are not known. */
  unknown(): MCPError {
    const { catalog } = this.#view;
    const known = catalog.publicNames(this.#list).all.map(({ publicName }) => publicName);
    return noServerHas(this.#list, this.#name, known, catalog.missing(this.#list));
  }

  /** The server that lists the public name, else the one with the longest prefix. False where there is neither. */
  #findOwner(): boolean {
    const { servers, catalog } = this.#view;
    const listed = catalog.publicNames(this.#list).find(this.#name);
    const owner = listed?.server.spec.name ?? this.#longestPrefix();
    if (owner === undefined) return false;
    this.server = servers.find(owner);
    this.#listedName = listed?.name;
    return true;
  }

  #longestPrefix(): string | undefined {
    const names = this.#view.servers.names.filter((server) => hasPrefixOf(server, this.#name));
    return names.sort((a, b) => b.length - a.length)[0];
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
    const mayBePublic = hasPrefixOf(spec.name, this.#name);
    const keys = catalog.keysOf(list);
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
    if (this.#isPublic) {
      const listed = this.#view.catalog.publicNames(this.#list).find(this.#name);
      if (listed?.server.spec.name === name) this.#listedName = listed.name;
    }
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

function hasPrefixOf(server: string, name: string): boolean {
  return name.startsWith(publicPrefix(server));
}
