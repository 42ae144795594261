import type {
  MissingList,
  Patience,
  PromptList,
  ResourceLists,
  ServerStatus,
  ToolList,
} from '../../fleet/fleet.js';
import { isMissing, missingLists } from '../../fleet/missing-lists.js';
import { cancelled } from '../../link/calls/refusals.js';
import { withTimeout } from '../../shared/async.js';
import type { Clock } from '../../shared/clock.js';
import { promptEntry, resourceEntries, templateEntries, toolEntry } from '../catalog/entries.js';
import { type ListName, partsOf } from '../catalog/lists.js';
import { type PublicEntry, PublicNames, publicPrefix } from '../catalog/public-names.js';
import { checkConfigured, listsTooLate, searchTooLate } from '../errors.js';
import { reasonOf } from '../server/call-refusal.js';
import type { ConfiguredServer } from '../server/configured-server.js';
import type { ViewServers } from './view-servers.js';

type Named = 'tools' | 'prompts';

export interface ViewCatalogOptions {
  servers: ViewServers;
  clock: Clock;
  /** For how long a list of the whole herd waits for servers whose list is not known. */
  listWaitMs(): number;
  statusOf(servers: readonly ConfiguredServer[]): ServerStatus[];
}

/** For how long a request may take. */
export interface SearchLimits {
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** The lists of all servers of a view, and the server that a name belongs to. */
export class ViewCatalog {
  readonly #options: ViewCatalogOptions;
  readonly #servers: ViewServers;
  /** Worked out when it is needed: an agent calls by these names, and a herd may have thousands. */
  readonly #publicNamesByServer = new Map<Named, PublicNames>();

  constructor(options: ViewCatalogOptions) {
    this.#options = options;
    this.#servers = options.servers;
  }

  /** The lists of a server have changed, or the servers have. */
  changed(): void {
    this.#publicNamesByServer.clear();
  }

  async tools(name?: string, refresh?: boolean, patience?: Patience): Promise<ToolList> {
    const servers = await this.#read('tools', name, refresh, patience);
    return {
      tools: this.#publicEntries('tools', name).map(toolEntry),
      missing: this.missing('tools', servers),
    };
  }

  async prompts(name?: string, refresh?: boolean, patience?: Patience): Promise<PromptList> {
    const servers = await this.#read('prompts', name, refresh, patience);
    const prompts = this.#publicEntries('prompts', name).map(promptEntry);
    return { prompts, missing: this.missing('prompts', servers) };
  }

  async resources(name?: string, refresh?: boolean, patience?: Patience): Promise<ResourceLists> {
    const servers = await this.#read('resources', name, refresh, patience);
    return {
      resources: servers.flatMap(resourceEntries),
      templates: servers.flatMap(templateEntries),
      missing: this.missing('resources', servers),
    };
  }

  /** Which of these servers are not in a list, or not with what they have now. */
  missing(list: ListName, servers: readonly ConfiguredServer[] = this.#servers.servers): MissingList[] {
    const lists = partsOf(list);
    // looked at first: a status costs more than a look, and as a rule nothing is missing
    const isLacking = (server: ConfiguredServer) => {
      const states = lists.flatMap((key) => server.catalog.listStates().get(key) ?? []);
      if (states.every(({ freshness }) => freshness === 'fresh')) return false;
      const view = server.snapshot();
      return states.some((state) => isMissing(view, state));
    };
    // the config may have changed while they were waited for
    const lacking = servers.filter((server) => isLacking(server) && this.#servers.has(server));
    if (lacking.length === 0) return [];
    const now = this.#options.clock.now();
    return this.#options.statusOf(lacking).flatMap((status) => missingLists(status, now, lists));
  }

  /**
   * What the server itself calls it: its own names count first, then those of the herd. While its list is wanted and not
   * known, a name of the herd is taken for one that was not changed when it was exposed.
   */
  ownName(list: Named, { spec, catalog }: ConfiguredServer, name: string): string {
    const keys = catalog.keysOf(list);
    if (!looksPublic(spec.name, name) || keys?.has(name)) return name;
    const isUnread = keys === undefined && catalog.listStates().has(list);
    const guess = isUnread ? name.slice(publicPrefix(spec.name).length) : name;
    return this.#publicNames(list).ownName(spec.name, name) ?? guess;
  }

  /**
   * Whose it is, by its name in the herd. Where no server is known to have it, the one whose name it begins with may
   * have it by now; else the herd is searched.
   */
  findOwner(list: Named, publicName: string, limits: SearchLimits) {
    const look = () => this.#publicNames(list).ownerOf(publicName) ?? this.longestPrefix(publicName);
    return this.search(list, publicName, look, limits);
  }

  /**
   * What `look` finds in the lists of the herd, and what is left of the time of the request. Lists that are not known are
   * read first, for at most `daemon.list_wait`: what is known then decides, so that a server that hangs holds up no
   * request for another. `name`: what is searched, for the error.
   */
  async search<T>(
    list: ListName,
    name: string,
    look: () => T | undefined,
    limits: SearchLimits,
  ): Promise<{ found: T | undefined; timeoutMs: number | undefined }> {
    const { timeoutMs, signal } = limits;
    const known = look();
    if (known !== undefined) return { found: known, timeoutMs };
    const leftMs = await this.#wait(this.#read(list), limits);
    if (signal?.aborted) throw cancelled(name, false, reasonOf(signal) ?? 'before it began');
    if (leftMs !== undefined && leftMs <= 0) throw searchTooLate(list, name, timeoutMs!, this.missing(list));
    return { found: look(), timeoutMs: leftMs };
  }

  /** Whose it is and what that server calls it, where that is known; by its name in the herd. */
  holderOf(list: Named, publicName: string): { server: string; name: string } | undefined {
    const found = this.#publicNames(list).find(publicName);
    return found && { server: found.server.spec.name, name: found.name };
  }

  /** Every name in the herd that is known. */
  names(list: Named): string[] {
    return this.#publicNames(list).all.map(({ publicName }) => publicName);
  }

  /** The server whose name the public name begins with; it may have what is named, whatever its list says. */
  longestPrefix(publicName: string): string | undefined {
    const names = this.#servers.names.filter((name) => looksPublic(name, publicName));
    return names.sort((a, b) => b.length - a.length)[0];
  }

  /**
   * Whether the server should be asked what it has before it can be said who is meant: the name is not in a list that
   * may be outdated, or it is one of the herd's and nothing is known yet.
   */
  isUnsure(list: Named, server: ConfiguredServer, name: string): boolean {
    const { spec, catalog } = server;
    const isWanted = list === 'tools' ? spec.loadTools : spec.loadPrompts;
    if (!spec.enabled || !isWanted) return false;
    const mayBeExposed = looksPublic(spec.name, name);
    const keys = catalog.keysOf(list);
    if (keys === undefined) return mayBeExposed && catalog.missing([list]).length > 0;
    // whatever the server says, this one is hidden
    if (list === 'tools' && !mayBeExposed && !catalog.hasTool(name)) return false;
    return catalog.isDoubted(list) && !keys.has(this.ownName(list, server, name));
  }

  /**
   * Asks the server what it has. Resolves when that is known, or will not be, or the request is cancelled: with what is
   * left of its time.
   */
  async makeSure(server: ConfiguredServer, limits: SearchLimits): Promise<number | undefined> {
    const { timeoutMs } = limits;
    const reading = server.readLists({ refresh: true, withinMs: timeoutMs, purpose: 'use' });
    const leftMs = await this.#wait(reading, limits);
    if (leftMs !== undefined && leftMs <= 0) throw listsTooLate(server.spec.name, timeoutMs!);
    return leftMs;
  }

  /** Waits for a reading, but not longer than the request may take. Answers with what is left of its time. */
  async #wait(reading: Promise<unknown>, { timeoutMs, signal }: SearchLimits): Promise<number | undefined> {
    const { clock } = this.#options;
    const begun = clock.now();
    const bounded = timeoutMs === undefined ? reading : withTimeout(timeoutMs, reading, clock);
    if (signal === undefined) await bounded;
    else await Promise.race([bounded, aborted(signal, bounded)]);
    return timeoutMs === undefined ? undefined : timeoutMs - (clock.now() - begun);
  }

  #publicEntries(list: Named, name: string | undefined): PublicEntry[] {
    return this.#publicNames(list).all.filter(
      ({ server }) => name === undefined || server.spec.name === name,
    );
  }

  async #read(
    list: ListName,
    name?: string,
    refresh = false,
    patience: Patience = name !== undefined || refresh ? 'start_timeout' : 'list_wait',
  ): Promise<ConfiguredServer[]> {
    const asked = name === undefined ? this.#servers.servers : [this.#servers.find(name)];
    if (name !== undefined) for (const { spec } of asked) checkConfigured(spec);
    const { listWaitMs } = this.#options;
    const withinMs = { none: 0, list_wait: listWaitMs(), start_timeout: undefined }[patience];
    const purpose = name === undefined ? 'discovery' : 'use';
    await Promise.all(asked.map((server) => server.readLists({ refresh, list, withinMs, purpose })));
    return asked;
  }

  #publicNames(list: Named): PublicNames {
    const publicNames = this.#publicNamesByServer.get(list) ?? new PublicNames(list, this.#servers.servers);
    this.#publicNamesByServer.set(list, publicNames);
    return publicNames;
  }
}

/** Resolves with the abort; whatever comes first, nothing listens afterwards. */
function aborted(signal: AbortSignal, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const done = () => resolve();
    if (signal.aborted) done();
    signal.addEventListener('abort', done, { once: true });
    void work.finally(() => signal.removeEventListener('abort', done));
  });
}

/** Cheap, so that a call by its own name costs nothing more. */
function looksPublic(server: string, name: string): boolean {
  return name.startsWith(publicPrefix(server));
}
