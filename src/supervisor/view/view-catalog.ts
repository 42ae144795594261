import type {
  MissingList,
  NamedList,
  Patience,
  PromptList,
  ResourceLists,
  ServerStatus,
  ToolList,
} from '../../fleet/fleet.js';
import { isMissing, missingLists } from '../../fleet/missing-lists.js';
import type { Clock } from '../../shared/clock.js';
import { promptEntry, resourceEntries, templateEntries, toolEntry } from '../catalog/entries.js';
import { type ListName, partsOf } from '../catalog/lists.js';
import { type PublicEntry, PublicNames } from '../catalog/public-names.js';
import { checkConfigured } from '../errors.js';
import type { ConfiguredServer } from '../server/configured-server.js';
import type { ViewServers } from './view-servers.js';

export interface ViewCatalogOptions {
  servers: ViewServers;
  clock: Clock;
  /** For how long a list of the whole herd waits for servers whose list is not known. */
  listWaitMs(): number;
  statusOf(servers: readonly ConfiguredServer[]): ServerStatus[];
}

/** The lists of all servers of a view, under their public names. */
export class ViewCatalog {
  readonly #options: ViewCatalogOptions;
  readonly #servers: ViewServers;
  /** Computed at the first use after a change: a herd may have thousands of names. */
  readonly #publicNames = new Map<NamedList, PublicNames>();

  constructor(options: ViewCatalogOptions) {
    this.#options = options;
    this.#servers = options.servers;
  }

  /** The lists of a server have changed, or the servers have. */
  changed(): void {
    this.#publicNames.clear();
  }

  async tools(name?: string, refresh?: boolean, patience?: Patience): Promise<ToolList> {
    const servers = await this.read('tools', name, refresh, patience);
    return {
      tools: this.#publicEntries('tools', name).map(toolEntry),
      missing: this.missing('tools', servers),
    };
  }

  async prompts(name?: string, refresh?: boolean, patience?: Patience): Promise<PromptList> {
    const servers = await this.read('prompts', name, refresh, patience);
    const prompts = this.#publicEntries('prompts', name).map(promptEntry);
    return { prompts, missing: this.missing('prompts', servers) };
  }

  async resources(name?: string, refresh?: boolean, patience?: Patience): Promise<ResourceLists> {
    const servers = await this.read('resources', name, refresh, patience);
    return {
      resources: servers.flatMap(resourceEntries),
      templates: servers.flatMap(templateEntries),
      missing: this.missing('resources', servers),
    };
  }

  /** Which of these servers are not in a list, or not with what they have now. */
  missing(list: ListName, servers: readonly ConfiguredServer[] = this.#servers.servers): MissingList[] {
    const lists = partsOf(list);
    // a status costs more than this check, and as a rule nothing is missing
    const isLacking = (server: ConfiguredServer) => {
      const states = lists.flatMap((key) => server.catalog.listStates().get(key) ?? []);
      if (states.every(({ freshness }) => freshness === 'fresh')) return false;
      const snapshot = server.snapshot();
      return states.some((state) => isMissing(snapshot, state));
    };
    // the config may have changed while they were waited for
    const lacking = servers.filter((server) => isLacking(server) && this.#servers.has(server));
    if (lacking.length === 0) return [];
    const now = this.#options.clock.now();
    return this.#options.statusOf(lacking).flatMap((status) => missingLists(status, now, lists));
  }

  /** All entries of a list under their public names. */
  publicNames(list: NamedList): PublicNames {
    const publicNames = this.#publicNames.get(list) ?? new PublicNames(list, this.#servers.servers);
    this.#publicNames.set(list, publicNames);
    return publicNames;
  }

  /** Has the lists read that are not known. `refresh`: all of them. Resolves with the servers that were asked. */
  async read(
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

  #publicEntries(list: NamedList, name: string | undefined): PublicEntry[] {
    return this.publicNames(list).all.filter(({ server }) => name === undefined || server.spec.name === name);
  }
}
