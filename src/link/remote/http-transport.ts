import { type JSONRPCMessage, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { HttpSpec } from '../../config/fields/spec.js';
import { withTimeout } from '../../shared/async.js';
import type { OversizedLine } from '../../shared/framing/framer.js';
import { isObject, type JsonObject, metaOf } from '../../shared/json.js';
import { PROTOCOL_VERSION_KEY } from '../../shared/mcp/mcp-names.js';
import { FIRST_CALL_ID } from '../calls/reply-router.js';
import { replyIds } from '../calls/reply-source.js';
import { endsLink, type TransportFailure } from '../failures/transport-failure.js';
import { type Exchange, Exchanges, REQUEST_ID } from './http-exchange.js';
import { briefly, httpFailure, replyIn } from './http-failure.js';
import { gaveUpStream } from './library-messages.js';
import { type PendingRequest, PendingRequests } from './pending-requests.js';
import { withHeaders } from './refusal-headers.js';
import { GOODBYE_MS, type RemoteTransport, type TransportPorts } from './remote-transport.js';
import { RESUMING, StreamRecovery } from './stream-recovery.js';
import { ToolHeaders } from './tool-headers.js';

/** A stream that stays open after the reply is closed after this time. */
const LINGER_MS = 1000;
/** The most notifications and answers that may be on their way at once. */
const MOST_POSTING = 256;

/**
 * Streamable HTTP on the SDK's transport, which sends requests and resumes streams. This class closes its gaps: every
 * request gets a reply or a failure, once.
 */
export class HttpTransport implements RemoteTransport {
  readonly #spec: HttpSpec;
  readonly #ports: TransportPorts;
  readonly #exchanges: Exchanges;
  readonly #transport: StreamableHTTPClientTransport;
  readonly #pending = new PendingRequests();
  readonly #timers = new Set<unknown>();
  readonly #toolHeaders: ToolHeaders;
  readonly #recovery: StreamRecovery;
  /** `initializing`: `notifications/initialized` is on its way, and another request could overtake it. */
  #state: 'new' | 'open' | 'initializing' | 'closed' = 'new';
  #initializeId: number | undefined;
  #posting = 0;
  /** `opened`: at least once. */
  #notifications: 'never opened' | 'opened' = 'never opened';

  constructor(spec: HttpSpec, ports: TransportPorts) {
    this.#spec = spec;
    this.#ports = ports;
    const { clock } = ports;
    this.#toolHeaders = new ToolHeaders((text) => ports.on.log(text));
    this.#exchanges = new Exchanges({
      clock,
      maxMessageBytes: spec.maxMessageBytes,
      silenceMs: ({ id, isResumed }) =>
        isResumed || (id !== undefined && id >= FIRST_CALL_ID) ? spec.sseReadTimeoutMs : 0,
      resumed: (lastEvent) => this.#pending.resumed(lastEvent),
      isWanted: (id) => this.#pending.has(id),
      on: {
        oversized: (event) => this.#oversized(event),
        broke: (exchange, failure) => this.#broke(exchange, failure),
        responded: (exchange, status, isStream) => this.#responded(exchange, status, isStream),
      },
    });
    this.#recovery = new StreamRecovery({
      later: (run, ms) => this.#later(run, ms),
      reopen: () => this.#transport.resumeStream(''),
      log: (text) => ports.on.log(text),
    });
    this.#transport = new StreamableHTTPClientTransport(new URL(spec.url), {
      fetch: ports.authorize?.(this.#exchanges.fetch) ?? this.#exchanges.fetch,
      requestInit: { headers: spec.headers },
      reconnectionOptions: RESUMING,
      reconnectionScheduler: (reconnect, delayMs) => this.#recovery.schedule(reconnect, delayMs),
    });
    this.#transport.onmessage = (message) => this.#receive(message);
    this.#transport.onerror = (error) => this.#failed(error);
  }

  /** Nothing is connected yet: the first request is. */
  async dial(): Promise<void> {
    await this.#transport.start();
    if (this.#state === 'new') this.#state = 'open';
  }

  get ready(): boolean {
    return this.#state === 'open';
  }

  write(line: string): boolean {
    if (!this.#isOpen) return false;
    const message = JSON.parse(line) as JsonObject;
    if (message.method === 'notifications/cancelled') this.#cancel(message);
    else if (typeof message.method === 'string' && typeof message.id === 'number')
      this.#request(message, message.id);
    else if (this.#posting >= MOST_POSTING) return false;
    else void this.#post(message);
    return true;
  }

  async close(politely: boolean): Promise<TransportFailure | undefined> {
    const isTold = politely && this.#isOpen && this.#spec.terminateOnClose;
    const refusal = isTold ? await this.#terminate() : undefined;
    this.#state = 'closed';
    for (const timer of this.#timers) this.#ports.clock.clearTimeout(timer);
    this.#pending.clear();
    await this.#transport.close();
    this.#exchanges.close();
    return refusal;
  }

  #request(message: JsonObject, id: number): void {
    if (message.method === 'initialize') this.#initializeId = id;
    const isNew = namesItsVersion(message);
    const pending = this.#pending.add(id, isNew);
    if (isNew) this.#toolHeaders.requested(id, message);
    const onRequestStreamEnd = () => {
      this.#recovery.requestStreamEnded();
      this.#lose(id, pending.failure ?? { kind: 'no-reply' });
    };
    const headers = { [REQUEST_ID]: String(id), ...(isNew && this.#toolHeaders.headersOf(message)) };
    const onresumptiontoken = (event: string) => this.#pending.noteEvent(id, pending, event);
    // no signal for each request: the transport would join it with its one signal, which keeps every listener
    this.#transport.send(message as JSONRPCMessage, { headers, onRequestStreamEnd, onresumptiontoken }).then(
      () => {
        if (!pending.hasStream) this.#lose(id, { kind: 'no-reply' });
      },
      (error: unknown) => {
        if (this.#deliverError(id, error)) return;
        this.#lose(id, withHeaders(pending.failure ?? this.#failureIn(error), pending.headers));
      },
    );
  }

  /** Sends a message that gets no reply: a notification, or the answer to a request of the server. */
  async #post(message: JsonObject): Promise<void> {
    const isInitialized = message.method === 'notifications/initialized';
    if (isInitialized && this.#state === 'open') this.#state = 'initializing';
    this.#posting += 1;
    try {
      await this.#transport.send(message as JSONRPCMessage);
    } catch (error) {
      const failure = this.#failureIn(error);
      if (endsLink(failure)) this.#ports.on.broke(failure);
      else
        this.#ports.on.log(`the server did not take ${message.method ?? 'an answer'}: ${briefly(failure)}`);
    }
    this.#posting -= 1;
    if (!isInitialized) return;
    if (this.#state === 'initializing') this.#state = 'open';
    this.#ports.on.drained();
  }

  #cancel(message: JsonObject): void {
    const id = isObject(message.params) ? message.params.requestId : undefined;
    const pending = typeof id === 'number' ? this.#forget(id) : undefined;
    const drop = () => typeof id === 'number' && this.#drop(id, pending);
    if (pending?.isMcp2026) drop();
    else void this.#post(message).then(drop);
  }

  #forget(id: number): PendingRequest | undefined {
    this.#toolHeaders.lost(id);
    return this.#pending.remove(id);
  }

  /** Closes its stream. One that is about to be resumed is refused then (`PendingRequests.resumed`). */
  #drop(id: number, pending: PendingRequest | undefined): void {
    if (this.#exchanges.drop(id) && pending !== undefined) this.#pending.forgetEvent(pending);
  }

  #receive(message: JSONRPCMessage): void {
    const delivered = 'result' in message ? this.#toolHeaders.replied(message) : message;
    if (!('method' in message) && typeof message.id === 'number') {
      this.#replied(message.id);
      const version = 'result' in message ? message.result.protocolVersion : undefined;
      // every later request has to name the version; the driver does not know this transport
      if (message.id === this.#initializeId && typeof version === 'string') {
        this.#transport.setProtocolVersion(version);
      }
    }
    this.#ports.on.message(delivered);
  }

  #replied(id: number): void {
    const pending = this.#forget(id);
    if (pending === undefined) return;
    this.#pending.forgetEvent(pending);
    if (this.#exchanges.has(id)) this.#later(() => this.#exchanges.drop(id), LINGER_MS);
  }

  #deliverError(id: number, error: unknown): boolean {
    const reply = replyIn(error, id, this.#hasSession);
    if (reply === undefined) return false;
    this.#forget(id);
    this.#ports.on.message(reply);
    return true;
  }

  #lose(id: number, failure: TransportFailure): void {
    const pending = this.#forget(id);
    if (pending === undefined) return;
    this.#pending.forgetEvent(pending);
    this.#ports.on.lost(id, failure);
  }

  #oversized(event: OversizedLine): void {
    this.#ports.on.oversized(event);
    for (const id of replyIds(event.head, event.tail)) {
      const pending = this.#forget(id);
      if (pending !== undefined) this.#drop(id, pending);
    }
  }

  #responded({ method, id, headers }: Exchange, status: number, isStream: boolean): void {
    const pending = id === undefined || method === 'GET' ? undefined : this.#pending.get(id);
    if (pending !== undefined) {
      // the reply to a request that was only accepted (202) may come on the stream of notifications
      pending.hasStream = isStream || status === 202;
      pending.headers = headers;
    }
    if (method !== 'GET') return;
    if (status === 200) this.#notifications = 'opened';
    else if (this.#notifications === 'opened') this.#ports.on.doubtful();
  }

  #broke({ method, id }: Exchange, failure: TransportFailure): void {
    if (!this.#isOpen) return;
    const pending = id === undefined ? undefined : this.#pending.get(id);
    if (pending !== undefined) pending.failure = failure;
    if (failure.kind === 'cut') this.#recovery.cut();
    if (failure.kind === 'cut' || failure.kind === 'silent')
      this.#ports.on.doubtful(pending?.hasStream ? id : undefined);
    else if (failure.kind === 'unreachable' && method === 'GET') this.#ports.on.broke(failure);
  }

  /** The message is the only sign that the transport gave a stream up. */
  #failed(error: Error): void {
    if (this.#isOpen && gaveUpStream(error)) this.#recovery.gaveUp();
  }

  #later(what: () => void, ms: number): () => void {
    if (this.#state === 'closed') return () => undefined;
    const { clock } = this.#ports;
    const timer = clock.setTimeout(() => {
      this.#timers.delete(timer);
      what();
    }, ms);
    this.#timers.add(timer);
    return () => {
      this.#timers.delete(timer);
      clock.clearTimeout(timer);
    };
  }

  /** A server that is gone, or knows no such session, has nothing left to end. */
  async #terminate(): Promise<TransportFailure | undefined> {
    const { on, clock } = this.#ports;
    let refusal: TransportFailure | undefined;
    const terminated = this.#transport.terminateSession().catch((error: unknown) => {
      if (!this.#isOpen) return;
      const failure = this.#failureIn(error);
      on.log(`the server did not end our session: ${briefly(failure)}`);
      if (failure.kind === 'refused') refusal = failure;
    });
    await withTimeout(GOODBYE_MS, terminated, clock);
    return refusal;
  }

  get #isOpen(): boolean {
    return this.#state === 'open' || this.#state === 'initializing';
  }

  get #hasSession(): boolean {
    return this.#transport.sessionId !== undefined;
  }

  #failureIn(error: unknown): TransportFailure {
    return httpFailure(error, this.#hasSession);
  }
}

function namesItsVersion({ params }: JsonObject): boolean {
  return typeof metaOf(params)?.[PROTOCOL_VERSION_KEY] === 'string';
}
