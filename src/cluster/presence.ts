import { JetStreamApiCodes, JetStreamApiError, jetstream, StorageType } from '@nats-io/jetstream';
import { type KV, Kvm } from '@nats-io/kv';
import { errors, type Msg, type NatsConnection as Nats } from '@nats-io/transport-node';
import { sleep } from '../shared/async.js';
import type { Clock } from '../shared/clock.js';
import { messageOf } from '../shared/errors.js';
import { API_VERSION, VERSION } from '../shared/version.js';
import { listener } from './nats-connection.js';
import { type ClusterNode, NodeTable } from './node-table.js';
import { encode, KEYS, type OfferedServer, readBeat, readServerList } from './presence-messages.js';
import { bucketOf, type NodeAddress } from './subjects.js';

export interface PresenceOptions {
  cluster: string;
  self: NodeAddress;
  clock: Clock;
  /** Whether a daemon of this address answers. */
  ping(to: NodeAddress, withinMs: number): Promise<number | 'silent' | 'gone'>;
  /** This node belongs to the cluster. */
  joined(): void;
  /** It does not: `why`. It is tried again. */
  refused(why: string): void;
  /** The other nodes, or their servers, have changed. */
  changed(): void;
  /** Another node has said how busy it is. */
  reported(name: string): void;
  log(text: string): void;
}

/** How often a node says that it is there. */
const BEAT_MS = 1000;
const ACK_MS = 900;
/** Changes of servers within this time are said together. */
const LIST_MS = 50;
/**
 * The bucket forgets what is older. It is long: a list of servers, which every node gets, is said again only to stay in the
 * bucket. The name of a node that has died is free before, since it does not answer.
 */
const TTL_MS = 300_000;
const RENEW_MS = TTL_MS / 3;
const RETRY_MS = 1000;
const PING_MS = 1000;
/** A daemon that does not answer, and does not renew its name for so long, has lost it. */
const STALE_MS = 2500;
/** Of a message, beside the list of servers. */
const HEAD_BYTES = 4096;

/**
 * This node in the bucket of the cluster, and the other ones. What a node says of itself is a value of the bucket; other
 * nodes get it as the message that it is, without a consumer of JetStream each. The revision of the key is the lease on the
 * name of the node: another daemon of the same name cannot renew it.
 */
export class Presence {
  readonly #options: PresenceOptions;
  readonly #bucket: string;
  readonly #table: NodeTable;
  #client: Nats | undefined;
  /** Counts the connections: work for an earlier one ends. */
  #connection = 0;
  /** With the revision of the key of this node. Undefined: its lease has to be taken, or taken again. */
  #lease: { kv: KV; revision: number } | undefined;
  /** Ends the wait for the loss of the lease. */
  #lost: () => void = () => undefined;
  /** It says that it is there, also while the bucket does not answer. */
  #isMember = false;
  #isBusy = false;
  #timer: unknown;
  #listTimer: unknown;
  #isDraining = false;
  #servers: readonly OfferedServer[] = [];
  /** The list without what each beat says. */
  #offered = '[]';
  #list = 0;
  /** When the list was last put into the bucket, by the clock. */
  #listedAt = Number.NEGATIVE_INFINITY;
  readonly #reading = new Set<string>();

  constructor(options: PresenceOptions) {
    this.#options = options;
    this.#bucket = bucketOf(options.cluster);
    this.#table = new NodeTable({
      clock: options.clock,
      changed: () => {
        if (this.#isMember) options.changed();
      },
      reported: (name) => {
        if (this.#isMember) options.reported(name);
      },
      missing: (name) => void this.#readList(name),
    });
  }

  /** The other nodes. */
  get nodes(): ClusterNode[] {
    return this.#table.nodes;
  }

  node(name: string): ClusterNode | undefined {
    return this.#table.get(name);
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** A connection to NATS is there. */
  up(client: Nats): void {
    if (this.#client !== client)
      client.subscribe(
        `$KV.${this.#bucket}.>`,
        listener((message) => this.#heard(message), this.#options.log),
      );
    this.#client = client;
    this.#connection += 1;
    void this.#keep(client, this.#connection);
  }

  down(): void {
    this.#stop();
    this.#table.lost();
  }

  /** The servers that other nodes may use. */
  offer(servers: readonly OfferedServer[]): void {
    this.#servers = servers;
    const offered = JSON.stringify(servers.map(({ in_flight: _, ...server }) => server));
    if (offered === this.#offered) return;
    this.#offered = offered;
    this.#listTimer ??= this.#options.clock.setTimeout(() => {
      this.#listTimer = undefined;
      this.#list += 1;
      this.#listedAt = Number.NEGATIVE_INFINITY;
      this.#beat();
    }, LIST_MS);
  }

  drain(isDraining: boolean): void {
    if (this.#isDraining === isDraining) return;
    this.#isDraining = isDraining;
    this.#beat();
  }

  /** Says that this node leaves. */
  async close(): Promise<void> {
    const lease = this.#lease;
    this.#stop();
    this.#options.clock.clearTimeout(this.#listTimer);
    this.#table.close();
    if (lease === undefined || this.#client?.isClosed() !== false) return;
    const { node } = this.#options.self;
    const keys = Object.values(KEYS).map((key) => `${key}.${node}`);
    await Promise.all(keys.map((key) => lease.kv.delete(key).catch(() => undefined)));
  }

  #stop(): void {
    this.#connection += 1;
    this.#options.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isMember = false;
    this.#loseLease();
  }

  #loseLease(): void {
    this.#lease = undefined;
    this.#lost();
  }

  /** Takes the name of the node, and takes it again when it is lost, for as long as the connection lasts. */
  async #keep(client: Nats, connection: number): Promise<void> {
    const { clock, refused, joined, log } = this.#options;
    const isOver = () => connection !== this.#connection;
    while (!isOver()) {
      const lost = new Promise<void>((resolve) => {
        this.#lost = resolve;
      });
      const joining = await this.#join(client).catch((error: unknown) => ({
        why: this.#reason(error),
        isTaken: false,
      }));
      if (isOver()) return;
      if ('lease' in joining) {
        this.#lease = joining.lease;
        if (!this.#isMember) {
          this.#isMember = true;
          joined();
        }
        this.#beat();
        await lost;
      } else {
        // a bucket that does not answer is no reason to leave the others: their messages still arrive
        if (this.#isMember && !joining.isTaken) log(joining.why);
        else {
          this.#isMember = false;
          refused(joining.why);
        }
        await sleep(clock, RETRY_MS);
      }
    }
  }

  async #join(
    client: Nats,
  ): Promise<{ lease: { kv: KV; revision: number } } | { why: string; isTaken: true }> {
    const kvs = new Kvm(jetstream(client, { timeout: ACK_MS }));
    const kv = await kvs.create(this.#bucket, { ttl: TTL_MS, history: 1, storage: StorageType.Memory });
    const { self } = this.#options;
    const key = `${KEYS.beat}.${self.node}`;
    const found = await kv.get(key);
    this.#listedAt = Number.NEGATIVE_INFINITY;
    if (found === null || found.operation !== 'PUT')
      return { lease: { kv, revision: await kv.create(key, this.#said()) } };
    const holder = readBeat(found.value);
    const isOther = holder !== undefined && holder.instance !== self.instance;
    if (isOther && !(await this.#isDead(kv, key, { ...self, instance: holder.instance }, found.revision)))
      return { why: nameTaken(self.node, holder.version), isTaken: true };
    return { lease: { kv, revision: await kv.update(key, this.#said(), found.revision) } };
  }

  async #isDead(kv: KV, key: string, holder: NodeAddress, revision: number): Promise<boolean> {
    const { ping, clock } = this.#options;
    const answer = await ping(holder, PING_MS);
    if (answer !== 'silent') return answer === 'gone';
    await sleep(clock, STALE_MS);
    return (await kv.get(key))?.revision === revision;
  }

  /** Says that this node is there, now and every second. */
  readonly #beat = (): void => {
    const { clock } = this.#options;
    if (!this.#isMember) return;
    clock.clearTimeout(this.#timer);
    this.#timer = clock.setTimeout(this.#beat, BEAT_MS);
    if (this.#lease === undefined || this.#isBusy) this.#sayUnkept();
    else void this.#renew(this.#lease);
  };

  /** The bucket does not answer: other nodes hear it all the same. */
  #sayUnkept(): void {
    const client = this.#client;
    if (client === undefined || client.isClosed()) return;
    client.publish(`$KV.${this.#bucket}.${KEYS.beat}.${this.#options.self.node}`, this.#said());
  }

  async #renew(lease: { kv: KV; revision: number }): Promise<void> {
    const { self, clock } = this.#options;
    this.#isBusy = true;
    const list = this.#list;
    try {
      if (clock.now() - this.#listedAt >= RENEW_MS) {
        await lease.kv.put(`${KEYS.list}.${self.node}`, this.#saidList());
        this.#listedAt = clock.now();
      }
      const key = `${KEYS.beat}.${self.node}`;
      lease.revision = await lease.kv
        .update(key, this.#said(list), lease.revision, ACK_MS)
        .catch(async (error) => {
          const found = isConflict(error) ? await lease.kv.get(key) : null;
          // it was said without the lease meanwhile
          if (found !== null && readBeat(found.value)?.instance === self.instance) return found.revision;
          throw error;
        });
    } catch {
      if (this.#lease === lease) this.#loseLease();
    }
    this.#isBusy = false;
    if (list !== this.#list) this.#beat();
  }

  #said(list = this.#list): Uint8Array {
    const { self } = this.#options;
    const busy = this.#servers.filter(({ in_flight }) => in_flight > 0);
    return encode({
      instance: self.instance,
      version: VERSION,
      api: API_VERSION,
      draining: this.#isDraining,
      list,
      load: Object.fromEntries(busy.map(({ name, in_flight }) => [name, in_flight])),
    });
  }

  #saidList(): Uint8Array {
    const { self, log } = this.#options;
    const most = (this.#client?.info?.max_payload ?? 2 ** 20) - HEAD_BYTES;
    let servers = this.#servers;
    for (;;) {
      const said = encode({ instance: self.instance, list: this.#list, servers });
      if (said.length <= most || servers.length === 0) return said;
      const fewer = Math.floor((servers.length * most) / said.length);
      log(
        `only ${fewer} of ${this.#servers.length} servers fit into a message of NATS: raise its max_payload, or share fewer`,
      );
      servers = servers.slice(0, fewer);
    }
  }

  #heard(message: Msg): void {
    const { subject, data, headers } = message;
    const [key, node = '', more] = subject.slice(`$KV.${this.#bucket}.`.length).split('.');
    if (more !== undefined || node === '' || node === this.#options.self.node) return;
    const isRemoved = headers?.get('KV-Operation') !== undefined && headers.get('KV-Operation') !== '';
    if (key === KEYS.beat) {
      if (isRemoved) this.#table.left(node);
      const beat = readBeat(data);
      if (beat !== undefined) this.#table.heard(node, beat);
    } else if (key === KEYS.list) {
      const list = readServerList(data);
      if (list !== undefined) this.#table.listed(node, list);
    }
  }

  /** Once at a time for a node: its next beat asks again. */
  async #readList(name: string): Promise<void> {
    const kv = this.#lease?.kv;
    if (kv === undefined || this.#reading.has(name)) return;
    this.#reading.add(name);
    try {
      const found = await kv.get(`${KEYS.list}.${name}`);
      const list = found === null ? undefined : readServerList(found.value);
      if (list !== undefined) this.#table.listed(name, list);
    } catch {
      // the bucket does not answer: the lease is lost too
    } finally {
      this.#reading.delete(name);
    }
  }

  #reason(error: unknown): string {
    const isOff =
      (error instanceof Error && error.name === 'JetStreamNotEnabled') ||
      error instanceof errors.NoRespondersError ||
      (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.JetStreamNotEnabledForAccount);
    if (isOff)
      return "the NATS server has no JetStream, which keeps the nodes of a cluster: start it with 'nats-server -js', or enable JetStream for the account of this node";
    return `the bucket ${this.#bucket} of NATS cannot be used: ${messageOf(error)}`;
  }
}

function isConflict(error: unknown): boolean {
  return error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamWrongLastSequence;
}

function nameTaken(node: string, version: string): string {
  return `another daemon (toolherd ${version}) is the node ${node} of this cluster: give this one another name with 'node' of 'cluster' in the config`;
}
