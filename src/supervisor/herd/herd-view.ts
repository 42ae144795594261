import type { ServerSpec } from '../../config/schema/spec.js';
import type {
  Detail,
  Inspection,
  PinParams,
  PinReport,
  ReloadReport,
  Selection,
  ServerStatus,
} from '../../fleet/fleet.js';
import { withTimeout } from '../../shared/async.js';
import { differences } from '../catalog/catalog-change.js';
import { LIST_NAMES, type Lists } from '../catalog/lists.js';
import { checkConfigured, severalServers } from '../errors.js';
import { EventBus } from '../events/event-bus.js';
import { reportPins } from '../pins/report.js';
import { CallRouter, type CallRouterOptions } from '../routing/call-router.js';
import { McpRequests } from '../routing/mcp-requests.js';
import { ResourceWatches } from '../routing/resource-watches.js';
import { TargetResolver } from '../routing/target-resolver.js';
import { ToolCalls } from '../routing/tool-calls.js';
import type { ConfiguredServer } from '../server/configured-server.js';
import { redactedSpec } from '../spec-identity.js';
import { ViewCatalog } from '../view/view-catalog.js';
import { ViewServers } from '../view/view-servers.js';
import type { HerdCore, ViewSubscriber, VisibleServer } from './herd-core.js';
import type { Holder } from './server-pool.js';

export interface ViewOptions {
  /** No other view has this one. */
  id: string;
  /** The agent of this view, shown with the servers that only it has. Null: shared. */
  agent: string | null;
  /** In the view of one agent, `per-agent` servers run; in another view they are placeholders. */
  isOneAgent: boolean;
  /** It is the view of the whole herd: its status also shows what other views have at rest. */
  isGlobal?: boolean;
}

/** For how long an order that waits also waits for lists. */
const LISTS_MS = 5000;

/** A server of another view in one of these is not listed, and no order for all reaches it: `restart --all` would start it. */
const AT_REST: ReadonlySet<Detail> = new Set(['idle', 'stopped', 'disabled', 'not_allowed', 'misconfigured']);

/** The herd as one agent, or all agents, see it: servers in the order of the config, their lists, and requests to them. */
export class HerdView implements ViewSubscriber, Holder {
  readonly id: string;
  readonly isOneAgent: boolean;
  readonly events: EventBus;
  /** Its lists, under their public names. */
  readonly catalog: ViewCatalog;
  /** Any request of MCP, as it came or as the command asks it. */
  readonly requests: McpRequests;
  /** Tool calls, one or many. */
  readonly calls: ToolCalls;
  /** Subscriptions to resources. */
  readonly watches: ResourceWatches;
  readonly #core: HerdCore;
  readonly #options: ViewOptions;
  readonly #servers: ViewServers;
  /** Views of single agents with the same config, each with its own `per-agent` servers. */
  readonly #forks = new Set<HerdView>();
  #origin: HerdView | undefined;
  #hasPerAgent = false;

  constructor(core: HerdCore, options: ViewOptions) {
    this.#core = core;
    this.#options = options;
    this.id = options.id;
    this.isOneAgent = options.isOneAgent;
    const { clock, redact: clean, redactSaid, keepText = async () => undefined, log } = core.options;
    this.events = new EventBus((server, error) => log(server, `a listener failed: ${String(error)}`));
    const begins = (spec: ServerSpec) => spec.sharing === 'shared' || options.isOneAgent;
    const agentsWith = (name: string) => agentsOf(core.others(this, name));
    this.#servers = new ViewServers({ pool: core.pool, holder: this, begins, agentsWith });
    this.catalog = new ViewCatalog({
      servers: this.#servers,
      clock,
      listWaitMs: () => core.options.listWaitMs(),
      statusOf: (servers) => core.status(servers.map((server) => this.#visibleOf(server))),
    });
    const redact = (text: string, of?: ConfiguredServer) =>
      of === undefined || redactSaid === undefined ? clean(text) : redactSaid(of.spec, text);
    const parts = { servers: this.#servers, catalog: this.catalog, redact };
    const resolver = new TargetResolver(parts);
    const refused: CallRouterOptions['refused'] = (server, call) =>
      core.called(server, this.#servers.get(server)?.key, call);
    const router = new CallRouter({ resolver, clock, redact, keepText, refused });
    const note = (server: string, text: string) =>
      core.messageTap.note(this.#servers.get(server)?.key ?? server, text);
    const newRequestId = () => core.newRequestId();
    this.requests = new McpRequests(router);
    this.calls = new ToolCalls({ ...parts, router, clock, keepText, note, newRequestId });
    this.watches = new ResourceWatches({ ...parts, resolver });
    core.join(this);
  }

  has(server: ConfiguredServer): boolean {
    return this.#servers.has(server);
  }

  catalogChanged(): void {
    this.catalog.changed();
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
    for (const view of [this, ...this.#forks]) view.#add(spec);
  }

  knows(name: string): boolean {
    return this.#servers.get(name) !== undefined;
  }

  get specs(): readonly ServerSpec[] {
    return this.#servers.specs;
  }

  /** A view of one agent with the same config. */
  fork(id: string, agent: string | null): HerdView {
    this.#core.checkOpen();
    const fork = new HerdView(this.#core, { id, agent, isOneAgent: true });
    fork.#origin = this;
    this.#forks.add(fork);
    fork.#replace(this.specs);
    return fork;
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

  /** Without names it also has the running servers of other views. */
  status(names?: readonly string[]): ServerStatus[] {
    if (names !== undefined) return this.#core.status(this.#named(names));
    if (this.#options.isGlobal) return this.#core.status([...this.visibles(), ...this.#core.others(this)]);
    return this.#core.status(this.#all());
  }

  async order(
    order: 'start' | 'stop' | 'restart' | 'reset',
    selection: Selection,
    wait = false,
  ): Promise<ServerStatus[]> {
    this.#core.checkOpen();
    const visibles = 'all' in selection ? this.#all() : this.#named(selection.servers);
    // one that never runs is stopped already
    if ('servers' in selection && order !== 'stop')
      for (const { server } of visibles) checkConfigured(server.spec);
    const servers = new Set(visibles.flatMap((visible) => this.#meant(visible)));
    const meant = [...servers].filter(({ spec }) => spec.enabled);
    for (const server of meant) server[order]();
    if (wait) await this.#obeyed(order, meant);
    return this.#core.status(visibles);
  }

  inspect(name: string): Inspection {
    const visibles = this.#named([name]);
    if (visibles.length > 1) throw severalServers(name, agentsOf(visibles));
    const [{ server, isOther }] = visibles as [VisibleServer];
    return {
      server: name,
      status: this.#core.status(visibles)[0]!,
      spec: redactedSpec(isOther ? server.spec : this.specOf(name), this.#core.options.redact),
      snapshot: server.snapshot().states,
      journal: this.#core.journalOf(server),
    };
  }

  /** The pins of its tools. Definitions to accept are accepted first. */
  pins({ server: name, accept = false, hashes }: PinParams = {}): PinReport {
    const servers = this.#serversOf(name);
    const wanted = hashes && new Set(hashes);
    // lists from the disk are compared when they are first read; another herd may have accepted changes since
    for (const server of servers) if (server.catalog.keysOf('tools') !== undefined) server.recheckPins();
    const accepted = !accept
      ? []
      : servers.flatMap(({ spec, pinning }) =>
          (pinning?.accept(wanted) ?? []).map((one) => ({ server: spec.name, ...one })),
        );
    if (accepted.length > 0)
      this.#core.recheckPins(new Set(servers.flatMap(({ pinning }) => pinning?.identity ?? [])));
    const policy = this.#core.options.pins?.policy() ?? 'off';
    return { policy, ...reportPins(servers), accepted };
  }

  /** The owner tags of its servers' lines in the logs. */
  logOwnerTags(name?: string): { name: string; tag: string | undefined }[] {
    return this.#serversOf(name).map(({ spec, key }) => ({
      name: spec.name,
      tag: this.#core.logOwnerTag(key),
    }));
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
    return spec.sharing === 'per-agent' && !this.isOneAgent;
  }

  /** This view's servers of these names, in its order, and those of other views for each name that it does not have. */
  #named(names: readonly string[]): VisibleServer[] {
    const wanted = new Set(names);
    const others = [...wanted].flatMap((name) => (this.knows(name) ? [] : this.#elsewhere(name)));
    const own =
      names.length === 1
        ? this.visibles(names[0])
        : this.visibles().filter(({ server }) => wanted.has(server.spec.name));
    return [...own, ...others];
  }

  /** Throws where no other view has one either. */
  #elsewhere(name: string): VisibleServer[] {
    const others = this.#core.others(this, name);
    if (others.length === 0) throw this.#servers.unknown(name);
    return others;
  }

  /** This view's servers, and those of other views that are not at rest. */
  #all(): VisibleServer[] {
    const others = this.#core.others(this).filter(({ server }) => !AT_REST.has(server.snapshot().detail));
    return [...this.visibles(), ...others];
  }

  #serversOf(name: string | undefined): ConfiguredServer[] {
    return name === undefined ? this.#servers.servers : this.#named([name]).map(({ server }) => server);
  }

  /** An order for a placeholder goes to every agent's own server. */
  #meant({ server, isPlaceholder }: VisibleServer): ConfiguredServer[] {
    return isPlaceholder ? this.#core.pool.ofAgents(server.spec) : [server];
  }

  #agentOf({ sharing, origin }: ServerSpec): string | null {
    const isOwn = sharing === 'per-agent' && this.isOneAgent;
    return isOwn || origin.scope === 'agent' ? this.#options.agent : null;
  }

  #replace(specs: readonly ServerSpec[]): ReloadReport {
    // All views release before any acquires, and this one last: then it knows which endings the new servers wait for.
    const takes = [...this.#forks, this].map((view) => view.#letGo(specs));
    const [report] = takes.reverse().map((take) => take());
    return report!;
  }

  #add(spec: ServerSpec): void {
    this.#servers.add(spec);
    this.catalog.changed();
    this.#hasPerAgent ||= spec.sharing === 'per-agent';
    this.watches.renew();
    this.#announce([spec.name]);
    if (!this.events.hasListeners('catalog')) return;
    const lists = this.#servers.find(spec.name).catalog.knownLists();
    this.#tellOf(new Map(), new Map([[spec.name, lists]]));
  }

  #tellOf(before: ReadonlyMap<string, Lists>, after: ReadonlyMap<string, Lists>): void {
    for (const [name, change] of differences(before, after)) {
      this.events.emit('catalog', name, () => ({ ...change, at: this.#core.now() }));
    }
  }

  /** Releases the servers that are not in these specs; the function that it returns acquires those that are. */
  #letGo(specs: readonly ServerSpec[]): () => ReloadReport {
    const before = this.#known();
    const take = this.#servers.letGo(specs);
    return () => {
      const report = take();
      this.catalog.changed();
      this.#hasPerAgent = specs.some(({ sharing }) => sharing === 'per-agent');
      this.watches.renew();
      // the lists of a removed or replaced server go with it
      this.#tellOf(before, this.#known());
      this.#announce([...report.added, ...report.changed]);
      return report;
    };
  }

  /**
   * The lists of a `per-agent` server are not known before an agent has its own, which it gets when it lists. Agents that
   * have listed before get a change event, so that they list again.
   */
  #announce(names: readonly string[]): void {
    if (!this.events.hasListeners('catalog')) return;
    const servers = names
      .map((name) => this.#servers.find(name))
      .filter((server) => this.#isPlaceholder(server));
    const unknown = servers.filter(({ spec, catalog }) => spec.enabled && catalog.missing().length > 0);
    const none = { count: 0, added: [], removed: [], changed: [] };
    for (const { spec } of unknown)
      for (const list of LIST_NAMES)
        this.events.emit('catalog', spec.name, () => ({ list, ...none, at: this.#core.now() }));
  }

  async #obeyed(order: string, servers: readonly ConfiguredServer[]): Promise<void> {
    const isStop = order === 'stop';
    await Promise.all(servers.map((server) => (isStop ? server.whenGone() : server.whenDecided())));
    if (isStop) return;
    // an order waits for the lists too, but not for long
    const told = Promise.all(servers.map((server) => server.whenListsRead()));
    await withTimeout(LISTS_MS, told, this.#core.options.clock);
  }

  /** The lists of each server, as far as they are known. Only with listeners: to look them up may read the disk. */
  #known(): Map<string, Lists> {
    const servers = this.events.hasListeners('catalog') ? this.#servers.servers : [];
    return new Map(servers.map(({ spec, catalog }) => [spec.name, catalog.knownLists()]));
  }
}

/** The agent files of these servers, without duplicates. */
function agentsOf(visibles: readonly VisibleServer[]): string[] {
  return [...new Set(visibles.flatMap(({ agent }) => agent ?? []))];
}
