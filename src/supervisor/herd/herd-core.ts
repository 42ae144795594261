import type { AnyActorLogic } from 'xstate';
import type { HerdServerSpec, ServerSpec } from '../../config/fields/spec.js';
import type { FleetHistory, OpenCall, Order, ServerStatus, StateEvent } from '../../fleet/fleet.js';
import type { Link, LinkEvents } from '../../link/link.js';
import type { ToolVectors } from '../../search/meaning.js';
import { shuttingDown } from '../../shared/call-errors.js';
import { type Clock, dateOf, isoDateOf } from '../../shared/clock.js';
import { lowestMcpLevel, type McpLevel } from '../../shared/mcp/log-levels.js';
import { DEFAULT_SEPARATOR, type Separator } from '../../shared/mcp/separators.js';
import type { CatalogChange } from '../catalog/catalog-change.js';
import type { CatalogStore } from '../catalog/catalog-store.js';
import type { ProfileLens } from '../catalog/profile-lens.js';
import { CallCounts, type CalledBefore } from '../events/call-counts.js';
import { type EndedCall, serverError } from '../events/call-event.js';
import { type CallRecordOptions, CallRecords } from '../events/call-records.js';
import type { EventBus, Topic } from '../events/event-bus.js';
import { History, type Totals } from '../events/history.js';
import { type ActorOwners, type Change, type Chart, Journal } from '../events/journal.js';
import type { JournalStore } from '../events/journal-file.js';
import { MessageTap, type MessageTapOptions } from '../events/message-tap.js';
import { MemoryBudget } from '../memory/memory-budget.js';
import { RecentMemory } from '../memory/recent-memory.js';
import { GroupMemory, type MemoryOf } from '../memory/rss.js';
import type { PinKeeping, PinPolicy } from '../pins/pinning.js';
import type { KeepText } from '../routing/result-limit.js';
import { ConfiguredServer } from '../server/configured-server.js';
import { Permits } from '../server/permits.js';
import type { ServerDeps } from '../server/server-deps.js';
import { ServerPool } from '../server/server-pool.js';
import { identityOf } from '../spec-identity.js';
import { startRoot } from './root.js';
import { memoryOf, toStatus } from './status.js';

export interface HerdOptions
  extends MessageTapOptions,
    Pick<CallRecordOptions, 'callerOf' | 'recorded' | 'audit'> {
  /** The agent, where the herd is one agent's alone. */
  agent?: string | undefined;
  random(): number;
  /** `key`: of the server in the herd, for its log. */
  open(spec: ServerSpec, incarnation: number, on: LinkEvents, key: string): Link;
  maxStarting: number;
  /** For how long a list of the whole herd waits for servers whose list is not known; looked at with each. */
  listWaitMs(): number;
  /** Of public names, for callers that chose none. Default: `__`. */
  separator?(): Separator;
  /** Where text over `result_limit` goes. `owner`: who may read it by its id. */
  keepText?(text: string, owner?: string): ReturnType<KeepText>;
  /** The lists from an earlier daemon. */
  catalogs?: CatalogStore;
  /** Which tools were called before this herd began; a search asks once. */
  calledBefore?: CalledBefore;
  /** The journals from an earlier daemon. */
  journals?: JournalStore;
  /** The pins of tools. */
  pins?: Omit<PinKeeping, 'redact'>;
  /** How the memory of processes is read; default: as the system tells. */
  memoryOf?: MemoryOf;
  /** Reports a problem of the whole herd. */
  warn?(text: string): void;
  /** Vectors of texts, for searches; undefined: words alone rank. */
  vectors?(): ToolVectors | undefined;
  /** How a server with npx is run; undefined for any other. */
  runnerOf?(spec: ServerSpec): Pick<ServerStatus, 'runner' | 'package'> | undefined;
  /** What `status` shows of a server of another herd, or of the connection to one; undefined for any other. */
  mirrorOf?(spec: ServerSpec): Partial<ServerStatus> | undefined;
  /** The nodes of the cluster that have a server, too. */
  peersOf?: ServerDeps['peersOf'];
  /** Sends an order to the daemons that keep servers of other herds. */
  orderElsewhere?(order: Order, specs: readonly HerdServerSpec[], wait: boolean): Promise<void>;
}

const NAMED_LISTS = ['tools', 'prompts'] as const;

/** A view, as far as the core knows it. */
export interface ViewSubscriber {
  has(server: ConfiguredServer): boolean;
  /** Its servers, or the one of this name. */
  visibles(name?: string): readonly VisibleServer[];
  readonly events: EventBus;
  /** A list of one of its servers has changed. */
  catalogChanged(): void;
  /** A change of a server's list, as far as the view has it. Undefined: it has none of it. */
  shownChange(server: string, change: CatalogChange): CatalogChange | undefined;
}

/** A server as a view shows it. */
export interface VisibleServer {
  server: ConfiguredServer;
  /** The agent it belongs to; null: shared. */
  agent: string | null;
  /** Every agent has its own server; this one is shown in their place. */
  isPlaceholder: boolean;
  /** Only other views have it. */
  isOther?: true;
}

/** What all views share: one root actor, one journal, and every server once for each identity. */
export class HerdCore {
  readonly clock: Clock;
  readonly pool: ServerPool;
  readonly messageTap: MessageTap;
  readonly budget: MemoryBudget;
  readonly callCounts: CallCounts;
  readonly recorder: History;
  readonly #options: HerdOptions;
  readonly #memoryOf: MemoryOf;
  readonly #recentMemoryOf: MemoryOf;
  readonly #journal: Journal;
  readonly #records: CallRecords;
  readonly #subscribers = new Set<ViewSubscriber>();
  readonly #startedAt: string;
  /** The owner tags of log lines by key, kept while the server stops. */
  readonly #logOwnerTags = new Map<string, string | undefined>();
  /** What the stored journals call each server, by key. */
  readonly #journalIds = new Map<string, string>();
  #requests = 0;
  #state: 'open' | 'ending' = 'open';

  constructor(options: HerdOptions) {
    this.#options = options;
    const { clock, random, maxStarting } = options;
    this.clock = clock;
    this.callCounts = new CallCounts(options.calledBefore);
    this.#startedAt = isoDateOf(clock);
    this.#records = new CallRecords(options, {
      hasListeners: () => this.#hasListeners('call'),
      emit: (name, key, describe) => {
        if (key !== undefined) this.#emit('call', key, describe);
        else for (const { events } of this.#subscribers) events.emit('call', name, describe);
      },
    });
    const emit: EventBus['emit'] = (topic, key, describe) => this.#emit(topic, key, describe);
    this.messageTap = new MessageTap(
      options,
      { emit },
      (key) => this.pool.at(key)?.snapshot().incarnation ?? 0,
    );
    const owners: ActorOwners = new Map();
    this.#journal = new Journal(
      owners,
      () => dateOf(clock),
      (text) => options.redact(text),
      (change) => this.#changed(change),
    );
    const { keep, release } = startRoot({
      clock,
      owners,
      inspect: this.#journal.inspect,
      broke: (key, error) => this.messageTap.note(key, `a fault in toolherd itself: ${String(error)}`),
    });
    const permits = new Permits(maxStarting);
    const now = () => clock.now();
    const meter = new GroupMemory(now);
    this.#memoryOf = options.memoryOf ?? meter.of;
    this.#recentMemoryOf = options.memoryOf ?? new RecentMemory(meter, now).of;
    const warn = (text: string) => options.warn?.(text);
    const budget = new MemoryBudget({ clock, memoryOf: this.#memoryOf, warn });
    this.budget = budget;
    this.recorder = new History(clock, () => this.#totals());
    const { catalogs } = options;
    const pins = options.pins && { ...options.pins, redact: options.redactFor };
    let generation = 0;
    this.pool = new ServerPool({
      create: (spec, key, predecessor) => {
        generation += 1;
        this.#logOwnerTags.set(key, logOwnerTag(spec, `${this.#startedAt} ${generation}`));
        this.#recallJournal(spec, key);
        const deps = {
          key,
          clock,
          random,
          permits,
          keep: (id: string, chart: Chart, logic: AnyActorLogic, input: unknown) =>
            keep(key, id, chart, logic, input),
          release,
          catalogs,
          pins,
          budget,
          peersOf: options.peersOf,
          open: this.messageTap.tap((...link) => options.open(...link, key), key),
          log: (text: string) => this.messageTap.note(key, text),
          nodesChanged: (why: string) => this.#nodesChanged(key, why),
          catalogChanged: (change: CatalogChange) => this.#catalogChanged(key, change),
          called: (call: EndedCall) => {
            const line = serverErrorLine(call, (value) => this.redactFor(spec, value));
            if (line !== undefined) this.messageTap.note(key, line);
            this.called(spec.name, key, call);
          },
        };
        return new ConfiguredServer(spec, generation, deps, predecessor);
      },
      forgotten: (key) => {
        this.#journal.forget(key);
        this.#journalIds.delete(key);
        this.#logOwnerTags.delete(key);
        this.callCounts.forget(key);
        this.recorder.forget(key);
      },
    });
  }

  redact<T>(value: T): T {
    return this.#options.redact(value);
  }

  redactFor<T>(spec: ServerSpec, value: T): T {
    return this.#options.redactFor(spec, value);
  }

  vectors(): ToolVectors | undefined {
    return this.#options.vectors?.();
  }

  keepText(text: string, owner?: string): ReturnType<KeepText> {
    return this.#options.keepText?.(text, owner) ?? Promise.resolve(undefined);
  }

  listWaitMs(): number {
    return this.#options.listWaitMs();
  }

  separator(): Separator {
    return this.#options.separator?.() ?? DEFAULT_SEPARATOR;
  }

  pinPolicy(): PinPolicy {
    return this.#options.pins?.policy() ?? 'off';
  }

  /** Reports a problem of the whole herd. */
  warn(text: string): void {
    this.#options.warn?.(text);
  }

  log(key: string, text: string): void {
    this.#options.log(key, text);
  }

  /** Deletes the files of servers that were not configured for long. */
  async pruneFiles(): Promise<void> {
    const { catalogs, pins } = this.#options;
    const identities = this.pool.servers.map(({ spec }) => identityOf(spec));
    const pinned = this.pool.servers.flatMap(({ pinning }) => pinning?.identity ?? []);
    await Promise.allSettled([catalogs?.prune(identities), pins?.store.prune(pinned)]);
  }

  join(subscriber: ViewSubscriber): void {
    this.#subscribers.add(subscriber);
  }

  leave(subscriber: ViewSubscriber): void {
    this.#subscribers.delete(subscriber);
  }

  /** Every server, or every one of this name, that only other views than this one have. */
  others(one: ViewSubscriber, name?: string): VisibleServer[] {
    const found = new Map<ConfiguredServer, VisibleServer>();
    for (const visible of [...this.#subscribers].flatMap((subscriber) => subscriber.visibles(name))) {
      const { server, isPlaceholder } = visible;
      if (!isPlaceholder && !one.has(server) && !found.has(server))
        found.set(server, { ...visible, isOther: true });
    }
    return [...found.values()];
  }

  /** The owner tag of a server's lines in the log that it shares with others of its name; undefined: shared by all. */
  logOwnerTag(key: string): string | undefined {
    return this.#logOwnerTags.get(key);
  }

  /** Writes into the journal of a server. */
  noteInJournal(key: string, incarnation: number, text: string): void {
    this.#journal.note(key, incarnation, text);
    this.#keepJournal(key);
  }

  journalOf({ key }: ConfiguredServer) {
    return [...this.#journal.of(key)];
  }

  status(visibles: readonly VisibleServer[], lens?: ProfileLens): ServerStatus[] {
    // looked up once for all
    const memory = this.#recentMemoryOf(visibles.flatMap(({ server }) => server.snapshot().pids));
    return visibles.map(({ server, agent, isOther }) => {
      // a changed entry has the key, and so the journal, of the server that it replaces
      const changedAt = Date.parse(this.#journal.since(server.key) ?? this.#startedAt);
      const since = new Date(Math.max(server.addedAt, changedAt)).toISOString();
      const redact = (text: string) => this.redactFor(server.spec, text);
      const runner = server.spec.enabled ? this.#options.runnerOf?.(server.spec) : undefined;
      const options = { agent, isOther, since, redact, memory, runner, lens, clock: this.clock };
      const mirror = this.#options.mirrorOf?.(server.spec);
      return { ...toStatus(server, options), ...mirror };
    });
  }

  history(visibles: readonly VisibleServer[], minutes?: number): FleetHistory {
    const servers = visibles.map(({ server, agent }) => ({ key: server.key, name: server.spec.name, agent }));
    return this.recorder.read(servers, minutes);
  }

  /** The calls of all servers that have no outcome, by their callers. The names of tools are as redacted as in the audit. */
  openCalls(): Map<string, OpenCall[]> {
    const byCaller = new Map<string, OpenCall[]>();
    for (const server of [...this.pool.servers, ...this.pool.retiring]) {
      for (const { method, params, caller, begunAt } of server.openCalls()) {
        if (caller === undefined) continue;
        const tool = method === 'tools/call' && typeof params?.name === 'string' ? params.name : null;
        const since = isoDateOf(this.clock, begunAt);
        const open = byCaller.get(caller) ?? [];
        open.push(this.redact({ server: server.spec.name, tool, method, since }));
        byCaller.set(caller, open);
      }
    }
    return byCaller;
  }

  async orderElsewhere(order: Order, specs: readonly HerdServerSpec[], wait: boolean): Promise<void> {
    if (specs.length > 0) await this.#options.orderElsewhere?.(order, specs, wait);
  }

  /** The daemon of another herd says that one of its servers changed its state. */
  emitState({ topic, server: name, ...event }: StateEvent): void {
    for (const subscriber of this.#subscribers) {
      const [visible] = subscriber.visibles(name);
      if (visible?.server.spec.transport === 'herd') subscriber.events.emit(topic, name, () => event);
    }
  }

  /** The pins of these identities have changed, or, without identities, the policy for all. */
  recheckPins(identities?: ReadonlySet<string>): void {
    for (const server of this.pool.servers)
      if (server.pinning !== undefined && identities?.has(server.pinning.identity) !== false)
        server.recheckPins();
  }

  /** The separator of public names has changed: agents get an event, so that they list again. */
  renamed(): void {
    for (const subscriber of this.#subscribers) {
      subscriber.catalogChanged();
      for (const { server } of subscriber.visibles()) {
        for (const list of NAMED_LISTS) {
          const count = server.catalog.knownLists()[list]?.length ?? 0;
          const change = { list, count, added: [], removed: [], changed: [] };
          subscriber.events.emit('catalog', server.spec.name, () => ({ ...change, at: this.now() }));
        }
      }
    }
  }

  /** The lowest level of log messages that a subscriber of any view wants of this server. */
  wantedLogLevel(key: string): McpLevel | undefined {
    const server = this.pool.at(key);
    if (server === undefined) return undefined;
    const views = [...this.#subscribers].filter((subscriber) => subscriber.has(server));
    return lowestMcpLevel(views.map(({ events }) => events.wantedLevel(server.spec.name)));
  }

  /** From now on nothing starts. */
  end(): void {
    this.#state = 'ending';
  }

  /** Throws while the herd shuts down: an order would start servers again. */
  checkOpen(): void {
    if (this.#state === 'open') return;
    throw shuttingDown();
  }

  now(): string {
    return isoDateOf(this.clock);
  }

  /** For calls without a request id: unique in all views. */
  newRequestId(): string {
    this.#requests += 1;
    return `${process.pid}-${this.#requests}`;
  }

  /** A request has its outcome. Without a server, every view gets the event. */
  called(name: string, key: string | undefined, call: EndedCall): void {
    if (key !== undefined) this.callCounts.add(key, call);
    this.#records.add(name, key, call);
  }

  /** Writes the records of all requests that have ended. */
  flushRecords(): void {
    this.#records.flush();
  }

  #totals(): Totals[] {
    const servers = this.pool.servers.map((server) => ({ server, snapshot: server.snapshot() }));
    const memory = this.#recentMemoryOf(servers.flatMap(({ snapshot }) => snapshot.pids));
    return servers.map(({ server: { key, calls, failures }, snapshot: { pids, restarts } }) => {
      return { key, calls, failures, restarts, rssBytes: memoryOf(pids, memory) };
    });
  }

  #hasListeners(topic: Topic): boolean {
    for (const { events } of this.#subscribers) if (events.hasListeners(topic)) return true;
    return false;
  }

  /** Only views that have the server get the event. */
  #emit<T extends Topic>(
    topic: T,
    key: string,
    describe: Parameters<typeof EventBus.prototype.emit<T>>[2],
  ): void {
    const server = this.pool.at(key);
    if (server === undefined) return;
    for (const subscriber of this.#subscribers) {
      if (subscriber.events.hasListeners(topic) && subscriber.has(server))
        subscriber.events.emit(topic, server.spec.name, describe);
    }
  }

  /** Other nodes of the cluster do with this server what `why` says. */
  #nodesChanged(key: string, why: string): void {
    const server = this.pool.at(key);
    if (server === undefined) return;
    const { incarnation, state, detail } = server.snapshot();
    this.noteInJournal(key, incarnation, why);
    this.#emit('state', key, () => ({ incarnation, state, detail, cause: why, at: this.now() }));
  }

  #catalogChanged(key: string, change: CatalogChange): void {
    const server = this.pool.at(key);
    for (const subscriber of this.#subscribers) {
      if (server !== undefined && subscriber.has(server)) subscriber.catalogChanged();
    }
    if (server === undefined) return;
    for (const subscriber of this.#subscribers) {
      if (!subscriber.events.hasListeners('catalog') || !subscriber.has(server)) continue;
      const shown = subscriber.shownChange(server.spec.name, change);
      if (shown === undefined) continue;
      subscriber.events.emit('catalog', server.spec.name, () => ({ ...shown, at: this.now() }));
    }
  }

  #recallJournal(spec: ServerSpec, key: string): void {
    const id = journalId(spec);
    if (id === undefined) return;
    this.#journalIds.set(key, id);
    this.#journal.recall(key, this.#options.journals?.recall(id) ?? []);
  }

  #keepJournal(key: string): void {
    const id = this.#journalIds.get(key);
    if (id !== undefined) this.#options.journals?.keep(id, this.#journal.of(key));
  }

  #changed({ key, incarnation, cause, at, state, detail }: Change): void {
    this.#keepJournal(key);
    // the daemon of its herd says how the server does; here only the connection to it has changed
    if (this.pool.at(key)?.spec.transport === 'herd') return;
    this.#emit('state', key, () => {
      const shown = detail ?? this.pool.at(key)?.snapshot().detail;
      return shown && { incarnation, state, detail: shown, cause, at };
    });
  }
}

/** More of a server's message or data is not logged. */
const LOGGED_CHARACTERS = 500;

/** A line for the log about a request that the server answered with a JSON-RPC error. */
function serverErrorLine({ request, outcome }: EndedCall, redact: <T>(value: T) => T): string | undefined {
  const said = outcome.ok ? undefined : serverError(outcome.error);
  if (said === undefined) return undefined;
  // before it is cut: half a secret would not be found
  const rpc = redact(said);
  const { method, params } = request;
  const named = typeof params?.name === 'string' ? ` of ${params.name}` : '';
  const data = rpc.data === undefined ? '' : `; data: ${JSON.stringify(rpc.data)}`;
  return `it answered ${method}${named} with error ${rpc.code}: ${shortened(rpc.message)}${shortened(data)}`;
}

function shortened(text: string): string {
  return text.length > LOGGED_CHARACTERS ? `${text.slice(0, LOGGED_CHARACTERS)}…` : text;
}

/** The same in every daemon. Undefined for the server of one connection, which no later daemon has. */
function journalId(spec: ServerSpec): string | undefined {
  const { name, sharing, origin } = spec;
  if (sharing === 'per-agent') return undefined;
  if (sharing === 'shared') return JSON.stringify([origin.file, name]);
  // a remote server knows its folder by its roots
  const folder = spec.transport === 'stdio' ? spec.cwd : spec.roots.map(({ uri }) => uri).join(' ');
  return JSON.stringify([origin.file, name, folder]);
}

/**
 * The owner of a line in a log that several servers of one name share: an agent's file, or one agent's server. Undefined
 * for shared servers: most logs have no tags. `life`: unique for each server.
 */
function logOwnerTag({ sharing, origin }: ServerSpec, life: string): string | undefined {
  if (sharing !== 'shared') return life;
  return origin.scope === 'agent' ? origin.file : undefined;
}
