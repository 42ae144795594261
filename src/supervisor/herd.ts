import type { ServerSpec } from '../config/spec.js';
import type {
  BroadcastParams,
  CallContext,
  CallManyParams,
  CallParams,
  Detail,
  FleetEvent,
  Inspection,
  ManyContext,
  McpResult,
  PromptEntry,
  PromptParams,
  ReloadReport,
  RequestParams,
  ResourceLists,
  ResourceParams,
  Selection,
  ServerState,
  ServerStatus,
  ShutdownReport,
  ToolEntry,
  ToolResult,
} from '../ipc/fleet.js';
import { ServerUnavailableError } from '../link/errors.js';
import type { LinkLog } from '../link/link.js';
import { topName } from '../machines/state-name.js';
import { atMost } from './at-most.js';
import { Calls } from './calls.js';
import { type CatalogChange, differences } from './catalog-change.js';
import type { CatalogStore } from './catalog-store.js';
import { ConfiguredServer } from './configured-server.js';
import { type EarOptions, Ears } from './ears.js';
import { type Change, Journal } from './journal.js';
import type { OpenLink } from './link-actor.js';
import { type Lists, NO_LISTS } from './lists.js';
import { Lookups } from './lookups.js';
import { Members } from './members.js';
import { News, type Topic } from './news.js';
import { Offers } from './offers.js';
import { Permits } from './permits.js';
import { Requests } from './requests.js';
import type { KeepText } from './result-limit.js';
import { groupMemory } from './rss.js';
import { stopAll } from './shutdown.js';
import { identityOf, visibleSpec } from './spec-view.js';
import { startRoot } from './start-root.js';
import { type StatusSources, toStatus } from './status.js';
import type { Surroundings } from './surroundings.js';

export interface HerdOptions extends EarOptions {
  random(): number;
  open: OpenLink;
  maxStarting: number;
  /** Where text over `result_limit` goes. */
  keepText?: KeepText;
  /** What servers offered in an earlier life. */
  catalogs?: CatalogStore;
}

/** For how long an order that waits also waits for lists. */
const LISTS_MS = 5000;

/** Whoever calls without a name. */
const LOCAL = 'local';

/** Every configured server, under one root actor. The order of the config is the order of the herd. */
export class Herd {
  readonly #options: HerdOptions;
  readonly #journal: Journal;
  readonly #news = new News((server, error) =>
    this.#options.log(server, `a listener failed: ${String(error)}`),
  );
  readonly #ears: Ears;
  readonly #startedAt: string;
  readonly #members: Members;
  readonly #offers: Offers;
  readonly #lookups: Lookups;
  readonly #calls: Calls;
  readonly #requests: Requests;
  #generation = 0;
  #state: 'open' | 'ending' = 'open';

  constructor(options: HerdOptions) {
    this.#options = options;
    const { clock, random, maxStarting } = options;
    this.#ears = new Ears(options, this.#news, (name) => this.#members.get(name)?.view().incarnation ?? 0);
    const open = this.#ears.overhear(options.open);
    const log = (server: string, text: string) => this.#ears.note(server, text);
    this.#startedAt = new Date(clock.now()).toISOString();
    this.#journal = new Journal(
      () => clock.now(),
      (text) => options.redact(text),
      (change) => this.#changed(change),
    );
    const { keep, release } = startRoot({
      clock,
      inspect: this.#journal.inspect,
      broke: (server, error) => log(server, `a fault in toolherd itself: ${String(error)}`),
    });
    const around: Surroundings = {
      clock,
      random,
      permits: new Permits(maxStarting),
      open,
      keep,
      release,
      log,
      catalogs: options.catalogs,
      offersChanged: (server, change) => this.#offersChanged(server, change),
    };
    this.#members = new Members({
      create: (spec, predecessor) => new ConfiguredServer(spec, ++this.#generation, around, predecessor),
      forgotten: (name) => this.#journal.forget(name),
    });
    this.#offers = new Offers(this.#members, clock);
    const redact = (text: string) => options.redact(text);
    const common = { members: this.#members, offers: this.#offers, redact };
    const { keepText = async () => undefined } = options;
    this.#lookups = new Lookups(common);
    this.#requests = new Requests(common);
    this.#calls = new Calls({ ...common, clock, keepText, note: log });
  }

  /** Makes the herd what these specs say. Servers whose spec is the same are not touched. */
  apply(specs: readonly ServerSpec[], isDryRun = false): ReloadReport {
    if (isDryRun) return this.#members.compare(specs);
    this.#checkOpen();
    const before = this.#known();
    const report = this.#members.replace(specs);
    this.#offers.changed();
    // who goes takes along what it offered, as does one that begins anew
    for (const [name, change] of differences(before, this.#known())) this.#offersChanged(name, change);
    void this.#options.catalogs?.seen(specs.map(identityOf));
    return report;
  }

  /** Throws where there is no such server. */
  specOf(name: string): ServerSpec {
    return this.#members.find(name).spec;
  }

  status(names?: readonly string[]): ServerStatus[] {
    const members = this.#members;
    for (const name of names ?? []) members.find(name);
    const shown = (name: string) => names === undefined || names.includes(name);
    const servers = members.servers.filter(({ spec }) => shown(spec.name));
    const sources: StatusSources = {
      since: (name) => this.#journal.since(name) ?? this.#startedAt,
      redact: (text) => this.#options.redact(text),
      // looked up once for all: it reads the whole process table
      memory: groupMemory(servers.flatMap((server) => server.view().pids)),
    };
    return servers.map((server) => toStatus(server, sources));
  }

  async order(
    order: 'start' | 'stop' | 'restart' | 'reset',
    selection: Selection,
    wait = false,
  ): Promise<ServerStatus[]> {
    this.#checkOpen();
    const members = this.#members;
    const servers =
      'all' in selection ? members.servers : selection.servers.map((name) => members.find(name));
    const enabled = servers.filter(({ spec }) => spec.enabled);
    for (const server of enabled) server[order]();
    if (wait) await this.#obeyed(order, enabled);
    return this.status(servers.map(({ spec }) => spec.name));
  }

  tools(server?: string, refresh?: boolean): Promise<ToolEntry[]> {
    return this.#offers.tools(server, refresh);
  }

  prompts(server?: string, refresh?: boolean): Promise<PromptEntry[]> {
    return this.#offers.prompts(server, refresh);
  }

  resources(server?: string, refresh?: boolean): Promise<ResourceLists> {
    return this.#offers.resources(server, refresh);
  }

  prompt(params: PromptParams, context: CallContext = {}): Promise<McpResult> {
    return this.#lookups.prompt(params, { caller: LOCAL, ...context });
  }

  resource(params: ResourceParams, context: CallContext = {}): Promise<McpResult> {
    return this.#lookups.resource(params, { caller: LOCAL, ...context });
  }

  request(params: RequestParams, context: CallContext = {}): Promise<McpResult> {
    return this.#requests.send(params, { caller: LOCAL, ...context });
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
    const server = this.#members.find(name);
    return {
      server: name,
      status: this.status([name])[0]!,
      spec: visibleSpec(server.spec, this.#options.redact),
      snapshot: server.view().states,
      journal: this.#journal.of(name),
    };
  }

  subscribe<T extends Topic>(
    topics: readonly T[],
    listen: (event: Extract<FleetEvent, { topic: T }>) => void,
  ): () => void {
    return this.#news.subscribe(topics, listen);
  }

  /** A line that a server printed: it is in the log already. */
  printed(server: string, incarnation: number, line: LinkLog): void {
    this.#ears.printed(server, incarnation, line);
  }

  /** Stops all at once, and for good; `kill` is called when the grace is over and something still runs. */
  shutdown(graceMs: number, kill: () => Promise<void>): Promise<ShutdownReport> {
    this.#state = 'ending';
    const { servers, leaving } = this.#members;
    return stopAll(servers, { clock: this.#options.clock, graceMs, kill, leaving });
  }

  async #obeyed(order: string, servers: readonly ConfiguredServer[]): Promise<void> {
    const isStop = order === 'stop';
    await Promise.all(servers.map((server) => (isStop ? server.whenGone() : server.whenDecided())));
    if (isStop) return;
    // what it offers is part of how a start went; one that does not say it has started all the same
    const told = Promise.all(servers.map((server) => server.whenTold()));
    await atMost(LISTS_MS, told, this.#options.clock);
  }

  /** An order that came in the middle of the end would begin it all anew. */
  #checkOpen(): void {
    if (this.#state === 'open') return;
    throw new ServerUnavailableError('the daemon is shutting down', { retryable: true, fix: 'toolherd up' });
  }

  /** What each server is known to offer. Looked up only for whoever wants to hear of changes: it may be on the disk. */
  #known(): Map<string, Lists> {
    const servers = this.#news.isHeard('catalog') ? this.#members.servers : [];
    return new Map(servers.map(({ spec, catalog }) => [spec.name, catalog.lists ?? NO_LISTS]));
  }

  #offersChanged(server: string, change: CatalogChange): void {
    this.#offers.changed();
    this.#news.tell('catalog', server, () => ({
      ...change,
      at: new Date(this.#options.clock.now()).toISOString(),
    }));
  }

  #changed(change: Change): void {
    this.#news.tell('state', change.server, () => {
      const view = this.#members.get(change.server)?.view();
      if (view === undefined) return undefined;
      const { incarnation, cause, at, chart } = change;
      const to = topName(change.to);
      // The machine that changed is in the middle of its step: the other one shows where it stands.
      const state = chart === 'server' ? (to as ServerState) : view.state;
      const detail = chart === 'keeper' ? (to as Detail) : view.detail;
      return { incarnation, state, detail, cause, at };
    });
  }
}
