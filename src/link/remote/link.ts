import type { RemoteSpec } from '../../config/schema/spec.js';
import type { Ending, Failed } from '../../machines/ending.js';
import type { OversizedLine } from '../../shared/framing/framer.js';
import type { JsonObject } from '../../shared/json.js';
import type { Link, LinkEvents, Opened, Unwatch } from '../link.js';
import type { StopStep } from '../process/stop-sequence.js';
import { type ListMethod, listAll } from '../protocol/list.js';
import type { Negotiation } from '../protocol/negotiation/negotiation.js';
import {
  createProtocolStack,
  type ProtocolDeps,
  type ProtocolStack,
  reasonOf,
} from '../protocol/negotiation/protocol-stack.js';
import { watchResource } from '../protocol/negotiation/watch-resource.js';
import { isForDriver } from '../protocol/protocol-driver.js';
import type { Message } from '../session/message.js';
import { FIRST_CALL_ID } from '../session/reply-router.js';
import type { Session } from '../session/session.js';
import {
  badHandshake,
  callErrorOf,
  closedErrorOf,
  failureOf,
  noHandshake,
  type RemoteServer,
  shownUrl,
} from './endings.js';
import type { RemoteTransport, TransportPorts } from './remote-transport.js';
import { cleaned, endsLink, TransportError, type TransportFailure } from './transport-failure.js';

export interface RemoteDeps extends ProtocolDeps {
  /** Puts a server's authorisation on top of the fetch that everything is sent with. */
  authorize?: TransportPorts['authorize'];
}

/** A doubt is settled in this time, or left to the regular pings. */
const DOUBT_MS = 10_000;
/** Of the range that JSON-RPC leaves to implementations. */
const LOST = -32000;

/** Connects to a remote server and shakes hands with it. Everything that follows is told through `on`. */
export function openRemote(spec: RemoteSpec, deps: RemoteDeps, on: LinkEvents): Link {
  return new RemoteLink(spec, deps, on);
}

/** One incarnation of a remote server, whatever carries it. A link that has ended is never connected again. */
class RemoteLink implements Link {
  readonly session: Session;
  readonly pids: readonly number[] = [];
  readonly #spec: RemoteSpec;
  readonly #deps: RemoteDeps;
  readonly #on: LinkEvents;
  readonly #place: RemoteServer;
  readonly #startTimer: unknown;
  #transport: RemoteTransport | undefined;
  readonly #driver: Negotiation;
  #opened: Opened | undefined;
  /** What became of the last request of a handshake that is not done. */
  #handshakeTrouble: TransportFailure | undefined;
  #isDoubting = false;
  /** The request whose loss was the reason to doubt; it proves no more than it did. */
  #doubtedOver: number | undefined;
  /** Decided once, by whatever comes first; told when nothing of the connection is left. */
  #ending: Ending | undefined;
  #isOver = false;

  constructor(spec: RemoteSpec, deps: RemoteDeps, on: LinkEvents) {
    this.#spec = spec;
    this.#deps = deps;
    this.#on = on;
    this.#place = { name: spec.name, url: deps.redact(shownUrl(spec.url)) };
    const { session, driver } = this.#newTalk();
    this.session = session;
    this.#driver = driver;
    this.#startTimer = deps.clock.setTimeout(
      () => this.#fail(noHandshake(this.#place, spec.timeoutMs)),
      spec.timeoutMs,
    );
    void this.#begin();
  }

  ping(timeoutMs: number): Promise<void> {
    return this.#driver.ping(timeoutMs);
  }

  async list(method: ListMethod, onTtl?: (ttlMs: number) => void): Promise<JsonObject[]> {
    const { items, ttlMs } = await listAll(this.session, this.#opened?.capabilities ?? {}, method);
    if (ttlMs !== undefined) onTtl?.(ttlMs);
    return items;
  }

  watch(uri: string): Promise<Unwatch> {
    return watchResource(this.session, this.#driver, uri);
  }

  close(from: StopStep = 'close'): void {
    this.#decide({ kind: 'disconnected', reason: 'stopped', killed: false });
    this.session.seal();
    void this.#end(from === 'close');
  }

  #newTalk(): ProtocolStack {
    const link = this;
    return createProtocolStack({
      spec: this.#spec,
      deps: this.#deps,
      wire: {
        get ready() {
          return link.#opened !== undefined && (link.#transport?.ready ?? false);
        },
        write: (line) => !this.#isOver && (this.#transport?.write(line) ?? false),
      },
      other: (message, line) => this.#receive(message, line),
      notification: (method, params) => this.#on.notification(method, params),
    });
  }

  async #begin(): Promise<void> {
    try {
      const transport = await createTransport(this.#spec, {
        clock: this.#deps.clock,
        authorize: this.#deps.authorize,
        isBusy: () => this.session.inFlight > 0,
        on: {
          line: (bytes) => this.session.deliver(bytes),
          message: (raw) => this.session.deliverParsed(raw),
          oversized: (line) => this.#oversized(line),
          heard: () => this.session.heard(),
          drained: () => this.session.resume(),
          lost: (id, failure) => this.#lost(id, cleaned(failure, this.#deps.redact)),
          doubtful: (id) => void this.#doubt(id),
          broke: (failure) => this.#broke(failure),
          goodbye: () => this.#goodbye(),
          log: (text) => this.#log(text),
        },
      });
      if (this.#ending !== undefined) return;
      this.#transport = transport;
      await transport.dial();
      if (this.#ending !== undefined) return;
      this.#open(await this.#driver.open());
    } catch (error) {
      this.#notOpened(error);
    }
  }

  #open(opened: Opened): void {
    if (this.#ending !== undefined) return;
    this.#deps.clock.clearTimeout(this.#startTimer);
    this.#opened = opened;
    this.#on.opened(opened);
    this.session.resume();
  }

  #notOpened(error: unknown): void {
    const failure =
      error instanceof TransportError ? cleaned(error.failure, this.#deps.redact) : this.#handshakeTrouble;
    if (failure !== undefined) this.#fail(failureOf(this.#place, failure, false));
    else this.#fail(badHandshake(this.#place, this.#deps.redact(reasonOf(error))));
  }

  #receive(message: Message, line: Buffer | undefined): void {
    this.#handshakeTrouble = undefined;
    if (message.kind === 'broken') this.#noise(line);
    else if (message.kind === 'notification' && !isForDriver(message.method)) {
      if (!this.#isOver) this.#on.notification(message.method, message.params);
    } else if (message.kind !== 'batch' && this.#driver.receive(message.raw) === false) this.#noise(line);
  }

  #oversized(line: OversizedLine): void {
    if (this.session.deliverOversized(line)) return;
    this.#log(`(a message of ${line.bytes} bytes dropped: more than max_message_bytes)`);
    if (this.#opened === undefined) {
      this.#fail(failureOf(this.#place, { kind: 'too-large', bytes: line.bytes }, false));
    }
  }

  /** One request did not come through. Whether others would, its trouble tells. */
  #lost(id: number, failure: TransportFailure): void {
    if (this.#ending?.kind === 'error') return;
    const opened = this.#opened !== undefined;
    if (id >= FIRST_CALL_ID) this.#loseCall(id, failure);
    else if (this.#isDoubting && id !== this.#doubtedOver && failure.kind === 'cut')
      this.#fail(failureOf(this.#place, failure, opened));
    else if (!endsLink(failure)) this.#loseOwn(id, failure);
    if (endsLink(failure)) this.#fail(failureOf(this.#place, failure, opened));
  }

  /** A request of the handshake, or a ping. An upstream that knows nothing of losses is given an error for a reply. */
  #loseOwn(id: number, failure: TransportFailure): void {
    this.#handshakeTrouble = failure;
    const error = callErrorOf(this.#place, 'a request of toolherd itself', failure);
    const status = failure.kind === 'refused' ? failure.status : undefined;
    if (this.#driver.lose(id, error, status)) return;
    this.#driver.receive({ jsonrpc: '2.0', id, error: { code: LOST, message: error.message } });
  }

  #loseCall(id: number, failure: TransportFailure): void {
    for (const call of this.session.running) {
      if (call.id !== id) continue;
      const error = callErrorOf(this.#place, call.method, failure);
      if (failure.kind === 'too-large') this.session.loseReply(id, error);
      else this.session.lose(id, error);
      return;
    }
  }

  /** A connection broke, which may be the first sign that the server is gone: asked at once, it is known at once. */
  async #doubt(id: number | undefined): Promise<void> {
    if (this.#isDoubting || this.#opened === undefined || this.#ending !== undefined) return;
    this.#isDoubting = true;
    this.#doubtedOver = id;
    await this.ping(DOUBT_MS).catch(() => undefined);
    this.#isDoubting = false;
  }

  #broke(failure: TransportFailure): void {
    this.#fail(failureOf(this.#place, cleaned(failure, this.#deps.redact), this.#opened !== undefined));
  }

  #goodbye(): void {
    if (this.#opened === undefined) {
      this.#broke({ kind: 'cut', code: undefined });
      return;
    }
    if (!this.#decide({ kind: 'disconnected', reason: 'ended', killed: false })) return;
    this.session.seal();
    void this.#end(false);
  }

  /** True for the first reason to end; every later one is a consequence. */
  #decide(ending: Ending): boolean {
    if (this.#ending !== undefined) return false;
    this.#ending = ending;
    this.#deps.clock.clearTimeout(this.#startTimer);
    return true;
  }

  /** Something is wrong with it: what waits or runs is told at once, and the connection has to go. */
  #fail(failed: Failed): void {
    if (!this.#decide(failed)) return;
    this.#closeSession(failed);
    this.#driver.close();
    void this.#end(false);
  }

  /** Waits until nothing of the connection is left. A second order in a hurry overtakes a first one that waits. */
  async #end(politely: boolean): Promise<void> {
    await this.#transport?.close(politely);
    const ending = this.#ending;
    if (this.#isOver || ending === undefined) return;
    this.#isOver = true;
    this.#closeSession(ending);
    this.#driver.close();
    this.#on.ended(ending);
  }

  #closeSession(ending: Ending): void {
    this.session.close((sent) => closedErrorOf(this.#place, ending, sent));
  }

  #noise(line: Buffer | undefined): void {
    const shown = line?.toString('utf8', 0, 200) ?? '';
    this.#log(`it sent something that is no message${shown === '' ? '' : `: ${shown}`}`);
  }

  #log(text: string): void {
    this.#deps.log({ source: 'link', text: this.#deps.redact(text) });
  }
}

/** Loads a transport's code when the first such server is opened: a herd of processes needs none of it. */
async function createTransport(spec: RemoteSpec, ports: TransportPorts): Promise<RemoteTransport> {
  if (spec.transport === 'http') return new (await import('./http-transport.js')).HttpTransport(spec, ports);
  if (spec.transport === 'sse') return new (await import('./sse-transport.js')).SseTransport(spec, ports);
  return new (await import('./websocket-transport.js')).WebsocketTransport(spec, ports);
}
