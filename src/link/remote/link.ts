import type { RemoteSpec } from '../../config/fields/spec.js';
import type { Ending, Failed } from '../../machines/restart/ending.js';
import type { StopStep } from '../../processes/stop-sequence.js';
import type { OversizedLine } from '../../shared/framing/framer.js';
import type { JsonObject } from '../../shared/json.js';
import { MCP_CODE } from '../../shared/mcp/rpc-codes.js';
import type { Message } from '../calls/message.js';
import { FIRST_CALL_ID } from '../calls/reply-router.js';
import {
  badHandshake,
  callErrorOf,
  closedErrorOf,
  closeFailure,
  failureOf,
  noHandshake,
  type RemoteServer,
  shownUrl,
} from '../failures/remote-endings.js';
import { cleaned, endsLink, TransportError, type TransportFailure } from '../failures/transport-failure.js';
import type { Link, LinkEvents } from '../link.js';
import type { ListMethod } from '../protocol/list.js';
import { BaseLink } from '../protocol/negotiation/base-link.js';
import { handshakeFailureText, type ProtocolDeps } from '../protocol/negotiation/protocol-stack.js';
import { createTransport } from './create-transport.js';
import type { RemoteTransport, TransportPorts } from './remote-transport.js';

export interface RemoteDeps extends ProtocolDeps {
  /** Adds the server's authorisation to the fetch that sends every request. */
  authorize?: TransportPorts['authorize'];
  /** The connections of other herds. */
  herd?: TransportPorts['herd'];
}

/** How long a ping after a broken connection may take; after that the regular pings decide. */
const CHECK_MS = 10_000;

/** Connects to a remote server and opens a session with it. `on` gets everything that follows. */
export function openRemote(spec: RemoteSpec, deps: RemoteDeps, on: LinkEvents): Link {
  return new RemoteLink(spec, deps, on);
}

/** One incarnation of a remote server, over any transport. A link that has ended is never connected again. */
class RemoteLink extends BaseLink {
  readonly pids: readonly number[] = [];
  readonly #spec: RemoteSpec;
  readonly #deps: RemoteDeps;
  readonly #server: RemoteServer;
  #transport: RemoteTransport | undefined;
  /** How the last request of an unfinished handshake failed. */
  #handshakeFailure: TransportFailure | undefined;
  /** A ping checks whether the server is still there. */
  #isChecking = false;
  /** The request whose loss caused the check: its loss alone does not end the link. */
  #checkedFor: number | undefined;

  constructor(spec: RemoteSpec, deps: RemoteDeps, on: LinkEvents) {
    super(spec, deps, on);
    this.#spec = spec;
    this.#deps = deps;
    this.#server = { name: spec.name, url: deps.redact(shownUrl(spec.url)) };
    this.limitHandshake(spec.timeoutMs, () => this.#fail(noHandshake(this.#server, spec.timeoutMs)));
    void this.#begin();
  }

  /** The daemon of a herd says when a list changes, so its answers do not expire here. */
  override list(method: ListMethod, onTtl?: (ttlMs: number) => void): Promise<JsonObject[]> {
    return super.list(method, this.#spec.transport === 'herd' ? undefined : onTtl);
  }

  close(from: StopStep = 'close'): void {
    this.decide({ kind: 'disconnected', reason: 'stopped', killed: false });
    this.session.seal();
    void this.#end(from === 'close');
  }

  protected get isWritable(): boolean {
    return this.#transport?.ready ?? false;
  }

  write(line: string): boolean {
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
        herd: this.#deps.herd,
        isBusy: () => this.session.inFlight > 0,
        on: {
          line: (bytes) => this.session.deliver(bytes),
          message: (raw) => this.session.deliverParsed(raw),
          oversized: (line) => this.#oversized(line),
          received: () => this.session.noteReceived(),
          drained: () => this.session.resume(),
          lost: (id, failure) => this.#lost(id, cleaned(failure, this.#deps.redact)),
          doubtful: (id) => void this.#check(id),
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
    if (failure !== undefined) this.#fail(failureOf(this.#server, failure, false));
    else this.#fail(badHandshake(this.#server, this.#deps.redact(handshakeFailureText(error))));
  }

  #oversized(line: OversizedLine): void {
    if (this.session.deliverOversized(line)) return;
    this.#log(`(a message of ${line.bytes} bytes dropped: more than max_message_bytes)`);
    if (this.opened === undefined) {
      this.#fail(failureOf(this.#server, { kind: 'too-large', bytes: line.bytes }, false));
    }
  }

  /** One request got lost. Its failure tells whether others would get through. */
  #lost(id: number, failure: TransportFailure): void {
    if (this.ending?.kind === 'error') return;
    const opened = this.opened !== undefined;
    if (id >= FIRST_CALL_ID) this.#loseCall(id, failure);
    else if (this.#isChecking && id !== this.#checkedFor && failure.kind === 'cut')
      this.#fail(failureOf(this.#server, failure, opened));
    else if (!endsLink(failure)) this.#loseOwn(id, failure);
    if (endsLink(failure)) this.#fail(failureOf(this.#server, failure, opened));
  }

  /** A request of the handshake, or a ping. A driver that does not handle losses gets an error as the reply. */
  #loseOwn(id: number, failure: TransportFailure): void {
    this.#handshakeFailure = failure;
    const error = callErrorOf(this.#server, 'a request of toolherd itself', failure);
    const status = failure.kind === 'refused' ? failure.status : undefined;
    if (this.driver.lose(id, error, status)) return;
    this.driver.receive({ jsonrpc: '2.0', id, error: { code: MCP_CODE.failed, message: error.message } });
  }

  #loseCall(id: number, failure: TransportFailure): void {
    for (const call of this.session.running) {
      if (call.id !== id) continue;
      const error = callErrorOf(this.#server, call.method, failure);
      if (failure.kind === 'too-large' || failure.kind === 'told') this.session.loseReply(id, error);
      else this.session.lose(id, error);
      return;
    }
  }

  /** A connection broke, perhaps because the server is gone: a ping at once finds out at once. */
  async #check(id: number | undefined): Promise<void> {
    if (this.#isChecking || this.opened === undefined || this.ending !== undefined) return;
    this.#isChecking = true;
    this.#checkedFor = id;
    await this.ping(CHECK_MS).catch(() => undefined);
    this.#isChecking = false;
  }

  #broke(failure: TransportFailure): void {
    // a silent stream is a timeout of its calls on every transport, not a crash
    if (failure.kind === 'silent')
      for (const { id } of [...this.session.running]) this.#loseCall(id, failure);
    this.#fail(failureOf(this.#server, cleaned(failure, this.#deps.redact), this.opened !== undefined));
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

  /** The server is unusable: its calls fail at once, and the connection is closed. */
  #fail(failed: Failed): void {
    if (!this.decide(failed)) return;
    this.#closeSession(failed);
    this.driver.close();
    void this.#end(false);
  }

  /** Waits until the connection is closed. A second, impolite close overtakes a polite one that still waits. */
  async #end(politely: boolean): Promise<void> {
    const refusal = await this.#transport?.close(politely);
    if (this.isOver || this.ending === undefined) return;
    const isRefused = refusal !== undefined && this.ending.kind === 'disconnected';
    const ending = isRefused ? closeFailure(this.#server, cleaned(refusal, this.#deps.redact)) : this.ending;
    this.#closeSession(ending);
    this.driver.close();
    this.end(ending);
  }

  #closeSession(ending: Ending): void {
    this.session.close((sent) => closedErrorOf(this.#server, ending, sent));
  }

  #log(text: string): void {
    this.#deps.log({ source: 'link', text: this.#deps.redact(text) });
  }
}
