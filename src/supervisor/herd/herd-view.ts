import type { ServerSpec } from '../../config/fields/spec.js';
import type {
  FleetHistory,
  HistoryParams,
  Inspection,
  InstructionsParams,
  LevelFor,
  PinParams,
  PinReport,
  ProfileReport,
  ReloadReport,
  Selection,
  ServerStatus,
} from '../../fleet/fleet.js';
import type { Profile } from '../../shared/mcp/profile.js';
import type { Surface } from '../../shared/mcp/surface.js';
import type { CatalogChange } from '../catalog/catalog-change.js';
import type { Lists } from '../catalog/lists.js';
import { ProfileLens } from '../catalog/profile-lens.js';
import { tokensOfTools } from '../catalog/tools-tokens.js';
import { beyondProfile, unknownProfile } from '../errors.js';
import { EventBus } from '../events/event-bus.js';
import { CallRouter, type CallRouterOptions } from '../routing/call-router.js';
import { McpRequests } from '../routing/mcp-requests.js';
import { ResourceWatches } from '../routing/resource-watches.js';
import { TargetResolver } from '../routing/target-resolver.js';
import { ToolCalls } from '../routing/tool-calls.js';
import type { ConfiguredServer } from '../server/configured-server.js';
import type { Holder } from '../server/server-pool.js';
import { ViewCatalog } from '../view/view-catalog.js';
import { viewInstructions } from '../view/view-instructions.js';
import { ViewSearch } from '../view/view-search.js';
import { ViewServers } from '../view/view-servers.js';
import { CatalogEvents } from './catalog-events.js';
import type { HerdCore, ViewSubscriber, VisibleServer } from './herd-core.js';
import { agentsOf, ViewOrders } from './view-orders.js';

export interface ViewOptions {
  /** No other view has this one. */
  id: string;
  /** The agent of this view, shown with the servers that only it has. Null: shared. */
  agent: string | null;
  /** In the view of one agent, `per-agent` and `per-folder` servers run; in another view they are placeholders. */
  isOneAgent: boolean;
  /** Where its agent works, for `per-folder` servers. Undefined: not known. */
  folder?: string | undefined;
  /** It is the view of the whole herd: its status also shows what other views have at rest. */
  isGlobal?: boolean;
  /** The profile of the view; undefined: it has everything of its origin. */
  lens?: ProfileLens | undefined;
}

/** What a view had before it released servers, and what changes. */
interface Released {
  before: ReadonlyMap<string, Lists>;
  report: ReloadReport;
}

/** The herd as one agent, or all agents, see it: servers in the order of the config, their lists, and requests to them. */
export class HerdView implements ViewSubscriber, Holder {
  readonly id: string;
  readonly isOneAgent: boolean;
  readonly folder: string | undefined;
  readonly events: EventBus;
  /** Its lists, under their public names. */
  readonly catalog: ViewCatalog;
  /** Finds tools by what they do. */
  readonly search: ViewSearch;
  /** Any request of MCP, as it came or as the command asks it. */
  readonly requests: McpRequests;
  /** Tool calls, one or many. */
  readonly calls: ToolCalls;
  /** What its servers say of their use. */
  readonly instructions: (params: InstructionsParams) => string | undefined;
  /** Subscriptions to resources. */
  readonly watches: ResourceWatches;
  readonly #core: HerdCore;
  readonly #options: ViewOptions;
  readonly #servers: ViewServers;
  readonly #orders: ViewOrders;
  readonly #catalogEvents: CatalogEvents;
  /** Views with the same config: of single agents, each with its own `per-agent` servers, and of profiles. */
  readonly #forks = new Set<HerdView>();
  #origin: HerdView | undefined;
  #hasPerAgent = false;
  #lens: ProfileLens | undefined;
  #profiles: ReadonlyMap<string, Profile> = new Map();
  /** The view of each profile that a connection has chosen. */
  readonly #narrowed = new Map<string, HerdView>();

  constructor(core: HerdCore, options: ViewOptions) {
    this.#core = core;
    this.#options = options;
    this.id = options.id;
    this.isOneAgent = options.isOneAgent;
    this.folder = options.folder;
    this.#lens = options.lens;
    const lens = () => this.#lens;
    const { clock } = core;
    this.events = new EventBus(
      (server, error) => core.log(server, `a listener failed: ${String(error)}`),
      (levelFor) => this.#renewLogLevels(levelFor),
    );
    const begins = (spec: ServerSpec) => spec.sharing === 'shared' || options.isOneAgent;
    const agentsWith = (name: string) => (lens() === undefined ? agentsOf(core.others(this, name)) : []);
    this.#servers = new ViewServers({ pool: core.pool, holder: this, begins, agentsWith });
    this.#orders = new ViewOrders({
      core,
      view: this,
      servers: this.#servers,
      isGlobal: options.isGlobal === true,
      lens,
    });
    this.#catalogEvents = new CatalogEvents({
      servers: this.#servers,
      events: this.events,
      isPlaceholder: (server) => this.#isPlaceholder(server),
      lens,
      now: () => core.now(),
    });
    this.catalog = new ViewCatalog({
      servers: this.#servers,
      clock,
      listWaitMs: () => core.listWaitMs(),
      separator: () => core.separator(),
      statusOf: (servers) => core.status(servers.map((server) => this.#visibleOf(server))),
      lens,
      warn: (text) => core.warn(text),
    });
    const redact = <T>(value: T, of?: ConfiguredServer): T =>
      of === undefined ? core.redact(value) : core.redactFor(of.spec, value);
    this.search = new ViewSearch({
      servers: this.#servers,
      catalog: this.catalog,
      clock,
      calls: {
        recall: () => core.callCounts.recall(),
        of: ({ key, spec }, tool) => core.callCounts.of(key, spec.name, tool),
      },
      lens,
      vectors: () => core.vectors(),
      redact,
    });
    const parts = { servers: this.#servers, catalog: this.catalog, redact };
    const resolver = new TargetResolver({ ...parts, clock, lens });
    const refused: CallRouterOptions['refused'] = (server, call) =>
      core.called(server, this.#servers.get(server)?.key, call);
    const warn = (text: string) => core.warn(text);
    const router = new CallRouter({
      resolver,
      clock,
      redact,
      keepText: (text, owner) => core.keepText(text, owner),
      refused,
      warn,
    });
    const note = ({ key }: ConfiguredServer, text: string) => core.messageTap.note(key, text);
    const newRequestId = () => core.newRequestId();
    this.instructions = (params) => viewInstructions(this.#servers.servers, params, redact);
    this.requests = new McpRequests(router);
    this.calls = new ToolCalls({ ...parts, router, clock, note, newRequestId });
    this.watches = new ResourceWatches({ ...parts, resolver, warn });
    core.join(this);
  }

  has(server: ConfiguredServer): boolean {
    return this.#servers.has(server);
  }

  /** A change of a server's list, as far as the view has it. Undefined: it has none of it. */
  shownChange(server: string, change: CatalogChange): CatalogChange | undefined {
    const lens = this.#lens;
    if (lens === undefined || change.list !== 'tools') return change;
    const own = (names: string[]) => names.filter((tool) => lens.has(server, tool));
    const { added, removed, changed, unaccepted = [] } = change;
    const shown = { added: own(added), removed: own(removed), changed: own(changed) };
    const waiting = own(unaccepted);
    const isNothing = [...Object.values(shown), waiting].every(({ length }) => length === 0);
    const wasNothing = [added, removed, changed, unaccepted].every(({ length }) => length === 0);
    if (isNothing && !wasNothing) return undefined;
    const known = this.#servers.get(server)?.catalog.knownLists().tools ?? [];
    const count = lens.tools(server, known).length;
    return { list: 'tools', count, ...shown, ...(waiting.length === 0 ? {} : { unaccepted: waiting }) };
  }

  catalogChanged(): void {
    this.catalog.changed();
    this.search.changed();
    this.watches.renew();
  }

  /** Makes the view what these specs say. Servers whose spec is the same are not touched. */
  apply(specs: readonly ServerSpec[], isDryRun = false): ReloadReport {
    if (isDryRun) return this.#servers.compare(specs);
    this.#core.checkOpen();
    return this.#replace(specs);
  }

  /** Adds one server at the end. Unlike `apply` it does not compare the others: a client may register a thousand. */
  add(spec: ServerSpec): void {
    this.#core.checkOpen();
    for (const view of this.#family().reverse()) view.#add(spec);
  }

  knows(name: string): boolean {
    return this.#servers.get(name) !== undefined;
  }

  get specs(): readonly ServerSpec[] {
    return this.#servers.specs;
  }

  /** A view of one agent with the same config. */
  fork(id: string, agent: string | null, folder?: string): HerdView {
    this.#core.checkOpen();
    return this.#derive({ id, agent, folder, isOneAgent: true, lens: this.#lens });
  }

  /** The view of a profile, which connections share. Throws where the config has no such profile. */
  narrow(name: string): HerdView {
    this.#core.checkOpen();
    if (!this.#profiles.has(name)) throw unknownProfile(name, [...this.#profiles.keys()]);
    const { agent } = this.#options;
    const known = this.#narrowed.get(name);
    if (known !== undefined) return known;
    const lens = new ProfileLens(name, this.#profiles);
    const view = this.#derive({ id: `${this.id} profile ${name}`, agent, isOneAgent: false, lens });
    this.#narrowed.set(name, view);
    return view;
  }

  /** The profiles of its files. Views of profiles that have changed follow; one of a removed profile has no servers. */
  useProfiles(profiles: ReadonlyMap<string, Profile>): void {
    this.#profiles = profiles;
    for (const [name, view] of this.#narrowed) view.#look(new ProfileLens(name, profiles));
  }

  /** What each profile offers and costs; in the view of a profile only that one. `surface`: that of the config. */
  async profiles(surface: Surface): Promise<ProfileReport[]> {
    const owner = this.isOneAgent ? this.#origin! : this;
    if (owner.#lens !== undefined) {
      const profile = owner.#origin!.#profiles.get(owner.#lens.name);
      return profile === undefined ? [] : [await owner.catalog.profileReport(profile, surface)];
    }
    const profiles = [...owner.#profiles.values()];
    return Promise.all(
      profiles.map((profile) => owner.narrow(profile.name).catalog.profileReport(profile, surface)),
    );
  }

  /** What agents of this view see, where this is the `daemon.surface` of the config. */
  surface(configured: Surface): Surface {
    return { ...configured, ...this.#lens?.surface };
  }

  /** Throws in the view of a profile. `what`: an order that concerns the whole herd. */
  checkWhole(what: string): void {
    if (this.#lens !== undefined) throw beyondProfile(this.#lens.name, what);
  }

  /** Whether the view of one agent would differ from this one. */
  get hasPerAgent(): boolean {
    return this.#hasPerAgent;
  }

  /** Stops the servers that only this view has. */
  close(): void {
    for (const fork of this.#forks) fork.close();
    if (this.#origin !== undefined) this.#origin.#forks.delete(this);
    this.watches.end();
    this.#replace([]);
    this.#core.leave(this);
  }

  /** Throws where there is no such server. */
  specOf(name: string): ServerSpec {
    return this.#servers.specOf(name);
  }

  /** Of the tools of all servers, or of one, as far as their lists are known. */
  toolsTokens(name?: string): number {
    const { all } = this.catalog.publicNames('tools');
    return tokensOfTools(all.filter(({ server }) => name === undefined || server.spec.name === name));
  }

  status(names?: readonly string[]): ServerStatus[] {
    return this.#orders.status(names);
  }

  history(params?: HistoryParams): FleetHistory {
    return this.#orders.history(params);
  }

  order(
    order: 'start' | 'stop' | 'restart' | 'reset',
    selection: Selection,
    wait = false,
  ): Promise<ServerStatus[]> {
    return this.#orders.order(order, selection, wait);
  }

  inspect(name: string): Inspection {
    return this.#orders.inspect(name);
  }

  pins(params: PinParams = {}): PinReport {
    return this.#orders.pins(params);
  }

  logOwnerTags(name?: string): { name: string; tag: string | undefined }[] {
    return this.#orders.logOwnerTags(name);
  }

  /** Every server that this view has, or the one of this name, and whose it is. */
  visibles(name?: string): VisibleServer[] {
    const servers = name === undefined ? this.#servers.servers : [this.#servers.get(name) ?? []].flat();
    return servers.map((server) => this.#visibleOf(server));
  }

  #visibleOf(server: ConfiguredServer): VisibleServer {
    return {
      server,
      agent: this.#agentOf(this.specOf(server.spec.name)),
      isPlaceholder: this.#isPlaceholder(server),
    };
  }

  /** Every agent has its own server; this one is shown in their place. */
  #isPlaceholder({ spec }: ConfiguredServer): boolean {
    return spec.sharing !== 'shared' && !this.isOneAgent;
  }

  #agentOf({ sharing, origin }: ServerSpec): string | null {
    const isOwn = sharing !== 'shared' && this.isOneAgent;
    return isOwn || origin.scope === 'agent' ? this.#options.agent : null;
  }

  #derive(options: ViewOptions): HerdView {
    const view = new HerdView(this.#core, options);
    view.#origin = this;
    this.#forks.add(view);
    view.#replace(this.specs);
    return view;
  }

  /** Looks through another version of its profile. Agents get events, so that they list again. */
  #look(lens: ProfileLens): void {
    if (this.#lens?.isSame(lens) !== false) return;
    const views = this.#family();
    for (const view of views) view.#lens = lens;
    const before = views.map((view) => view.#servers.names);
    this.#replace(this.#origin!.specs);
    views.forEach((view, index) => {
      view.#catalogEvents.renamed([...new Set([...before[index]!, ...view.#servers.names])]);
    });
  }

  /** The views that are made from this one, and itself as the last. */
  #family(): HerdView[] {
    return [...[...this.#forks].flatMap((view) => view.#family()), this];
  }

  /** Those of its origin's servers that it has. */
  #ownOf(specs: readonly ServerSpec[]): readonly ServerSpec[] {
    const lens = this.#lens;
    return lens === undefined ? specs : specs.filter(({ name }) => lens.hasServer(name));
  }

  /** All views release before any acquires, and this one last: then it knows which endings the new servers wait for. */
  #replace(specs: readonly ServerSpec[]): ReloadReport {
    const views = this.#family();
    const released = new Map<HerdView, Released>();
    for (const view of views) released.set(view, view.#release(view.#ownOf(specs)));
    for (const view of views.reverse()) view.#acquire(view.#ownOf(specs), released.get(view)!);
    return released.get(this)!.report;
  }

  /** Releases the servers that are not in these specs. */
  #release(specs: readonly ServerSpec[]): Released {
    const before = this.#catalogEvents.knownLists();
    return { before, report: this.#servers.releaseUnlisted(specs) };
  }

  /** Acquires the servers that are in these specs. */
  #acquire(specs: readonly ServerSpec[], { before, report }: Released): void {
    this.#servers.acquireListed(specs);
    // another view may run a server already that is new in this one
    this.#renewLogLevels((server) => this.events.wantedLevel(server));
    this.#hasPerAgent = specs.some(({ sharing }) => sharing !== 'shared');
    this.catalogChanged();
    this.#catalogEvents.changed(before, [...report.added, ...report.changed]);
  }

  /** Of the servers whose messages the subscriber wants. */
  #renewLogLevels(levelFor: LevelFor): void {
    for (const server of this.#servers.servers)
      if (levelFor(server.spec.name) !== undefined) server.renewLogLevel();
  }

  #add(spec: ServerSpec): void {
    if (this.#lens?.hasServer(spec.name) === false) return;
    this.#servers.add(spec);
    this.#hasPerAgent ||= spec.sharing !== 'shared';
    this.catalogChanged();
    this.#catalogEvents.added(spec.name);
  }
}
