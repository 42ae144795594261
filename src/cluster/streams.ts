import type { Duplex } from 'node:stream';
import { type Clock, wasAsleep } from '../shared/clock.js';
import { isNodeName } from '../shared/text/node-name.js';
import { seconds } from '../shared/text/seconds.js';
import { decodeFrame, encodeFrame, type Frame, type FrameKind } from './frames.js';
import { MESSAGE_LOST, NatsStream } from './nats-stream.js';
import { COUNT_BYTES, encodeCounts, readCounts, type StreamCount } from './stream-counts.js';
import { type NodeAddress, randomToken, type Subjects } from './subjects.js';

/** A message of NATS. */
export interface Message {
  subject: string;
  reply: string;
  data: Uint8Array;
  /** NATS says that nothing listens to the subject of a message that was published with this one as its reply. */
  hasNoReceiver: boolean;
}

export interface StreamsOptions {
  self: NodeAddress;
  subjects: Subjects;
  clock: Clock;
  publish(subject: string, data: Uint8Array, reply?: string): void;
  /** The largest message that the NATS server takes. */
  maxPayload(): number;
  /** The error of connections to a node that is away. */
  away(node: string, why: string): Error;
  /** Takes the connection of another node, or says why not. */
  accept(stream: Duplex, from: string): void;
  /** Why no connections are taken now; undefined: they are. */
  refusal(): string | undefined;
}

/** What a node says that opens a stream. */
interface Opening {
  node: string;
  instance: string;
  id: string;
  max: number;
}

interface Peer {
  address: NodeAddress;
  streams: Map<string, Counted>;
  /** Part of the subject where it answers pings. Only that node gets it: no other one can answer in its place. */
  token: string;
  wasHeard: boolean;
  /** By the clock. */
  heardAt: number;
}

interface Counted {
  stream: NatsStream;
  /** The frames that had come when it was last looked at. */
  received: number;
}

interface Dialling {
  to: NodeAddress;
  opened(answer: Frame): void;
  failed(why: string): void;
}

/** A node that does not answer in this time is not there. */
const OPEN_MS = 2500;
/** How often a node is asked whether it is there and still has the streams on which it sends nothing. */
const PING_MS = 400;
/** A node of which nothing was heard for so long is gone. */
export const SILENCE_MS = 2500;
/** Larger messages keep smaller ones waiting. */
const MOST_PAYLOAD = 2 ** 17;
const LEAST_PAYLOAD = 1024;
const MOST_STREAMS = 4096;
/** Of one other node: it leaves room for the others. */
const MOST_OF_NODE = 1024;
const ID = /^[\w-]{8,40}$/;

/** The streams between this node and others. */
export class Streams {
  readonly #options: StreamsOptions;
  readonly #prefix: string;
  /** By `keyOf` their addresses. */
  readonly #peers = new Map<string, Peer>();
  readonly #byId = new Map<string, { peer: Peer; stream: NatsStream }>();
  readonly #dialling = new Map<string, Dialling>();
  /** Called with the answer to a ping: whether the node is there. */
  readonly #pings = new Map<string, (isThere: boolean) => void>();
  #watch: unknown;
  /** There is a connection to NATS. */
  #isUp = false;

  constructor(options: StreamsOptions) {
    this.#options = options;
    this.#prefix = options.subjects.of(options.self);
  }

  /** Everything that this node listens to. */
  get subject(): string {
    return `${this.#prefix}>`;
  }

  get size(): number {
    return this.#byId.size;
  }

  /** Bytes of all streams that are in memory. */
  get heldBytes(): number {
    return [...this.#byId.values()].reduce((sum, { stream }) => sum + stream.heldBytes, 0);
  }

  up(): void {
    this.#isUp = true;
  }

  /** The connection to NATS is lost: messages may be, so no stream survives it. */
  down(why: string): void {
    this.#isUp = false;
    for (const { failed } of [...this.#dialling.values()]) failed(why);
    for (const { stream } of [...this.#byId.values()]) stream.break(why);
  }

  /** Rejects with the error of `away`; then the node got nothing. */
  async open(to: NodeAddress): Promise<NatsStream> {
    const { subjects, self, away } = this.#options;
    const fail = (why: string) => away(to.node, why);
    if (!this.#isUp) throw fail('this daemon is not connected to NATS');
    const id = randomToken();
    const opening: Opening = { ...self, id, max: this.#mostPayload };
    const answer = await new Promise<Frame>((resolve, reject) => {
      const { clock } = this.#options;
      const failed = (why: string) => {
        clock.clearTimeout(timer);
        this.#dialling.delete(id);
        reject(fail(why));
      };
      const timer = clock.setTimeout(() => {
        // it may have taken it all the same
        this.#reset(subjects.stream(to, id));
        failed(`it did not answer in ${seconds(OPEN_MS)}`);
      }, OPEN_MS);
      const opened = (frame: Frame) => {
        clock.clearTimeout(timer);
        this.#dialling.delete(id);
        resolve(frame);
      };
      this.#dialling.set(id, { to, opened, failed });
      const payload = Buffer.from(JSON.stringify(opening));
      this.#options.publish(subjects.open(to, self.node), payload, subjects.stream(self, id));
    });
    const stream = this.#byId.get(id)?.stream;
    if (answer.kind === 'refused') throw fail(answer.data.toString());
    if (stream === undefined || stream.destroyed) throw fail('the connection ended as it was opened');
    return stream;
  }

  /** How long the node takes to answer, in milliseconds. `gone`: NATS says that nothing listens there. */
  ping(to: NodeAddress, withinMs: number): Promise<number | 'silent' | 'gone'> {
    const { clock, subjects, self } = this.#options;
    if (!this.#isUp) return Promise.resolve('silent');
    const token = randomToken();
    const askedAt = clock.now();
    return new Promise((resolve) => {
      const timer = clock.setTimeout(() => {
        this.#pings.delete(token);
        resolve('silent');
      }, withinMs);
      this.#pings.set(token, (isThere) => {
        this.#pings.delete(token);
        clock.clearTimeout(timer);
        resolve(isThere ? clock.now() - askedAt : 'gone');
      });
      this.#options.publish(subjects.ping(to), EMPTY, subjects.pong(self, token));
    });
  }

  /** A message for this node. */
  readonly receive = (message: Message): void => {
    const [kind = '', token = ''] = message.subject.slice(this.#prefix.length).split('.');
    if (kind === 's') this.#frame(token, message);
    else if (kind === 'open') this.#asked(token, message);
    else if (kind === 'ping') this.#pinged(message);
    else if (kind === 'pong') this.#pong(token, message);
  };

  close(): void {
    this.down('this daemon leaves the cluster');
    this.#options.clock.clearTimeout(this.#watch);
    this.#watch = undefined;
    for (const answered of [...this.#pings.values()]) answered(false);
  }

  #frame(id: string, message: Message): void {
    const dialling = this.#dialling.get(id);
    if (message.hasNoReceiver) {
      dialling?.failed('no daemon of this name is connected to NATS');
      const known = this.#byId.get(id);
      if (known !== undefined) this.#gone(known.peer, GONE);
      return;
    }
    const frame = decodeFrame(message.data);
    if (frame === undefined) return;
    if (dialling !== undefined) {
      if (frame.kind === 'accepted') this.#add(dialling.to, id, Number(frame.data.toString()), false);
      if (frame.kind === 'accepted' || frame.kind === 'refused' || frame.kind === 'reset')
        dialling.opened(frame);
      return;
    }
    const known = this.#byId.get(id);
    if (known === undefined) {
      // the other side does not know yet that the stream has ended here
      if (frame.kind !== 'reset' && this.#options.subjects.isForAnswers(message.reply))
        this.#reset(message.reply);
      return;
    }
    known.peer.wasHeard = true;
    known.stream.receive(frame);
  }

  /** Another node opens a stream. `from`: its name, which the account of NATS may prescribe. */
  #asked(from: string, { data, reply }: Message): void {
    const opening = readOpening(data);
    if (opening === undefined || opening.node !== from || !isNodeName(from)) return;
    const { id, max, node, instance } = opening;
    const { refusal, subjects, self, accept } = this.#options;
    const answer = (kind: FrameKind, text: string) => {
      const bytes = Buffer.from(text);
      const to = subjects.stream({ node, instance }, id);
      this.#options.publish(
        to,
        encodeFrame({ kind, number: 0, taken: 0 }, [bytes], bytes.length),
        subjects.stream(self, id),
      );
    };
    const isFull = this.#byId.size >= MOST_STREAMS || this.#countOf(node) >= MOST_OF_NODE;
    const why = refusal() ?? (isFull ? 'it has too many connections of nodes already' : undefined);
    if (why !== undefined) answer('refused', why);
    else if (this.#byId.has(id) || reply === '')
      answer('refused', 'the connection has a name that is in use');
    else {
      const stream = this.#add({ node, instance }, id, max, true);
      answer('accepted', String(this.#mostPayload));
      accept(stream, node);
    }
  }

  /** Another node asks whether this one is there, and whether it has the streams that both should have. */
  #pinged({ reply, data }: Message): void {
    const { publish, subjects } = this.#options;
    if (!subjects.isForAnswers(reply)) return;
    const asked = readCounts(data);
    this.#compare(asked);
    publish(reply, encodeCounts(asked.map(([id]) => [id, this.#byId.get(id)?.stream.frames.sent ?? null])));
  }

  #pong(token: string, { hasNoReceiver, data }: Message): void {
    this.#pings.get(token)?.(!hasNoReceiver);
    const peer = [...this.#peers.values()].find((known) => known.token === token);
    if (peer === undefined) return;
    if (hasNoReceiver) {
      this.#gone(peer, GONE);
      return;
    }
    peer.wasHeard = true;
    this.#compare(readCounts(data));
  }

  /** Ends the streams that have lost a message, or that the other side has lost. */
  #compare(counts: readonly StreamCount[]): void {
    for (const [id, sent] of counts) {
      const stream = this.#byId.get(id)?.stream;
      if (stream === undefined) continue;
      if (sent === null && !stream.isOver) stream.break(FORGOTTEN);
      if (sent !== null && sent !== stream.frames.received) stream.break(MESSAGE_LOST);
    }
  }

  #add(address: NodeAddress, id: string, theirMax: number, isAccepted: boolean): NatsStream {
    const { subjects, self, publish, away } = this.#options;
    const peer = this.#peerOf(address);
    const [theirs, ours] = [subjects.stream(address, id), subjects.stream(self, id)];
    const stream = new NatsStream({
      away: (why) => away(address.node, why),
      maxPayload: Math.min(
        this.#mostPayload,
        Number.isSafeInteger(theirMax) ? Math.max(theirMax, LEAST_PAYLOAD) : LEAST_PAYLOAD,
      ),
      allowHalfOpen: isAccepted,
      send: (frame) => {
        if (this.#isUp) publish(theirs, frame, ours);
      },
      closed: () => {
        this.#byId.delete(id);
        peer.streams.delete(id);
        if (peer.streams.size === 0) this.#peers.delete(keyOf(address));
      },
    });
    peer.streams.set(id, { stream, received: 0 });
    this.#byId.set(id, { peer, stream });
    return stream;
  }

  #peerOf(address: NodeAddress): Peer {
    const known = this.#peers.get(keyOf(address));
    if (known !== undefined) return known;
    const heardAt = this.#options.clock.now();
    const peer: Peer = { address, streams: new Map(), token: randomToken(), wasHeard: true, heardAt };
    this.#peers.set(keyOf(address), peer);
    this.#watch ??= this.#look();
    return peer;
  }

  /** Asks the nodes that were silent, or silent on some stream, whether they are there and have these streams. */
  #look(): unknown {
    const { clock, subjects, self, publish } = this.#options;
    const askedAt = clock.now();
    return clock.setTimeout(() => {
      const now = clock.now();
      const didSleep = wasAsleep(clock, askedAt, PING_MS);
      for (const peer of [...this.#peers.values()]) {
        if (peer.wasHeard || didSleep) peer.heardAt = now;
        else if (now - peer.heardAt >= SILENCE_MS) this.#gone(peer, `${SILENT} ${seconds(SILENCE_MS)}`);
        const silent = this.#silentOf(peer);
        if (this.#isUp && (silent.length > 0 || !peer.wasHeard))
          publish(subjects.ping(peer.address), encodeCounts(silent), subjects.pong(self, peer.token));
        peer.wasHeard = false;
      }
      this.#watch = this.#peers.size > 0 ? this.#look() : undefined;
    }, PING_MS);
  }

  /** The streams on which nothing has come since the last look; as many as fit into a message, the others next time. */
  #silentOf({ streams }: Peer): StreamCount[] {
    const most = Math.max(1, Math.floor(this.#mostPayload / COUNT_BYTES));
    const silent: StreamCount[] = [];
    for (const [id, counted] of [...streams]) {
      const { sent, received } = counted.stream.frames;
      const isSilent = received === counted.received;
      counted.received = received;
      if (!isSilent || silent.length === most) continue;
      silent.push([id, sent]);
      streams.delete(id);
      streams.set(id, counted);
    }
    return silent;
  }

  #countOf(node: string): number {
    const peers = [...this.#peers.values()].filter(({ address }) => address.node === node);
    return peers.reduce((sum, { streams }) => sum + streams.size, 0);
  }

  #gone(peer: Peer, why: string): void {
    for (const { stream } of [...peer.streams.values()]) stream.break(why);
  }

  #reset(subject: string): void {
    if (!this.#isUp) return;
    const why = Buffer.from('the other side has ended it');
    this.#options.publish(subject, encodeFrame({ kind: 'reset', number: 0, taken: 0 }, [why], why.length));
  }

  get #mostPayload(): number {
    return Math.min(this.#options.maxPayload(), MOST_PAYLOAD);
  }
}

const EMPTY = new Uint8Array(0);
const GONE = 'its daemon has ended, or has lost its connection to NATS';
const SILENT = 'nothing was heard of it for';
const FORGOTTEN = 'its daemon has lost its connection to NATS for a moment';

function keyOf({ node, instance }: NodeAddress): string {
  return `${node}:${instance}`;
}

function readOpening(data: Uint8Array): Opening | undefined {
  try {
    const { node, instance, id, max } = JSON.parse(Buffer.from(data).toString()) as Partial<Opening>;
    if (typeof node !== 'string' || typeof instance !== 'string' || typeof id !== 'string') return undefined;
    if (typeof max !== 'number' || !ID.test(id) || !ID.test(instance)) return undefined;
    return { node, instance, id, max };
  } catch {
    return undefined;
  }
}
