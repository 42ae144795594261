import type { ServerSpec } from '../../config/schema/spec.js';
import type {
  BroadcastParams,
  CallContext,
  CallManyParams,
  CallParams,
  Detail,
  FleetEvent,
  ForwardHandle,
  ForwardSink,
  Inspection,
  ManyContext,
  McpResult,
  Patience,
  PinParams,
  PinReport,
  PromptList,
  PromptParams,
  ReloadReport,
  RequestParams,
  ResourceLists,
  ResourceParams,
  Selection,
  ServerStatus,
  ToolList,
  ToolResult,
  WatchParams,
} from '../../fleet/fleet.js';
import { atMost } from '../../shared/with-timeout.js';
import { Calls } from '../calls/calls.js';
import { Forwarding } from '../calls/forwarding.js';
import { Lookups } from '../calls/lookups.js';
import { Requests } from '../calls/requests.js';
import { ResourceWatches } from '../calls/resource-watches.js';
import { follow, type Refused, type TrailedContext } from '../calls/unserved-request.js';
import { differences } from '../catalog/catalog-change.js';
import { LIST_NAMES, type Lists } from '../catalog/lists.js';
import { checkConfigured, severalServers } from '../errors.js';
import type { HerdRequest } from '../events/call-event.js';
import { News, type Topic } from '../events/event-bus.js';
import { reportPins } from '../pins/report.js';
import type { ConfiguredServer } from '../server/configured-server.js';
import type { OnUpdate } from '../server/resource-watch.js';
import { visibleSpec } from '../spec-identity.js';
import type { Ground, Onlooker, Sight } from './herd-core.js';
import type { Holder } from './server-pool.js';
import { Offers } from './view-catalog.js';
import { Members } from './view-servers.js';

export interface ViewOptions {
  /** No other view has this one. */
  id: string;
  /** Whose view it is: shown of what is its own. Null: everybody's. */
  agent: string | null;
  /** Of a view that stands for one agent, `per-agent` servers are its own; of another they only stand for those. */
  isOneAgent: boolean;
}

/** For how long an order that waits also waits for lists. */
const LISTS_MS = 5000;

/** Whoever calls without a name. */
const LOCAL = 'local';

/** A server of another view in one of these is not listed, and no order for all reaches it: `restart --all` would start it. */
const AT_REST: ReadonlySet<Detail> = new Set(['idle', 'stopped', 'disabled', 'not_allowed', 'misconfigured']);

/** One list of servers as somebody sees it, in the order of the config: what they offer, what is asked of them. */
export class HerdView implements Onlooker, Holder {
  readonly id: string;
  readonly isOneAgent: boolean;
  readonly news: News;
  readonly #ground: Ground;
  readonly #options: ViewOptions;
  readonly #members: Members;
  readonly #offers: Offers;
  readonly #lookups: Lookups;
  readonly #calls: Calls;
  readonly #requests: Requests;
  readonly #forwarding: Forwarding;
  readonly #watches: ResourceWatches;
  /** The same for single agents, each with `per-agent` servers of its own. */
  readonly #forks = new Set<HerdView>();
  readonly #telling: Parameters<typeof follow>[1];
  #origin: HerdView | undefined;
  #hasPerAgent = false;

  constructor(ground: Ground, options: ViewOptions) {
    this.#ground = ground;
    this.#options = options;
    this.id = options.id;
    this.isOneAgent = options.isOneAgent;
    const { clock, redact: clean, redactSaid, keepText = async () => undefined, log } = ground.options;
    this.news = new News((server, error) => log(server, `a listener failed: ${String(error)}`));
    const begins = (spec: ServerSpec) => spec.sharing === 'shared' || options.isOneAgent;
    const agentsWith = (name: string) => agentsOf(ground.others(this, name));
    this.#members = new Members({ pool: ground.pool, holder: this, begins, agentsWith });
    this.#offers = new Offers({
      members: this.#members,
      clock,
      listWaitMs: () => ground.options.listWaitMs(),
      statusOf: (servers) => ground.status(servers.map((server) => this.#sightOf(server))),
    });
    const redact = (text: string, of?: ConfiguredServer) =>
      of === undefined || redactSaid === undefined ? clean(text) : redactSaid(of.spec, text);
    const common = { members: this.#members, offers: this.#offers, redact };
    this.#lookups = new Lookups(common);
    this.#requests = new Requests({ ...common, keepText });
    this.#forwarding = new Forwarding(common);
    this.#watches = new ResourceWatches({ ...common, requests: this.#requests });
    const note = (server: string, text: string) =>
      ground.ears.note(this.#members.get(server)?.slot ?? server, text);
    const refused: Refused = (server, call) => ground.called(server, this.#members.get(server)?.slot, call);
    const newRequestId = () => ground.newRequestId();
    this.#calls = new Calls({ ...common, clock, keepText, note, refused, newRequestId });
    this.#telling = { clock, refused };
    ground.join(this);
  }

  has(server: ConfiguredServer): boolean {
    return this.#members.has(server);
  }

  offersChanged(): void {
    this.#offers.changed();
    this.#watches.renew();
  }

  /** Makes the view what these specs say. Servers whose spec is the same are not touched. */
  apply(specs: readonly ServerSpec[], isDryRun = false): ReloadReport {
    if (isDryRun) return this.#members.compare(specs);
    this.#ground.checkOpen();
    return this.#replace(specs);
  }

  /** What `apply` does with one more at the end of the list. The others are not compared: a thousand come one by one. */
  add(spec: ServerSpec): void {
    this.#ground.checkOpen();
    for (const view of [this, ...this.#forks]) view.#add(spec);
  }

  knows(name: string): boolean {
    return this.#members.get(name) !== undefined;
  }

  get specs(): readonly ServerSpec[] {
    return this.#members.specs;
  }

  /** The same as one agent sees it. */
  fork(id: string, agent: string | null): HerdView {
    this.#ground.checkOpen();
    const fork = new HerdView(this.#ground, { id, agent, isOneAgent: true });
    fork.#origin = this;
    this.#forks.add(fork);
    fork.#replace(this.specs);
    return fork;
  }

  /** Whether the view of one agent is another one. */
  get hasPerAgent(): boolean {
    return this.#hasPerAgent;
  }

  /** Nobody looks any more: what only this view had is ended. */
  close(): void {
    for (const fork of this.#forks) fork.close();
    if (this.#origin !== undefined) this.#origin.#forks.delete(this);
    this.#watches.end();
    this.#replace([]);
    this.#ground.leave(this);
  }

  /** Throws where there is no such server. */
  specOf(name: string): ServerSpec {
    return this.#members.specOf(name);
  }

  /** Without names also what runs in other views: every view shows every server that runs. */
  status(names?: readonly string[]): ServerStatus[] {
    return this.#ground.status(names === undefined ? this.#all() : this.#named(names));
  }

  async order(
    order: 'start' | 'stop' | 'restart' | 'reset',
    selection: Selection,
    wait = false,
  ): Promise<ServerStatus[]> {
    this.#ground.checkOpen();
    const sights = 'all' in selection ? this.#all() : this.#named(selection.servers);
    // one that never runs is stopped already
    if ('servers' in selection && order !== 'stop')
      for (const { server } of sights) checkConfigured(server.spec);
    const servers = new Set(sights.flatMap((sight) => this.#meant(sight)));
    const meant = [...servers].filter(({ spec }) => spec.enabled);
    for (const server of meant) server[order]();
    if (wait) await this.#obeyed(order, meant);
    return this.#ground.status(sights);
  }

  tools(server?: string, refresh?: boolean, patience?: Patience): Promise<ToolList> {
    return this.#offers.tools(server, refresh, patience);
  }

  prompts(server?: string, refresh?: boolean, patience?: Patience): Promise<PromptList> {
    return this.#offers.prompts(server, refresh, patience);
  }

  resources(server?: string, refresh?: boolean, patience?: Patience): Promise<ResourceLists> {
    return this.#offers.resources(server, refresh, patience);
  }

  prompt(params: PromptParams, context: CallContext = {}): Promise<McpResult> {
    const { server, name, arguments: args } = params;
    const about = { server, method: 'prompts/get', params: { name, arguments: args } };
    return this.#follow(about, context, (own) => this.#lookups.prompt(params, own));
  }

  resource(params: ResourceParams, context: CallContext = {}): Promise<McpResult> {
    const about = { server: params.server, method: 'resources/read' };
    return this.#follow(about, context, (own) => this.#lookups.resource(params, own));
  }

  request(params: RequestParams, context: CallContext = {}): Promise<McpResult> {
    return this.#follow(params, context, (own) => this.#requests.send(params, own));
  }

  /** A call by the shortest way; see `Fleet`. */
  forward(params: RequestParams, sink: ForwardSink): ForwardHandle | undefined {
    return this.#forwarding.send(params, sink);
  }

  /** Whoever wants to know when a resource changes; see `Fleet`. */
  watch(params: WatchParams, listen: OnUpdate): Promise<() => void> {
    return this.#watches.watch(params, listen);
  }

  call(params: CallParams, context: CallContext = {}): Promise<ToolResult> {
    return this.#calls.call(params, { caller: LOCAL, ...context });
  }

  callMany(params: CallManyParams, context: ManyContext = {}): Promise<ToolResult[]> {
    return this.#calls.many(params, { caller: LOCAL, ...context });
  }

  broadcast(params: BroadcastParams, context: ManyContext = {}): Promise<ToolResult[]> {
    return this.#calls.broadcast(params, { caller: LOCAL, ...context });
  }

  inspect(name: string): Inspection {
    const sights = this.#named([name]);
    if (sights.length > 1) throw severalServers(name, agentsOf(sights));
    const [{ server, isOther }] = sights as [Sight];
    return {
      server: name,
      status: this.#ground.status(sights)[0]!,
      spec: visibleSpec(isOther ? server.spec : this.specOf(name), this.#ground.options.redact),
      snapshot: server.view().states,
      journal: this.#ground.storyOf(server),
    };
  }

  /** What is pinned of its tools, after what is to be accepted was. */
  pins({ server: name, accept = false, hashes }: PinParams = {}): PinReport {
    const servers = this.#serversOf(name);
    const wanted = hashes && new Set(hashes);
    // what they remember is compared when it is first looked at; somebody else may have accepted since
    for (const server of servers) if (server.catalog.keysOf('tools') !== undefined) server.vetAgain();
    const accepted = !accept
      ? []
      : servers.flatMap(({ spec, pinning }) =>
          (pinning?.accept(wanted) ?? []).map((one) => ({ server: spec.name, ...one })),
        );
    if (accepted.length > 0)
      this.#ground.vetAgain(new Set(servers.flatMap(({ pinning }) => pinning?.identity ?? [])));
    const policy = this.#ground.options.pins?.policy() ?? 'off';
    return { policy, ...reportPins(servers), accepted };
  }

  /** Whose lines in the logs are those of its servers, or of one of them. */
  logMarks(name?: string): { name: string; mark: string | undefined }[] {
    return this.#serversOf(name).map(({ spec, slot }) => ({
      name: spec.name,
      mark: this.#ground.logMarkAt(slot),
    }));
  }

  subscribe<T extends Topic>(
    topics: readonly T[],
    listen: (event: Extract<FleetEvent, { topic: T }>) => void,
  ): () => void {
    return this.news.subscribe(topics, listen);
  }

  /** Every server that this view has, or the one of this name, and whose it is. */
  sights(name?: string): Sight[] {
    const servers = name === undefined ? this.#members.servers : [this.#members.get(name) ?? []].flat();
    return servers.map((server) => this.#sightOf(server));
  }

  #sightOf(server: ConfiguredServer): Sight {
    return {
      server,
      agent: this.#agentOf(this.specOf(server.spec.name)),
      isStandIn: this.#isStandIn(server),
    };
  }

  /** Tells of a request also where no server took it. */
  #follow(
    about: Pick<RequestParams, 'server'> & HerdRequest,
    context: CallContext,
    run: (context: TrailedContext) => Promise<McpResult>,
  ): Promise<McpResult> {
    const { caller = LOCAL } = context;
    const { server, method, params } = about;
    return follow({ server, method, params, caller }, this.#telling, (trail) =>
      run({ ...context, caller, trail }),
    );
  }

  /** Every agent has one of its own; this one only stands for them. */
  #isStandIn({ spec }: ConfiguredServer): boolean {
    return spec.sharing === 'per-agent' && !this.isOneAgent;
  }

  /** This view's servers of these names, in its order, and those of other views for each name that it does not have. */
  #named(names: readonly string[]): Sight[] {
    const wanted = new Set(names);
    const others = [...wanted].flatMap((name) => (this.knows(name) ? [] : this.#elsewhere(name)));
    const own =
      names.length === 1
        ? this.sights(names[0])
        : this.sights().filter(({ server }) => wanted.has(server.spec.name));
    return [...own, ...others];
  }

  /** Throws where no other view has one either. */
  #elsewhere(name: string): Sight[] {
    const others = this.#ground.others(this, name);
    if (others.length === 0) throw this.#members.unknown(name);
    return others;
  }

  /** This view's servers, and those of other views that are not at rest. */
  #all(): Sight[] {
    const others = this.#ground.others(this).filter(({ server }) => !AT_REST.has(server.view().detail));
    return [...this.sights(), ...others];
  }

  #serversOf(name: string | undefined): ConfiguredServer[] {
    return name === undefined ? this.#members.servers : this.#named([name]).map(({ server }) => server);
  }

  /** An order for a placeholder goes to every agent's own server. */
  #meant({ server, isStandIn }: Sight): ConfiguredServer[] {
    return isStandIn ? this.#ground.pool.ofAgents(server.spec) : [server];
  }

  #agentOf({ sharing, origin }: ServerSpec): string | null {
    const isOwn = sharing === 'per-agent' && this.isOneAgent;
    return isOwn || origin.scope === 'agent' ? this.#options.agent : null;
  }

  #replace(specs: readonly ServerSpec[]): ReloadReport {
    // All let go before any takes, and this one last: then it knows whose end the new ones have to wait for.
    const takes = [...this.#forks, this].map((view) => view.#letGo(specs));
    const [report] = takes.reverse().map((take) => take());
    return report!;
  }

  #add(spec: ServerSpec): void {
    this.#members.add(spec);
    this.#offers.changed();
    this.#hasPerAgent ||= spec.sharing === 'per-agent';
    this.#watches.renew();
    this.#announce([spec.name]);
    if (!this.news.isHeard('catalog')) return;
    const { lists } = this.#members.find(spec.name).catalog;
    this.#tellOf(new Map(), new Map([[spec.name, lists]]));
  }

  #tellOf(before: ReadonlyMap<string, Lists>, after: ReadonlyMap<string, Lists>): void {
    for (const [name, change] of differences(before, after)) {
      this.news.tell('catalog', name, () => ({ ...change, at: this.#ground.now() }));
    }
  }

  /** Of what is not in these specs; the function that it returns takes what is. */
  #letGo(specs: readonly ServerSpec[]): () => ReloadReport {
    const before = this.#known();
    const take = this.#members.letGo(specs);
    return () => {
      const report = take();
      this.#offers.changed();
      this.#hasPerAgent = specs.some(({ sharing }) => sharing === 'per-agent');
      this.#watches.renew();
      // who goes takes along what it offered, as does one that begins anew
      this.#tellOf(before, this.#known());
      this.#announce([...report.added, ...report.changed]);
      return report;
    };
  }

  /**
   * What a `per-agent` server offers is not known before an agent has its own, which it has when it lists. Those who
   * have listed before are told that the lists have changed, so that they do.
   */
  #announce(names: readonly string[]): void {
    if (!this.news.isHeard('catalog')) return;
    const servers = names.map((name) => this.#members.find(name)).filter((server) => this.#isStandIn(server));
    const unknown = servers.filter(({ spec, catalog }) => spec.enabled && catalog.missing().length > 0);
    const none = { count: 0, added: [], removed: [], changed: [] };
    for (const { spec } of unknown)
      for (const list of LIST_NAMES)
        this.news.tell('catalog', spec.name, () => ({ list, ...none, at: this.#ground.now() }));
  }

  async #obeyed(order: string, servers: readonly ConfiguredServer[]): Promise<void> {
    const isStop = order === 'stop';
    await Promise.all(servers.map((server) => (isStop ? server.whenGone() : server.whenDecided())));
    if (isStop) return;
    // what it offers is part of how a start went; one that does not say it has started all the same
    const told = Promise.all(servers.map((server) => server.whenTold()));
    await atMost(LISTS_MS, told, this.#ground.options.clock);
  }

  /** What each server is known to offer. Looked up only for whoever wants to hear of changes: it may be on the disk. */
  #known(): Map<string, Lists> {
    const servers = this.news.isHeard('catalog') ? this.#members.servers : [];
    return new Map(servers.map(({ spec, catalog }) => [spec.name, catalog.lists]));
  }
}

/** The agents' files that these servers are of, each once. */
function agentsOf(sights: readonly Sight[]): string[] {
  return [...new Set(sights.flatMap(({ agent }) => agent ?? []))];
}
