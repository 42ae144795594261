import type { HerdServerSpec, ServerSpec } from '../../config/fields/spec.js';
import type { BegunCall, CallHandle, CallRequest } from '../../link/calls/call.js';
import type { StartPurpose } from '../../machines/permit.js';
import type { Ending } from '../../machines/restart/ending.js';
import type { MCPError } from '../../shared/call-errors.js';
import type { CallSink } from '../../shared/call-sink.js';
import type { Clock } from '../../shared/clock.js';
import type { ListsOwner } from '../catalog/lists.js';
import type { Runner } from '../server/runner.js';
import type { ServerSnapshot } from '../server/server-snapshot.js';
import { AskedNodes } from './asked-nodes.js';
import { type Candidate, chooseNode } from './candidate.js';
import { type CallsHome, MovableCall } from './movable-call.js';
import { type Node, OwnNode } from './node.js';
import { Nodes } from './nodes.js';
import type { Peers } from './peers.js';
import { offeredNowhere, runsNotHere } from './refusals.js';
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
  /** Nothing of it may run here, and what other nodes can do has changed. */
  changed(why: string): void;
}

/** Subscribers whose connection broke wait this long for the next one, which may break as soon. */
const RECONNECT_MS = 1000;

/**
 * The replicas of one server in the cluster: what runs here, if anything does, and one connection to each other node that
 * offers it. Orders reach only what runs here, because the daemon of each node decides about its own servers.
 */
export class ClusterRunner implements Runner, CallsHome {
  readonly #options: ClusterRunnerOptions;
  readonly #nodes: Nodes;
  readonly #asked: AskedNodes;
  /** The error of calls since it was closed for good. */
  #closed: MCPError | undefined;
  #connections = 0;
  #reconnecting: unknown;

  constructor(options: ClusterRunnerOptions) {
    this.#options = options;
    const { clock, peers, own: ownRunner } = options;
    const own: OwnNode | undefined = ownRunner && new OwnNode(ownRunner(this.#listsOf(() => own)));
    this.#nodes = new Nodes({
      ...{ name: this.name, clock, own, peers },
      connect: (node, spec) => {
        this.#connections += 1;
        return options.connect(spec, this.#connections, this.#listsOf(node));
      },
      changed: (why) => {
        // where it runs here, its state is that of this node
        if (own === undefined) options.changed(why);
        this.#seek();
      },
    });
    this.#asked = new AskedNodes(() => this.#nodes.all);
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
    return this.#nodes.own?.runner;
  }

  get isReady(): boolean {
    return this.#nodes.runners.some(({ isReady }) => isReady);
  }

  get waitsFor(): Runner['waitsFor'] {
    return this.#nodes.own?.runner.waitsFor ?? 'start';
  }

  get load(): number {
    return this.#nodes.runners.reduce((sum, { load }) => sum + load, 0);
  }

  get lastStops(): readonly Ending[] {
    return this.#nodes.own?.runner.lastStops ?? [];
  }

  send(request: CallRequest, sink: CallSink): CallHandle | undefined {
    if (request.ownOnly === true) return this.#sendHere(request, sink);
    const call = new MovableCall(this, request, sink);
    call.place();
    return call.isSettled ? undefined : call;
  }

  /** A call of another node is never passed on to a third one. */
  #sendHere(request: CallRequest, sink: CallSink): CallHandle | undefined {
    if (this.#nodes.own !== undefined) return this.#nodes.own.send(request, sink);
    sink.settle({ ok: false, error: this.#closed ?? runsNotHere(this.name) });
    return undefined;
  }

  next(tried: readonly Candidate[]): Candidate | undefined {
    if (this.#closed !== undefined) return tried.length === 0 ? this.#nodes.own : undefined;
    const chosen = chooseNode(this.#nodes.all, this.#isBalanced, tried);
    if (chosen !== this.#nodes.own) this.#nodes.own?.runner.passedOver();
    return chosen;
  }

  refusal(): MCPError {
    return this.#closed ?? offeredNowhere(this.#options.spec);
  }

  begin(): void {
    this.#nodes.own?.runner.begin();
  }

  start(): void {
    this.#nodes.own?.runner.start();
  }

  /** The order of a person: other nodes that have it take the calls. */
  stop(refusal: MCPError): void {
    this.#nodes.own?.runner.stop(refusal);
  }

  restart(): void {
    this.#nodes.own?.runner.restart();
  }

  reset(): void {
    this.#nodes.own?.runner.reset();
  }

  passedOver(): void {
    this.#nodes.own?.runner.passedOver();
  }

  close(refusal: MCPError): void {
    this.#end(refusal);
    for (const runner of this.#nodes.runners) runner.close(refusal);
  }

  drain(refusal: MCPError): void {
    this.#end(refusal);
    for (const runner of this.#nodes.runners) runner.drain(refusal);
  }

  cut(errorFor: (sent: boolean) => MCPError): void {
    for (const runner of this.#nodes.runners) runner.cut(errorFor);
  }

  discover(purpose?: StartPurpose): boolean {
    return this.#closed === undefined && this.#asked.ask(purpose);
  }

  reread(): void {
    this.#nodes.runners.find(({ isReady }) => isReady)?.reread();
  }

  recheckPins(): void {
    for (const runner of this.#nodes.runners) runner.recheckPins();
  }

  renewLogLevel(): void {
    for (const runner of this.#nodes.runners) runner.renewLogLevel();
  }

  openCalls(): BegunCall[] {
    return this.#nodes.runners.flatMap((runner) => runner.openCalls());
  }

  snapshot(): ServerSnapshot {
    const { own, reports, connections, since } = this.#nodes;
    const snapshot = own?.runner.snapshot() ?? snapshotOfNodes(this.#options.spec, reports, since);
    return withNodes(
      snapshot,
      reports,
      connections.map((runner) => runner.snapshot()),
    );
  }

  async whenDecided(): Promise<void> {
    await this.#nodes.own?.runner.whenDecided();
  }

  async whenListsRead(): Promise<void> {
    await Promise.all(this.#nodes.runners.map((runner) => runner.whenListsRead()));
  }

  /** After an order only what runs here goes; when it is closed for good, the connections too. */
  async whenGone(): Promise<void> {
    const going = this.#closed === undefined ? [this.#nodes.own?.runner] : this.#nodes.runners;
    await Promise.all(going.map((runner) => runner?.whenGone()));
  }

  release(): void {
    for (const runner of this.#nodes.runners) runner.release();
  }

  get #isBalanced(): boolean {
    return this.#options.spec.cluster?.balanced === true;
  }

  /** Subscribers, and requests for lists, wait for a node that can be asked. */
  #seek(): void {
    if (this.isReady) return;
    if (this.#options.isWatched()) this.discover('use');
    else if (this.#options.lists.isAwaited || (this.#nodes.own === undefined && !this.#options.wasListed()))
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
    const { lists, comparesTools } = this.#options;
    return new SharedLists(lists, {
      isToldHere: () =>
        self() !== this.#nodes.own && this.#nodes.own?.runner.isReady === true && !comparesTools(),
      isReady: () => this.isReady,
      lost: () => this.#lost(),
      told: (hasTools) => {
        this.#asked.told();
        if (hasTools) for (const node of this.#nodes.all) if (node !== self()) node.runner?.recheckPins();
      },
      askAnother: () => this.#askAnother(self()),
    });
  }

  #askAnother(node: Node | undefined): boolean {
    if (node !== undefined) this.#asked.failed(node);
    const isWanted = this.#options.lists.isAwaited || !this.#options.wasListed();
    if (isWanted && this.discover()) return true;
    this.#asked.told();
    return false;
  }

  #end(refusal: MCPError): void {
    this.#closed ??= refusal;
    this.#nodes.end();
    this.clock.clearTimeout(this.#reconnecting);
  }
}
