import type { HerdServerSpec } from '../../config/fields/spec.js';
import { type Clock, dateOf } from '../../shared/clock.js';
import type { Runner } from '../server/runner.js';
import { type Node, type OwnNode, PeerNode } from './node.js';
import type { PeerReplica, Peers } from './peers.js';
import { leftBy } from './refusals.js';

export interface NodesOptions {
  /** The server's name, for messages. */
  name: string;
  clock: Clock;
  /** Undefined: nothing of the server may run here. */
  own: OwnNode | undefined;
  /** Undefined: no other node can have it. */
  peers: Peers | undefined;
  /** Makes the connection to a node. */
  connect(node: () => PeerNode, spec: HerdServerSpec): Runner;
  /** Nodes have come, left, or can do something else than before; `why` says which. */
  changed(why: string): void;
}

/** The nodes that have one server, as they come and go. */
export class Nodes {
  readonly own: OwnNode | undefined;
  readonly #options: NodesOptions;
  readonly #peers = new Map<HerdServerSpec, PeerNode>();
  /** Nodes that have left, until their calls in flight have ended. */
  readonly #leaving = new Set<PeerNode>();
  readonly #forget: () => void;
  #all: readonly Node[] = [];
  #since: number;
  #isEnded = false;

  constructor(options: NodesOptions) {
    this.#options = options;
    const { clock, own, peers } = options;
    this.own = own;
    this.#since = dateOf(clock);
    for (const peer of peers?.list() ?? []) this.#join(peer);
    this.#order();
    this.#forget = peers?.onChange(() => this.#look()) ?? (() => undefined);
  }

  /** Those that may get a call; this one first. */
  get all(): readonly Node[] {
    return this.#all;
  }

  /** What the other nodes have reported. */
  get reports(): PeerReplica[] {
    return [...this.#peers.values()].map(({ peer }) => peer);
  }

  /** Since when the other nodes are as they are; a date. */
  get since(): number {
    return this.#since;
  }

  /** The connections to other nodes, of those that leave too. */
  get connections(): Runner[] {
    return [...this.#peers.values(), ...this.#leaving].flatMap(({ runner }) => runner ?? []);
  }

  get runners(): Runner[] {
    return this.own === undefined ? this.connections : [this.own.runner, ...this.connections];
  }

  /** No report changes anything from now on. The caller also closes and releases what runs. */
  end(): void {
    this.#isEnded = true;
    this.#forget();
  }

  #join(peer: PeerReplica): void {
    const { clock, connect } = this.#options;
    const node: PeerNode = new PeerNode(peer, clock, () => connect(() => node, peer.spec));
    this.#peers.set(peer.spec, node);
  }

  #order(): void {
    const peers = [...this.#peers.values()];
    this.#all = this.own === undefined ? peers : [this.own, ...peers];
  }

  #leave(node: PeerNode): void {
    if (node.runner === undefined) return;
    this.#leaving.add(node);
    node.leave(leftBy(this.#options.name, node.node));
    void node.runner.whenGone().then(() => {
      if (!this.#isEnded && this.#leaving.delete(node)) node.runner?.release();
    });
  }

  /** The nodes have reported. */
  #look(): void {
    const listed = new Map(this.#options.peers?.list().map((peer) => [peer.spec, peer]));
    const left = [...this.#peers.values()].filter(({ peer }) => !listed.has(peer.spec));
    const news = left.map(({ node }) => `node ${node} does not offer it any more`);
    for (const { peer } of left) this.#peers.delete(peer.spec);
    for (const peer of listed.values()) news.push(...this.#report(peer));
    if (news.length === 0) return;
    this.#order();
    this.#since = dateOf(this.#options.clock);
    // after the others have come: calls that waited there go to them
    for (const node of left) this.#leave(node);
    this.#options.changed(news.join('; '));
  }

  /** What is new by this report. */
  #report(peer: PeerReplica): string[] {
    const known = this.#peers.get(peer.spec);
    if (known === undefined) {
      this.#join(peer);
      return [`node ${peer.node} offers it (${peer.state})`];
    }
    const before = known.peer.state;
    known.report(peer);
    return before === peer.state ? [] : [`node ${peer.node}: ${before} → ${peer.state}`];
  }
}
