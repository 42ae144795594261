import type { HerdServerSpec, ServerSpec } from '../../config/fields/spec.js';
import type { BegunCall, CallHandle, CallRequest } from '../../link/calls/call.js';
import type { StartPurpose } from '../../machines/permit.js';
import type { Ending } from '../../machines/restart/ending.js';
import type { MCPError } from '../../shared/call-errors.js';
import type { CallSink } from '../../shared/call-sink.js';
import { type Clock, dateOf } from '../../shared/clock.js';
import type { ListsOwner } from '../catalog/lists.js';
import type { Runner } from '../server/runner.js';
import type { ServerSnapshot } from '../server/server-snapshot.js';
import { type Candidate, chooseNode } from './candidate.js';
import { type CallsHome, MovableCall } from './movable-call.js';
import { OwnNode, PeerNode } from './node.js';
import type { PeerReplica, Peers } from './peers.js';
import { leftBy, offeredNowhere, runsNotHere } from './refusals.js';
import { SharedLists } from './shared-lists.js';
import { snapshotOfNodes, withNodes } from './snapshot.js';

export interface ClusterRunnerOptions {
  spec: ServerSpec;
  clock: Clock;
  lists: ListsOwner;
  /** Absent: no other node can have it. */
  peers: Peers | undefined;
  /** Makes what runs here; undefined where nothing may. */
  own: ((lists: ListsOwner) => Runner) | undefined;
  /** Makes the connection to the server on another node. `number`: one that was never used before. */
  connect(spec: HerdServerSpec, number: number, lists: ListsOwner): Runner;
  /** Its lists were read once, by this daemon or an earlier one. */
  wasListed(): boolean;
  /** Calls wait on every connection until its tools were compared with their pins. */
  comparesTools(): boolean;
  /** A subscriber here waits for its notifications. */
  isWatched(): boolean;
  /** Other nodes have become able to serve it, or are not any more. */
  changed(why: string): void;
}

type Node = OwnNode | PeerNode;

/** Subscribers whose connection broke wait this long for the next one, which may break as soon. */
const RECONNECT_MS = 1000;

/**
 * The replicas of one server in the cluster: what runs here, if anything does, and one connection to each other node that
 * offers it. Orders reach only what runs here, because the daemon of each node decides about its own servers.
 */
export class ClusterRunner implements Runner, CallsHome {
  readonly #options: ClusterRunnerOptions;
  readonly #own: OwnNode | undefined;
  readonly #peers = new Map<HerdServerSpec, PeerNode>();
  /** Nodes that have left, until their calls in flight have ended. */
  readonly #leaving = new Set<PeerNode>();
  /** Those that may get a call; this one first. */
  #nodes: readonly Node[] = [];
  /** The node that was asked for the lists. */
  #lister: Node | undefined;
  /** Nodes that were asked and could not read them. */
  readonly #unlisted = new Set<Node>();
  #reconnecting: unknown;
  readonly #forget: () => void;
  /** The error of calls since it was closed for good. */
  #closed: MCPError | undefined;
  #connections = 0;
  /** Since when the other nodes can do what they can do now; a date. */
  #since: number;

  constructor(options: ClusterRunnerOptions) {
    this.#options = options;
    const { clock, peers, own } = options;
    this.#since = dateOf(clock);
    this.#own = own && new OwnNode(own(this.#listsOf(() => this.#own)));
    for (const peer of peers?.list() ?? []) this.#join(peer);
    this.#order();
    this.#forget = peers?.onChange(() => this.#look()) ?? (() => undefined);
  }

  get name(): string {
    return this.#options.spec.name;
  }

  get clock(): Clock {
    return this.#options.clock;
  }

  get timeoutMs(): number {
    return this.#options.spec.requestTimeoutMs;
  }

  get here(): Runner | undefined {
    return this.#own?.runner;
  }

  get isReady(): boolean {
    return this.#runners().some(({ isReady }) => isReady);
  }

  get waitsFor(): Runner['waitsFor'] {
    return this.#own?.runner.waitsFor ?? 'start';
  }

  get load(): number {
    return this.#runners().reduce((sum, { load }) => sum + load, 0);
  }

  get lastStops(): readonly Ending[] {
    return this.#own?.runner.lastStops ?? [];
  }

  send(request: CallRequest, sink: CallSink): CallHandle | undefined {
    if (request.ownOnly === true) return this.#sendHere(request, sink);
    const call = new MovableCall(this, request, sink);
    call.place();
    return call.isSettled ? undefined : call;
  }

  /** A call of another node is never passed on to a third one. */
  #sendHere(request: CallRequest, sink: CallSink): CallHandle | undefined {
    if (this.#own !== undefined) return this.#own.send(request, sink);
    sink.settle({ ok: false, error: this.#closed ?? runsNotHere(this.name) });
    return undefined;
  }

  next(tried: readonly Candidate[]): Candidate | undefined {
    if (this.#closed !== undefined) return tried.length === 0 ? this.#own : undefined;
    const chosen = chooseNode(this.#nodes, this.#isBalanced, tried);
    if (chosen !== this.#own) this.#own?.runner.passedOver();
    return chosen;
  }

  nobody(): MCPError {
    return this.#closed ?? offeredNowhere(this.#options.spec);
  }

  begin(): void {
    this.#own?.runner.begin();
  }

  start(): void {
    this.#own?.runner.start();
  }

  /** The order of a person: other nodes that have it take the calls. */
  stop(refusal: MCPError): void {
    this.#own?.runner.stop(refusal);
  }

  restart(): void {
    this.#own?.runner.restart();
  }

  reset(): void {
    this.#own?.runner.reset();
  }

  passedOver(): void {
    this.#own?.runner.passedOver();
  }

  close(refusal: MCPError): void {
    this.#end(refusal);
    for (const runner of this.#runners()) runner.close(refusal);
  }

  drain(refusal: MCPError): void {
    this.#end(refusal);
    for (const runner of this.#runners()) runner.drain(refusal);
  }

  cut(errorFor: (sent: boolean) => MCPError): void {
    for (const runner of this.#runners()) runner.cut(errorFor);
  }

  discover(purpose?: StartPurpose): boolean {
    if (this.#closed !== undefined) return false;
    let node = this.#lister ?? this.#toAsk();
    for (; node !== undefined; node = this.#toAsk()) {
      this.#lister = node;
      if (node.connected().discover(purpose)) return true;
      this.#unlisted.add(node);
    }
    this.#lister = undefined;
    this.#unlisted.clear();
    return false;
  }

  reread(): void {
    this.#runners()
      .find(({ isReady }) => isReady)
      ?.reread();
  }

  recheckPins(): void {
    for (const runner of this.#runners()) runner.recheckPins();
  }

  renewLogLevel(): void {
    for (const runner of this.#runners()) runner.renewLogLevel();
  }

  openCalls(): BegunCall[] {
    return this.#runners().flatMap((runner) => runner.openCalls());
  }

  snapshot(): ServerSnapshot {
    const peers = [...this.#peers.values()].map(({ peer }) => peer);
    const connections = this.#connected().map((runner) => runner.snapshot());
    const own = this.#own?.runner.snapshot();
    return withNodes(own ?? snapshotOfNodes(this.#options.spec, peers, this.#since), peers, connections);
  }

  async whenDecided(): Promise<void> {
    await this.#own?.runner.whenDecided();
  }

  async whenListsRead(): Promise<void> {
    await Promise.all(this.#runners().map((runner) => runner.whenListsRead()));
  }

  /** After an order only what runs here goes; when it is closed for good, the connections too. */
  async whenGone(): Promise<void> {
    const going = this.#closed === undefined ? [this.#own?.runner] : this.#runners();
    await Promise.all(going.map((runner) => runner?.whenGone()));
  }

  release(): void {
    for (const runner of this.#runners()) runner.release();
  }

  get #isBalanced(): boolean {
    return this.#options.spec.cluster?.balanced === true;
  }

  /**
   * The node to ask for the lists: this one if it can tell them, else another one that can, connected ones first. Where the
   * server runs here no node is asked that cannot: it might ask this one, and both would wait for each other.
   */
  #toAsk(): Node | undefined {
    const left = this.#nodes.filter((node) => !this.#unlisted.has(node));
    const able = left.filter(({ readiness }) => readiness === 'ready' || readiness === 'starts');
    const [first] = able;
    if (first !== undefined && first === this.#own) return first;
    const up = able.find(({ runner }) => runner?.isReady === true);
    const asked = up ?? chooseNode(able, true);
    if (asked !== undefined) return asked;
    return this.#own === undefined ? chooseNode(left, true) : left.find((node) => node === this.#own);
  }

  /** The connections to other nodes, of those that leave too. */
  #connected(): Runner[] {
    return [...this.#peers.values(), ...this.#leaving].flatMap(({ runner }) => runner ?? []);
  }

  #runners(): Runner[] {
    return this.#own === undefined ? this.#connected() : [this.#own.runner, ...this.#connected()];
  }

  #join(peer: PeerReplica): void {
    const { spec } = peer;
    const node: PeerNode = new PeerNode(peer, () => {
      this.#connections += 1;
      return this.#options.connect(
        spec,
        this.#connections,
        this.#listsOf(() => node),
      );
    });
    this.#peers.set(spec, node);
  }

  #order(): void {
    const peers = [...this.#peers.values()];
    this.#nodes = this.#own === undefined ? peers : [this.#own, ...peers];
  }

  #leave(node: PeerNode): void {
    if (node.runner === undefined) return;
    this.#leaving.add(node);
    node.leave(leftBy(this.name, node.node));
    void node.runner.whenGone().then(() => {
      // what was closed for good is released as a whole
      if (this.#closed === undefined && this.#leaving.delete(node)) node.runner?.release();
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
    this.#since = dateOf(this.clock);
    // after the others have come: calls that waited there go to them
    for (const node of left) this.#leave(node);
    this.#options.changed(news.join('; '));
    this.#seek();
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
    // where it runs here, that state is the server's
    return before === peer.state || this.#own !== undefined
      ? []
      : [`node ${peer.node}: ${before} → ${peer.state}`];
  }

  /** Subscribers, and requests for lists, wait for a node that can be asked. */
  #seek(): void {
    if (this.isReady) return;
    if (this.#options.isWatched()) this.discover('use');
    else if (this.#options.lists.isAwaited || (this.#own === undefined && !this.#options.wasListed()))
      this.discover();
  }

  /** No connection is left that would report changes to subscribers. */
  #lost(): void {
    const { clock, isWatched } = this.#options;
    if (this.#closed !== undefined || this.isReady || !isWatched()) return;
    clock.clearTimeout(this.#reconnecting);
    this.#reconnecting = clock.setTimeout(() => this.#seek(), RECONNECT_MS);
  }

  #listsOf(self: () => Node | undefined): ListsOwner {
    return new SharedLists(this.#options.lists, {
      isToldHere: () => {
        const own = this.#own;
        return own !== undefined && self() !== own && own.runner.isReady && !this.#options.comparesTools();
      },
      isReady: () => this.isReady,
      lost: () => this.#lost(),
      toolsRead: () => {
        this.#lister = undefined;
        this.#unlisted.clear();
        for (const node of this.#nodes) if (node !== self()) node.runner?.recheckPins();
      },
      askAnother: () => this.#askAnother(self()),
    });
  }

  #askAnother(node: Node | undefined): boolean {
    if (node !== undefined) this.#unlisted.add(node);
    if (this.#lister === node) this.#lister = undefined;
    return (this.#options.lists.isAwaited || !this.#options.wasListed()) && this.discover();
  }

  #end(refusal: MCPError): void {
    this.#closed ??= refusal;
    this.#forget();
    this.clock.clearTimeout(this.#reconnecting);
  }
}
