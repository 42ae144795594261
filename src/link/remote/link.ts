import type { RemoteSpec } from '../../config/schema/spec.js';
import type { Ending, Failed } from '../../machines/ending.js';
import type { OversizedLine } from '../../shared/framing/framer.js';
import type { Link, LinkEvents } from '../link.js';
import type { StopStep } from '../process/stop-sequence.js';
import { BaseLink } from '../protocol/negotiation/base-link.js';
import { type ProtocolDeps, reasonOf } from '../protocol/negotiation/protocol-stack.js';
import type { Message } from '../session/message.js';
import { FIRST_CALL_ID } from '../session/reply-router.js';
import {
  badHandshake,
  callErrorOf,
  closedErrorOf,
  failureOf,
  noHandshake,
  type RemoteServer,
  shownUrl,
} from './endings.js';
import { createTransport, type RemoteTransport, type TransportPorts } from './remote-transport.js';
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
class RemoteLink extends BaseLink {
  readonly pids: readonly number[] = [];
  readonly #spec: RemoteSpec;
  readonly #deps: RemoteDeps;
  readonly #place: RemoteServer;
  #transport: RemoteTransport | undefined;
  /** What became of the last request of a handshake that is not done. */
  #handshakeFailure: TransportFailure | undefined;
  #isDoubting = false;
  /** The request whose loss was the reason to doubt; it proves no more than it did. */
  #doubtedOver: number | undefined;

  constructor(spec: RemoteSpec, deps: RemoteDeps, on: LinkEvents) {
    super(spec, deps, on);
    this.#spec = spec;
    this.#deps = deps;
    this.#place = { name: spec.name, url: deps.redact(shownUrl(spec.url)) };
    this.limitHandshake(spec.timeoutMs, () => this.#fail(noHandshake(this.#place, spec.timeoutMs)));
    void this.#begin();
  }

  close(from: StopStep = 'close'): void {
    this.decide({ kind: 'disconnected', reason: 'stopped', killed: false });
    this.session.seal();
    void this.#end(from === 'close');
  }

  protected get isWritable(): boolean {
    return this.#transport?.ready ?? false;
  }

  protected write(line: string): boolean {
    return !this.isOver && (this.#transport?.write(line) ?? false);
  }

  protected logNoise(line: Buffer | undefined): void {
    const shown = line?.toString('utf8', 0, 200) ?? '';
    this.#log(`it sent something that is no message${shown === '' ? '' : `: ${shown}`}`);
  }

  protected override receive(message: Message, line: Buffer | undefined): void {
    this.#handshakeFailure = undefined;
    super.receive(message, line);
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
      if (this.ending !== undefined) return;
      this.#transport = transport;
      await transport.dial();
      if (this.ending !== undefined) return;
      this.open(await this.driver.open());
    } catch (error) {
      this.#notOpened(error);
    }
  }

  #notOpened(error: unknown): void {
    const failure =
      error instanceof TransportError ? cleaned(error.failure, this.#deps.redact) : this.#handshakeFailure;
    if (failure !== undefined) this.#fail(failureOf(this.#place, failure, false));
    else this.#fail(badHandshake(this.#place, this.#deps.redact(reasonOf(error))));
  }

  #oversized(line: OversizedLine): void {
    if (this.session.deliverOversized(line)) return;
    this.#log(`(a message of ${line.bytes} bytes dropped: more than max_message_bytes)`);
    if (this.opened === undefined) {
      this.#fail(failureOf(this.#place, { kind: 'too-large', bytes: line.bytes }, false));
    }
  }

  /** One request did not come through. Whether others would, its trouble tells. */
  #lost(id: number, failure: TransportFailure): void {
    if (this.ending?.kind === 'error') return;
    const opened = this.opened !== undefined;
    if (id >= FIRST_CALL_ID) this.#loseCall(id, failure);
    else if (this.#isDoubting && id !== this.#doubtedOver && failure.kind === 'cut')
      this.#fail(failureOf(this.#place, failure, opened));
    else if (!endsLink(failure)) this.#loseOwn(id, failure);
    if (endsLink(failure)) this.#fail(failureOf(this.#place, failure, opened));
  }

  /** A request of the handshake, or a ping. An upstream that knows nothing of losses is given an error for a reply. */
  #loseOwn(id: number, failure: TransportFailure): void {
    this.#handshakeFailure = failure;
    const error = callErrorOf(this.#place, 'a request of toolherd itself', failure);
    const status = failure.kind === 'refused' ? failure.status : undefined;
    if (this.driver.lose(id, error, status)) return;
    this.driver.receive({ jsonrpc: '2.0', id, error: { code: LOST, message: error.message } });
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
    if (this.#isDoubting || this.opened === undefined || this.ending !== undefined) return;
    this.#isDoubting = true;
    this.#doubtedOver = id;
    await this.ping(DOUBT_MS).catch(() => undefined);
    this.#isDoubting = false;
  }

  #broke(failure: TransportFailure): void {
    this.#fail(failureOf(this.#place, cleaned(failure, this.#deps.redact), this.opened !== undefined));
  }

  #goodbye(): void {
    if (this.opened === undefined) {
      this.#broke({ kind: 'cut', code: undefined });
      return;
    }
    if (!this.decide({ kind: 'disconnected', reason: 'ended', killed: false })) return;
    this.session.seal();
    void this.#end(false);
  }

  /** Something is wrong with it: what waits or runs is told at once, and the connection has to go. */
  #fail(failed: Failed): void {
    if (!this.decide(failed)) return;
    this.#closeSession(failed);
    this.driver.close();
    void this.#end(false);
  }

  /** Waits until nothing of the connection is left. A second order in a hurry overtakes a first one that waits. */
  async #end(politely: boolean): Promise<void> {
    await this.#transport?.close(politely);
    const ending = this.ending;
    if (this.isOver || ending === undefined) return;
    this.#closeSession(ending);
    this.driver.close();
    this.end(ending);
  }

  #closeSession(ending: Ending): void {
    this.session.close((sent) => closedErrorOf(this.#place, ending, sent));
  }

  #log(text: string): void {
    this.#deps.log({ source: 'link', text: this.#deps.redact(text) });
  }
}
