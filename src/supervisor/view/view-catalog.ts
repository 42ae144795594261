import type {
  MissingList,
  NamedList,
  Patience,
  ProfileReport,
  PromptList,
  ResourceLists,
  ServerStatus,
  ToolList,
} from '../../fleet/fleet.js';
import { isMissing, missingLists } from '../../fleet/missing-lists.js';
import type { Clock } from '../../shared/clock.js';
import { type Profile, toolFilter } from '../../shared/mcp/profile.js';
import { DEFAULT_SEPARATOR, type NameForm, type Separator } from '../../shared/mcp/separators.js';
import type { Surface } from '../../shared/mcp/surface.js';
import { promptEntry, resourceEntries, templateEntries, toolEntry } from '../catalog/entries.js';
import { type ListName, partsOf } from '../catalog/lists.js';
import type { ProfileLens } from '../catalog/profile-lens.js';
import { type PublicEntry, PublicNames, toPublicName } from '../catalog/public-names.js';
import { tokensOfTools } from '../catalog/tools-tokens.js';
import { checkConfigured } from '../errors.js';
import type { ConfiguredServer } from '../server/configured-server.js';
import type { ViewServers } from './view-servers.js';

export interface ViewCatalogOptions {
  servers: ViewServers;
  clock: Clock;
  /** For how long a list of the whole herd waits for servers whose list is not known. */
  listWaitMs(): number;
  /** Of public names, for callers that chose none. */
  separator(): Separator;
  statusOf(servers: readonly ConfiguredServer[]): ServerStatus[];
  /** The profile of the view; undefined: it has all tools of its servers. */
  lens(): ProfileLens | undefined;
  /** Reports a problem of the whole herd. */
  warn(text: string): void;
}

const EARLIER_FORMS: readonly NameForm[] = [DEFAULT_SEPARATOR, 'dotted'];

/** The lists of all servers of a view, under their public names. */
export class ViewCatalog {
  readonly #options: ViewCatalogOptions;
  readonly #servers: ViewServers;
  /** Computed at the first use after a change: a herd may have thousands of names. */
  readonly #publicNames: Record<NamedList, Map<NameForm, PublicNames>> = {
    tools: new Map(),
    prompts: new Map(),
  };
  /** Renames that take the name of another tool, as they were logged. */
  readonly #logged = new Set<string>();
  /** By the separator of the caller. */
  readonly #forms = new Map<Separator | undefined, readonly NameForm[]>();

  constructor(options: ViewCatalogOptions) {
    this.#options = options;
    this.#servers = options.servers;
  }

  /** The lists of a server have changed, or the servers, or the separator. */
  changed(): void {
    for (const names of Object.values(this.#publicNames)) names.clear();
    this.#forms.clear();
  }

  async tools(
    name?: string,
    refresh?: boolean,
    patience?: Patience,
    separator?: Separator,
  ): Promise<ToolList> {
    const servers = await this.read('tools', name, refresh, patience);
    return {
      tools: this.#publicEntries('tools', name, separator).map(toolEntry),
      missing: this.missing('tools', servers),
    };
  }

  async prompts(
    name?: string,
    refresh?: boolean,
    patience?: Patience,
    separator?: Separator,
  ): Promise<PromptList> {
    const servers = await this.read('prompts', name, refresh, patience);
    const prompts = this.#publicEntries('prompts', name, separator).map(promptEntry);
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
  publicNames(list: NamedList, form: NameForm = this.#options.separator()): PublicNames {
    const known = this.#publicNames[list];
    const before = known.get(form);
    if (before !== undefined) return before;
    const lens = this.#options.lens();
    const publicNames = new PublicNames(list, this.#servers.servers, form, lens);
    known.set(form, publicNames);
    if (lens !== undefined) this.#logTakenNames(lens, publicNames, form);
    return publicNames;
  }

  /**
   * The forms in which a caller may have written a public name, the likeliest first: its own, that of the config, and
   * those of earlier lists. A name with `__` has no other form than these.
   */
  formsOf(publicName: string, separator: Separator | undefined): readonly NameForm[] {
    if (publicName.includes(DEFAULT_SEPARATOR)) return EARLIER_FORMS;
    const configured = this.#options.separator();
    const forms = this.#forms.get(separator) ?? [
      ...new Set<NameForm>([separator ?? configured, configured, ...EARLIER_FORMS]),
    ];
    this.#forms.set(separator, forms);
    return forms;
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

  /** What this view offers, which is that of the profile. `configured`: `daemon.surface`. */
  async profileReport(profile: Profile, configured: Surface): Promise<ProfileReport> {
    const { name, description = null, file, tools: globs, rename, describe, defaults, surface } = profile;
    const servers = await this.read('tools');
    const { all } = this.publicNames('tools');
    const hasTool = (isMeant: ReturnType<typeof toolFilter>) =>
      all.some((entry) => isMeant(entry.server.spec.name, entry.name));
    const keyed = [rename, describe, defaults].flatMap((map) => Object.keys(map));
    const patterns = [...globs, ...keyed, ...(surface.always ?? [])];
    const tokens = tokensOfTools(all);
    return {
      ...{ name, description, file },
      servers: this.#servers.names,
      tools: all.map(({ publicName }) => publicName),
      renamed: { ...rename },
      tokens,
      surface: surfaceReport({ ...configured, ...surface }, tokens),
      unmatched: [...new Set(patterns)].filter((pattern) => !hasTool(toolFilter([pattern]))),
      missing: this.missing('tools', servers),
    };
  }

  /** A tool that appears later may have a name that the profile gives to another one. */
  #logTakenNames({ name: profile }: ProfileLens, { all, find }: PublicNames, form: NameForm): void {
    for (const { server, name, publicName } of all) {
      const wanted = toPublicName(server.spec.name, name, form);
      const winner = wanted === publicName ? undefined : find(wanted);
      if (winner?.alias !== wanted) continue;
      const text = `profile '${profile}': '${wanted}' is ${winner.server.spec.name}.${winner.name}, which it renames; ${server.spec.name}.${name} is called '${publicName}'`;
      if (!this.#logged.has(text)) this.#options.warn(text);
      this.#logged.add(text);
    }
  }

  #publicEntries(list: NamedList, name: string | undefined, separator: Separator | undefined): PublicEntry[] {
    const { all } = this.publicNames(list, separator);
    return all.filter(({ server }) => name === undefined || server.spec.name === name);
  }
}

function surfaceReport({ mode, aboveTokens, always }: Surface, tokens: number): ProfileReport['surface'] {
  const decided = tokens > aboveTokens ? 'search' : 'all';
  return { mode, above_tokens: aboveTokens, always: [...always], lists: mode === 'auto' ? decided : mode };
}
