import type { Duplex } from 'node:stream';
import type { ClusterSpec } from '../config/fields/spec.js';
import { type Clock, dateOf } from '../shared/clock.js';
import { API_VERSION } from '../shared/version.js';
import { listener, NatsConnection, readMessage } from './nats-connection.js';
import type { ClusterNode } from './node-table.js';
import { Presence } from './presence.js';
import type { OfferedServer } from './presence-messages.js';
import { Streams } from './streams.js';
import { randomToken, Subjects } from './subjects.js';

export type { ClusterNode, NodeState } from './node-table.js';
export type { OfferedServer } from './presence-messages.js';

/** `connecting`: it has not been a member yet. `lost`: it was one. */
export type ClusterState = 'connecting' | 'connected' | 'lost';

export interface ClusterDeps {
  clock: Clock;
  /** Takes the connection of another node. */
  accept(stream: Duplex, from: string): void;
  /** The error of connections to a node that is away. (The bundle of this code has no classes of the daemon.) */
  away(node: string, why: string): Error;
  /** The state, the other nodes or their servers have changed. */
  changed(): void;
  /** A node has said how busy it is. */
  reported(name: string): void;
  log(text: string): void;
}

/** This daemon as a node of a cluster. */
export interface Cluster {
  readonly state: ClusterState;
  /** Why it is not connected. */
  readonly why: string | undefined;
  /** Since when it is in this state; a date. */
  readonly since: number;
  readonly isDraining: boolean;
  /** The other nodes. While this one is not connected, all of them are away. */
  readonly nodes: readonly ClusterNode[];
  node(name: string): ClusterNode | undefined;
  /** Connections to and from other nodes. */
  readonly streams: number;
  /** A connection to a node. Rejects with the error of `away`; then nothing was sent. */
  open(node: string): Promise<Duplex>;
  /** How long the node takes to answer, in milliseconds; null: it does not. */
  ping(node: string): Promise<number | null>;
  /** The servers that other nodes may use. */
  publish(offers: readonly OfferedServer[]): void;
  /** Other nodes open no more connections. Those that are open stay. */
  drain(): void;
  undrain(): void;
  /** Leaves the cluster. Connections end. */
  close(): Promise<void>;
}

const PING_MS = 1000;

export function openCluster(spec: ClusterSpec, deps: ClusterDeps): Cluster {
  return new NatsCluster(spec, deps);
}

class NatsCluster implements Cluster {
  readonly #deps: ClusterDeps;
  readonly #connection: NatsConnection;
  readonly #streams: Streams;
  readonly #presence: Presence;
  #state: ClusterState = 'connecting';
  #why: string | undefined = 'the connection is being opened';
  /** What the user of this node in NATS may not do. */
  #denied: string | undefined;
  #since: number;

  constructor(spec: ClusterSpec, deps: ClusterDeps) {
    const { clock, log, changed, reported, away } = deps;
    this.#deps = deps;
    this.#since = dateOf(clock);
    const self = { node: spec.node, instance: randomToken() };
    this.#streams = new Streams({
      self,
      clock,
      subjects: new Subjects(spec.name),
      publish: (...message) => this.#connection.publish(...message),
      maxPayload: () => this.#connection.maxPayload,
      away,
      accept: deps.accept,
      refusal: () => (this.#presence.isDraining ? 'it is being drained' : undefined),
    });
    this.#presence = new Presence({
      ...{ cluster: spec.name, self, clock, changed, reported, log },
      ping: (to, withinMs) => this.#streams.ping(to, withinMs),
      joined: () => {
        this.#denied = undefined;
        this.#become('connected', undefined);
      },
      // what NATS does not permit looks like no answer
      refused: (why) =>
        this.#become(this.#state === 'connecting' ? 'connecting' : 'lost', this.#denied ?? why),
    });
    const fault = (text: string) => log(`a fault in toolherd itself, in the cluster: ${text}`);
    let listening: unknown;
    this.#connection = new NatsConnection(spec, clock, {
      fault,
      up: (client) => {
        if (listening !== client)
          client.subscribe(
            this.#streams.subject,
            listener((message) => this.#streams.receive(readMessage(message)), fault),
          );
        listening = client;
        this.#streams.up();
        this.#presence.up(client);
      },
      denied: (why) => {
        if (why !== this.#denied) log(`the cluster: ${why}`);
        this.#denied = why;
      },
      down: (why) => {
        this.#denied = undefined;
        this.#streams.down(why);
        this.#presence.down();
        this.#become(this.#state === 'connecting' ? 'connecting' : 'lost', why);
      },
    });
  }

  get state(): ClusterState {
    return this.#state;
  }

  get why(): string | undefined {
    return this.#why;
  }

  get since(): number {
    return this.#since;
  }

  get isDraining(): boolean {
    return this.#presence.isDraining;
  }

  get nodes(): readonly ClusterNode[] {
    if (this.#state === 'connected') return this.#presence.nodes;
    return this.#presence.nodes.map((node) => ({ ...node, state: 'away' }));
  }

  node(name: string): ClusterNode | undefined {
    const found = this.#presence.node(name);
    return found === undefined || this.#state === 'connected' ? found : { ...found, state: 'away' };
  }

  get streams(): number {
    return this.#streams.size;
  }

  async open(node: string): Promise<Duplex> {
    const fail = (why: string) => this.#deps.away(node, why);
    if (this.#state !== 'connected') throw fail(this.#why ?? 'this daemon is not connected');
    const found = this.#presence.node(node);
    if (found === undefined) throw fail('no daemon of this name is in the cluster');
    if (found.state === 'away') throw fail('nothing is heard of it');
    if (found.api !== API_VERSION)
      throw fail(
        `its toolherd ${found.version} speaks version ${found.api} of the protocol, this one version ${API_VERSION}: install the same version on both`,
      );
    return this.#streams.open({ node, instance: found.instance });
  }

  async ping(node: string): Promise<number | null> {
    const found = this.#presence.node(node);
    if (found === undefined || found.state === 'away') return null;
    const answer = await this.#streams.ping({ node, instance: found.instance }, PING_MS);
    return typeof answer === 'number' ? answer : null;
  }

  publish(offers: readonly OfferedServer[]): void {
    this.#presence.offer(offers);
  }

  drain(): void {
    this.#presence.drain(true);
  }

  undrain(): void {
    this.#presence.drain(false);
  }

  async close(): Promise<void> {
    await this.#presence.close();
    this.#streams.close();
    await this.#connection.close();
  }

  #become(state: ClusterState, why: string | undefined): void {
    const { clock, changed, log } = this.#deps;
    if (state === this.#state && why === this.#why) return;
    if (state !== this.#state) this.#since = dateOf(clock);
    this.#state = state;
    this.#why = why;
    if (why !== undefined) log(`the cluster: ${why}`);
    changed();
  }
}
