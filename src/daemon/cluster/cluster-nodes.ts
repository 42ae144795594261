import type { Duplex } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import type { Cluster, OfferedServer } from '../../cluster/cluster.js';
import type { ClusterSpec, HerdServerSpec, ServerSpec } from '../../config/fields/spec.js';
import type { ClusterStatus, ClusterSummary } from '../../fleet/cluster.js';
import type { LogEntry, LogParams, ServerState } from '../../fleet/fleet.js';
import { Peer } from '../../ipc/jsonrpc/peer.js';
import type { FleetProvider } from '../../ipc/server/fleet-provider.js';
import { TransportError } from '../../link/failures/transport-failure.js';
import type { HerdPort } from '../../link/remote/remote-transport.js';
import { withTimeout } from '../../shared/async.js';
import { type Clock, dateOf } from '../../shared/clock.js';
import { messageOf } from '../../shared/errors.js';
import { nameFilter } from '../../shared/text/glob.js';
import { VERSION } from '../../shared/version.js';
import type { Peers } from '../../supervisor/cluster/peers.js';
import type { OwnReplicas } from '../../supervisor/server/configured-server.js';
import { ClusterServers } from './cluster-servers.js';
import { type NodeFleetOptions, nodeFleets } from './node-fleet.js';

export interface ClusterNodesOptions {
  clock: Clock;
  /** The config. */
  file: string;
  /** The global herd. */
  fleet(): NodeFleetOptions['fleet'];
  /** What this daemon has logged of a server of the global herd. */
  ownLogs: NodeFleetOptions['ownLogs'];
  /** What of a server of the global herd runs here. */
  ownOf(name: string): OwnReplicas | undefined;
  /** Calls the listener when a server of the global herd has changed its state. Returns the function that ends it. */
  onState(listen: () => void): () => void;
  /** Other servers of other nodes are there now: the views get them. */
  changed(): void;
  /** Serves a connection of another node. */
  accept(stream: Duplex, node: string, fleets: FleetProvider): void;
  log(text: string): void;
}

/** How often this node looks how busy its servers are. */
const LOOK_MS = 500;
const SOON_MS = 20;
/** A node that is slow to send its log is left out. */
const LOGS_MS = 3000;
const MOST_LOG_BYTES = 2 ** 24;
const LATENCY_MS = 1000;

/** The cluster of the config: this daemon as a node of it, and the servers of the other nodes in this herd. */
export class ClusterNodes {
  readonly #options: ClusterNodesOptions;
  readonly #servers: ClusterServers;
  readonly #latencies = new Map<string, number | null>();
  #measuredAt = Number.NEGATIVE_INFINITY;
  #spec: ClusterSpec | undefined;
  #own: readonly ServerSpec[] = [];
  /** The entries that other nodes may use, by name. */
  #offered: ReadonlyMap<string, ServerSpec> = new Map();
  #cluster: Cluster | undefined;
  /** Counts configurations: one that is loaded late is not opened. */
  #opening = 0;
  #timer: unknown;
  #offering: unknown;
  #forgetStates: () => void = () => undefined;

  constructor(options: ClusterNodesOptions) {
    this.#options = options;
    this.#servers = new ClusterServers(options.file);
  }

  /** There is a cluster in the config. */
  get isConfigured(): boolean {
    return this.#spec !== undefined;
  }

  /** The config has this cluster and these servers now. */
  configure(spec: ClusterSpec | undefined, own: readonly ServerSpec[]): void {
    this.#own = own.filter(({ transport }) => transport !== 'cluster');
    this.#servers.configure(this.#own, spec?.use ?? []);
    const isSame = isDeepStrictEqual(withoutChoice(spec), withoutChoice(this.#spec));
    this.#spec = spec;
    this.#offered = offeredOf(this.#own, spec);
    if (isSame) this.#offer();
    else void this.#open();
  }

  readonly peersOf = (spec: ServerSpec): Peers | undefined =>
    this.isConfigured ? this.#servers.peersOf(spec) : undefined;

  /** The given servers, and behind them those of other nodes. */
  with(specs: readonly ServerSpec[]): ServerSpec[] {
    return this.#servers.with(specs);
  }

  /** The node that has the server. */
  portOf({ herd: node }: HerdServerSpec): HerdPort {
    return {
      dial: async () => {
        if (this.#cluster !== undefined) return this.#cluster.open(node);
        throw away(node, 'this daemon is in no cluster');
      },
      // each stream says why it broke
      onLost: () => () => undefined,
    };
  }

  status(): ClusterStatus {
    const spec = this.#spec;
    const {
      state,
      why,
      since = dateOf(this.#options.clock),
      isDraining = false,
      nodes = [],
    } = this.#cluster ?? {};
    const at = (date: number) => new Date(date).toISOString();
    this.#measure();
    const self: ClusterStatus['nodes'][number] = {
      name: spec?.node ?? '',
      self: true,
      version: VERSION,
      state: state !== 'connected' ? 'away' : isDraining ? 'draining' : 'up',
      since: at(since),
      latency_ms: null,
      servers: this.#offers().map(shown),
    };
    const others = [...nodes].sort((a, b) => a.name.localeCompare(b.name));
    return {
      engine: 'nats',
      name: spec?.name ?? null,
      node: spec?.node ?? null,
      state: state ?? 'connecting',
      ...(why === undefined ? {} : { why }),
      since: at(since),
      draining: isDraining,
      servers_url: [...(spec?.servers ?? [])],
      nodes: [
        self,
        ...others.map((node) => ({
          name: node.name,
          self: false,
          version: node.version,
          state: node.state,
          since: at(node.since),
          latency_ms: node.state === 'away' ? null : (this.#latencies.get(node.name) ?? null),
          servers: node.servers.map(shown),
        })),
      ],
    };
  }

  summary(): ClusterSummary | null {
    if (this.#spec === undefined) return null;
    const { name, node } = this.#spec;
    const { state = 'connecting', why, isDraining = false, nodes = [] } = this.#cluster ?? {};
    const up = nodes.filter((other) => other.state === 'up').length;
    return { name, node, state, ...(why === undefined ? {} : { why }), draining: isDraining, nodes: up };
  }

  /** Takes no more calls of other nodes. These close their connections when their calls in flight have ended. */
  async drain(): Promise<void> {
    this.#cluster?.drain();
  }

  async undrain(): Promise<void> {
    this.#cluster?.undrain();
  }

  /** What the nodes that have the server logged of it. */
  async logs(spec: ServerSpec, params: LogParams): Promise<LogEntry[]> {
    const nodes = this.#servers.peersOf(spec)?.list() ?? [];
    const logs = await Promise.all(
      nodes.map(({ spec: there }) => this.#logsOf(there, params).catch(() => [])),
    );
    return logs.flat().map((entry) => ({ ...entry, server: spec.name }));
  }

  async close(): Promise<void> {
    this.#opening += 1;
    await this.#leave();
  }

  async #open(): Promise<void> {
    this.#opening += 1;
    const opening = this.#opening;
    const spec = this.#spec;
    try {
      await this.#leave();
      if (spec === undefined || opening !== this.#opening) return;
      // the client of NATS is loaded only for a cluster
      const { openCluster } = await import('../../cluster/cluster.js');
      if (opening !== this.#opening) return;
      const { clock, log, onState } = this.#options;
      this.#forgetStates = onState(() => this.#offerSoon());
      this.#cluster = openCluster(spec, {
        ...{ clock, log, away },
        accept: (stream, node) => this.#accept(spec, stream, node),
        changed: () => this.#update(),
        reported: (name) => this.#report(name),
      });
      this.#look();
    } catch (error) {
      this.#options.log(`the cluster cannot be opened: ${messageOf(error)}`);
    }
  }

  async #logsOf({ herd: node, remoteName: server }: HerdServerSpec, params: LogParams): Promise<LogEntry[]> {
    const stream = await this.#cluster?.open(node);
    if (stream === undefined) return [];
    const peer = new Peer(stream, { maxLineBytes: MOST_LOG_BYTES, badLines: 'fatal' });
    try {
      const answer = await withTimeout(
        LOGS_MS,
        peer.request('fleet/logs', { ...params, server }),
        this.#options.clock,
      );
      return ((answer as { entries?: LogEntry[] } | undefined)?.entries ?? []).map((entry) => ({
        ...entry,
        node,
      }));
    } finally {
      peer.destroy();
    }
  }

  async #leave(): Promise<void> {
    const { clock } = this.#options;
    clock.clearTimeout(this.#timer);
    clock.clearTimeout(this.#offering);
    this.#offering = undefined;
    this.#forgetStates();
    const left = this.#cluster;
    this.#cluster = undefined;
    this.#update();
    await left?.close();
  }

  #accept(spec: ClusterSpec, stream: Duplex, node: string): void {
    const { accept, fleet, ownLogs } = this.#options;
    const isShared = (name: string) => this.#offered.has(name);
    const isDraining = () => this.#cluster?.isDraining === true;
    accept(stream, node, nodeFleets({ fleet: fleet(), ownLogs, node: spec.node, isShared, isDraining }));
  }

  #update(): void {
    if (this.#servers.update(this.#cluster?.nodes ?? [])) this.#options.changed();
  }

  #report(name: string): void {
    const node = this.#cluster?.node(name);
    if (node !== undefined) this.#servers.reported(node);
  }

  #look(): void {
    this.#offer();
    this.#timer = this.#options.clock.setTimeout(() => this.#look(), LOOK_MS);
  }

  /** A herd that starts has many changes at once. */
  #offerSoon(): void {
    this.#offering ??= this.#options.clock.setTimeout(() => {
      this.#offering = undefined;
      this.#offer();
    }, SOON_MS);
  }

  #offer(): void {
    this.#cluster?.publish(this.#offers());
  }

  #offers(): OfferedServer[] {
    return [...this.#offered.values()].flatMap(({ name, cluster }) => {
      const own = this.#options.ownOf(name);
      if (own === undefined || cluster === undefined) return [];
      const { state, detail, isReady: ready, mayStart, inFlight } = own;
      const { identity, balanced } = cluster;
      return [
        { name, identity, state, detail, ready, may_start: mayStart, cluster: balanced, in_flight: inFlight },
      ];
    });
  }

  /** For the next answer: a status does not wait for nodes that are slow. */
  #measure(): void {
    const { clock } = this.#options;
    const cluster = this.#cluster;
    if (cluster === undefined || clock.now() - this.#measuredAt < LATENCY_MS) return;
    this.#measuredAt = clock.now();
    for (const { name } of cluster.nodes) void cluster.ping(name).then((ms) => this.#latencies.set(name, ms));
  }
}

function away(node: string, why: string): TransportError {
  return new TransportError({ kind: 'node', node, why });
}

/** The entries that other nodes may use. */
function offeredOf(own: readonly ServerSpec[], spec: ClusterSpec | undefined): Map<string, ServerSpec> {
  const isShared = nameFilter(spec?.share ?? []);
  const offered = own.filter(
    ({ name, cluster }) => cluster?.isPlacedHere === true && (cluster.balanced || isShared(name)),
  );
  return new Map(offered.map((one) => [one.name, one]));
}

/** What needs another connection where it changes. */
function withoutChoice(spec: ClusterSpec | undefined): Partial<ClusterSpec> | undefined {
  if (spec === undefined) return undefined;
  const { share: _, use: __, ...connection } = spec;
  return connection;
}

function shown({
  name,
  state,
  in_flight,
  cluster,
}: OfferedServer): ClusterStatus['nodes'][number]['servers'][number] {
  return { name, state: state as ServerState, in_flight, cluster };
}
