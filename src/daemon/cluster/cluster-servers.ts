import type { ClusterNode } from '../../cluster/cluster.js';
import type { HerdServerSpec, Origin, ServerSpec } from '../../config/fields/spec.js';
import { clusterServerSpec, nodeServerSpec } from '../../config/node-servers.js';
import type { ServerState } from '../../fleet/fleet.js';
import { HERD_SEPARATOR } from '../../shared/mcp/separators.js';
import { nameFilter } from '../../shared/text/glob.js';
import type { PeerReplica, Peers } from '../../supervisor/cluster/peers.js';

/** One server, and the nodes that have it. */
interface Group {
  spec: ServerSpec;
  /** Its name there. */
  remoteName: string;
  /** Names of the nodes, in order. */
  nodes: string[];
}

interface Connection {
  instance: string;
  spec: HerdServerSpec;
  reports: number;
  replica: PeerReplica | undefined;
}

/**
 * Which server of another node is which one here: equal entries are one server with replicas on several nodes. An entry of this
 * config keeps its name; another server of that name is called NODE/NAME, and so are servers of two nodes with one name and
 * different entries.
 */
export class ClusterServers {
  readonly #origin: Origin;
  #nodes: ReadonlyMap<string, ClusterNode> = new Map();
  /** By name and identity. The same object for as long as the server is there. */
  #own: readonly ServerSpec[] = [];
  #groups: ReadonlyMap<string, Group> = new Map();
  /** The names here of the servers that a node offers. */
  #namesOf: ReadonlyMap<string, readonly string[]> = new Map();
  readonly #listeners = new Map<string, Set<() => void>>();
  /** By the name here, then by node. */
  readonly #connections = new Map<ServerSpec, Map<string, Connection>>();
  readonly #made = new Map<string, ServerSpec>();
  #uses: (name: string) => boolean = () => true;

  /** `file`: the config, which names the cluster. */
  constructor(file: string) {
    this.#origin = { scope: 'global', file, line: 1, column: 1 };
  }

  /** The servers that only other nodes have. */
  get specs(): ServerSpec[] {
    return [...this.#groups.values()]
      .map(({ spec }) => spec)
      .filter(({ transport }) => transport === 'cluster');
  }

  /** The given servers, and behind them those of other nodes. Where both have a name, the given one wins. */
  with(specs: readonly ServerSpec[]): ServerSpec[] {
    const names = new Set(specs.map(({ name }) => name));
    return [...specs, ...this.specs.filter(({ name }) => !names.has(name))];
  }

  /** The config has these servers and uses these of other nodes. */
  configure(own: readonly ServerSpec[], use: readonly string[]): void {
    this.#own = own;
    this.#uses = nameFilter(use);
    this.#regroup();
  }

  /** The other nodes. True where other servers are there than before. */
  update(nodes: readonly ClusterNode[]): boolean {
    const before = this.specs;
    this.#nodes = new Map(nodes.map((node) => [node.name, node]));
    this.#regroup();
    for (const listeners of [...this.#listeners.values()]) for (const listen of [...listeners]) listen();
    const now = this.specs;
    return before.length !== now.length || before.some((spec, index) => spec !== now[index]);
  }

  /** A node has said how busy it is. */
  reported(node: ClusterNode): void {
    this.#nodes = new Map([...this.#nodes, [node.name, node]]);
    for (const name of this.#namesOf.get(node.name) ?? [])
      for (const listen of [...(this.#listeners.get(name) ?? [])]) listen();
  }

  readonly peersOf = (spec: ServerSpec): Peers | undefined => {
    if (spec.cluster === undefined) return undefined;
    const { name } = spec;
    return {
      list: () => this.#list(spec),
      onChange: (listener) => {
        const listen = () => listener();
        const listeners = this.#listeners.get(name) ?? new Set();
        this.#listeners.set(name, listeners.add(listen));
        return () => {
          listeners.delete(listen);
          if (listeners.size === 0 && this.#listeners.get(name) === listeners) this.#listeners.delete(name);
        };
      },
    };
  };

  #list(spec: ServerSpec): PeerReplica[] {
    const group = this.#groups.get(spec.name);
    if (group === undefined || group.spec.cluster?.identity !== spec.cluster?.identity) return [];
    return group.nodes.flatMap((name) => this.#replica(spec, group.remoteName, name) ?? []);
  }

  #replica(spec: ServerSpec, remoteName: string, name: string): PeerReplica | undefined {
    const node = this.#nodes.get(name);
    const server = node?.servers.find((offered) => offered.name === remoteName);
    if (node === undefined || server === undefined || node.state !== 'up') return undefined;
    const connections = this.#connections.get(spec) ?? new Map<string, Connection>();
    this.#connections.set(spec, connections);
    let known = connections.get(name);
    if (known?.instance !== node.instance) {
      known = {
        instance: node.instance,
        spec: nodeServerSpec(spec, name, remoteName),
        reports: -1,
        replica: undefined,
      };
      connections.set(name, known);
    }
    if (known.reports === node.reports && known.replica !== undefined) return known.replica;
    known.reports = node.reports;
    known.replica = {
      node: name,
      spec: known.spec,
      state: server.state as ServerState,
      isReady: server.ready,
      mayStart: server.may_start,
      load: server.in_flight,
    };
    return known.replica;
  }

  #regroup(): void {
    const own = new Map(this.#own.map((spec) => [spec.name, spec]));
    const offers = [...this.#nodes.values()].flatMap(({ name: node, servers }) =>
      servers.filter(({ name }) => this.#uses(name)).map(({ name, identity }) => ({ node, name, identity })),
    );
    const identities = new Map<string, Set<string>>();
    for (const { name, identity } of offers)
      identities.set(name, (identities.get(name) ?? new Set()).add(identity));
    const groups = new Map<string, Group>();
    for (const spec of this.#own)
      if (spec.cluster !== undefined) groups.set(spec.name, { spec, remoteName: spec.name, nodes: [] });
    for (const { node, name, identity } of offers) {
      const ours = own.get(name);
      const isOne =
        ours === undefined ? identities.get(name)?.size === 1 : ours.cluster?.identity === identity;
      const shown = isOne ? name : `${node}${HERD_SEPARATOR}${name}`;
      if (!isOne && own.has(shown)) continue;
      const group = groups.get(shown) ?? { spec: this.#specOf(shown, identity), remoteName: name, nodes: [] };
      group.nodes.push(node);
      groups.set(shown, group);
    }
    this.#groups = groups;
    const namesOf = new Map<string, string[]>();
    for (const [name, { nodes }] of groups)
      for (const node of nodes) {
        const names = namesOf.get(node) ?? [];
        names.push(name);
        namesOf.set(node, names);
      }
    this.#namesOf = namesOf;
    const used = new Set([...groups.values()].map(({ spec }) => spec));
    for (const spec of this.#connections.keys()) if (!used.has(spec)) this.#connections.delete(spec);
    for (const [key, spec] of this.#made) if (!used.has(spec)) this.#made.delete(key);
  }

  #specOf(name: string, identity: string): ServerSpec {
    const key = `${identity} ${name}`;
    const spec = this.#made.get(key) ?? clusterServerSpec(name, identity, this.#origin);
    this.#made.set(key, spec);
    return spec;
  }
}
