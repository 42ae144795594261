/** Other nodes of a cluster for the supervisor: what they report is what the test says. */
import type { ClusterServerSpec, HerdServerSpec } from '../../../src/config/fields/spec.js';
import type { ServerState } from '../../../src/fleet/fleet.js';
import type { PeerReplica, Peers } from '../../../src/supervisor/cluster/peers.js';
import type { FakeLink } from '../fake-link.js';
import { spec, type World } from '../world.js';

const { command, args, cwd, encoding, startTimeoutMs, lifecycle, spares, stop, maxRss, ...COMMON } = spec();

/** The connection to the server on a node. */
export function peerSpec(node: string): HerdServerSpec {
  const reached = { url: `herd://${node}/srv`, headers: {}, timeoutMs: 30_000, restart: 'never' } as const;
  return { ...COMMON, ...reached, transport: 'herd', herd: node, remoteName: 'srv', maxRestarts: 1e9 };
}

/** A server that only other nodes have. */
export function clusterSpec(changes: Partial<ClusterServerSpec> = {}): ClusterServerSpec {
  const reached = { url: 'cluster://lab/srv', headers: {}, timeoutMs: 30_000 } as const;
  const cluster = { identity: 'id', balanced: false, isPlacedHere: false };
  return { ...COMMON, ...reached, transport: 'cluster', cluster, ...changes };
}

export class TestPeers implements Peers {
  readonly #peers = new Map<string, PeerReplica>();
  readonly #listeners = new Set<() => void>();

  list(): readonly PeerReplica[] {
    return [...this.#peers.values()];
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  get nodes(): string[] {
    return [...this.#peers.keys()];
  }

  /** A node reports: `connected` is ready, `created` may start, and others do not say that they can take calls. */
  reports(node: string, state: ServerState = 'connected', load = 0): void {
    this.#put(node, state, load);
    this.#tell();
  }

  /** One node leaves and another comes, in one report. */
  replaces(node: string, by: string): void {
    this.#peers.delete(node);
    this.#put(by, 'connected', 0);
    this.#tell();
  }

  #put(node: string, state: ServerState, load: number): void {
    const known = this.#peers.get(node)?.spec ?? peerSpec(node);
    const [isReady, mayStart] = [state === 'connected', state === 'created'];
    this.#peers.set(node, { node, spec: known, state, isReady, mayStart, load });
  }

  leaves(node: string): void {
    this.#peers.delete(node);
    this.#tell();
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

/** The links to a node, or those of this one. */
export function linksTo({ links }: World, node: string | undefined): FakeLink[] {
  return links.filter(({ spec: of }) => nodeOf(of) === node);
}

export function nodeOf(of: object): string | undefined {
  return 'herd' in of ? String(of.herd) : undefined;
}
