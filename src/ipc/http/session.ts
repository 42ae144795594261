import type { ServerResponse } from 'node:http';
import type { Clock } from '../../shared/clock.js';
import { metaOf } from '../../shared/json.js';
import { CODE } from '../../shared/mcp/rpc-codes.js';
import type { IdText, Incoming } from '../jsonrpc/message.js';
import { EventLog, readEventId } from './event-log.js';
import { headOf, parse } from './message-head.js';
import type { Refusal } from './refusal.js';
import type { RequestBody } from './request-body.js';
import type { Scope } from './routes.js';
import { Stream } from './stream.js';
import type { LineChunks } from './virtual-connection.js';

export interface HttpSessionOptions {
  id: string;
  scope: Scope;
  clock: Clock;
  /** Sends a message of the client to the herd. */
  send(line: string | Buffer): void;
  /** `initialize` failed: there is no session. */
  onFailed(): void;
}

/** From this version on, an event without data tells a client where it can resume the stream. */
const FIRST_PRIMED = '2025-11-25';
/** The last version in which one POST may hold several messages. */
const LAST_BATCHED = '2025-03-26';
/** The number of the stream of a GET. */
const GENERAL = 0;

/**
 * A session of streamable HTTP up to 2025-11-25: it routes the messages of one connection to the herd. A reply goes to
 * the response of the POST with its request, and so do the messages that belong to this request. Everything else goes to
 * the stream that a GET opened.
 */
export class HttpSession {
  readonly #options: HttpSessionOptions;
  readonly #log = new EventLog();
  /** Streams of POSTs that wait for a reply, the newest last. */
  readonly #streams = new Map<number, Stream>();
  readonly #byRequest = new Map<IdText, Stream>();
  readonly #byToken = new Map<string, Stream>();
  readonly #general: Stream;
  #version = '';
  #began = 0;
  #usedAt: number;
  /** The request whose reply has the protocol version. */
  #initialize: { id: IdText; response: ServerResponse } | undefined;

  constructor(options: HttpSessionOptions) {
    this.#options = options;
    this.#general = this.#makeStream(GENERAL);
    this.#usedAt = options.clock.now();
  }

  get id(): string {
    return this.#options.id;
  }

  get scope(): Scope {
    return this.#options.scope;
  }

  /** A response is open, or a request waits for its reply. */
  get isBusy(): boolean {
    return this.#general.isOpen || this.#streams.size > 0;
  }

  /** How long ago the last request came; 0 while it is busy. */
  get idleMs(): number {
    return this.isBusy ? 0 : this.#options.clock.now() - this.#usedAt;
  }

  post({ isBatch, messages }: RequestBody, response: ServerResponse): Refusal | undefined {
    const incoming = messages.map((message) => message.incoming);
    const refusal = this.#refusalOf(incoming, isBatch);
    if (refusal !== undefined) return refusal;
    this.#touch();
    const requests = incoming.filter((message) => message.kind === 'request');
    if (requests.length === 0) response.writeHead(202, { 'Content-Length': 0 }).end();
    else this.#await(requests, isBatch, response);
    for (const message of incoming) if (message.kind === 'cancel') this.#forget(message.target);
    for (const { line } of messages) this.#options.send(line);
    return undefined;
  }

  /** A GET: the stream of messages that belong to no request, or the rest of a stream that the client lost. */
  listen(response: ServerResponse, lastEventId: string | undefined): Refusal | undefined {
    this.#touch();
    if (lastEventId !== undefined && lastEventId !== '') return this.#resume(response, lastEventId);
    if (this.#general.isOpen) {
      const why = 'a session has one stream for messages that belong to no request';
      return {
        status: 409,
        message: 'a GET of this session is open already',
        why,
        fix: 'close the other one first',
      };
    }
    this.#general.resume(response);
    return undefined;
  }

  /** A message from the herd. */
  receive(message: LineChunks): void {
    const head = headOf(message);
    if (head === undefined) return;
    if (head.kind === 'reply') this.#answer(head.id, message, head.isError);
    else if (head.kind === 'request') (this.#newest() ?? this.#general).send(message);
    else if (head.method === 'notifications/progress') {
      this.#byToken.get(JSON.stringify(head.params.progressToken))?.send(message);
    } else (this.#general.isOpen ? this.#general : (this.#newest() ?? this.#general)).send(message);
  }

  /** The connection to the herd has ended. */
  end(): void {
    for (const stream of [...this.#streams.values(), this.#general]) stream.end();
    this.#streams.clear();
    this.#byRequest.clear();
    this.#byToken.clear();
  }

  #refusalOf(incoming: readonly Incoming[], isBatch: boolean): Refusal | undefined {
    if (isBatch && (this.#version === '' || this.#version > LAST_BATCHED)) {
      return { status: 400, message: `several messages in one POST ended with version ${LAST_BATCHED}` };
    }
    const ids = incoming.flatMap((message) => (message.kind === 'request' ? [message.id] : []));
    const seen = new Set<IdText>();
    const inUse = ids.find((id) => this.#byRequest.has(id) || seen.size === seen.add(id).size);
    if (inUse === undefined) return undefined;
    const message = `Invalid request: id ${inUse} is in use by a request in flight`;
    return { status: 400, code: CODE.invalidRequest, message, id: inUse };
  }

  #await(requests: readonly Requested[], isBatch: boolean, response: ServerResponse): void {
    this.#began += 1;
    const stream = this.#makeStream(this.#began);
    this.#streams.set(stream.number, stream);
    for (const { id, method, params } of requests) {
      stream.waiting.add(id);
      this.#byRequest.set(id, stream);
      const token = metaOf(params)?.progressToken;
      if (token !== undefined) this.#byToken.set(JSON.stringify(token), stream);
      if (method === 'initialize') this.#initialize = { id, response };
    }
    response.setHeader('Mcp-Session-Id', this.id);
    stream.open(response);
    if (isBatch) stream.begin();
  }

  #answer(id: IdText, message: LineChunks, isError: boolean): void {
    const stream = this.#settle(id);
    const isFailed = id === this.#initialize?.id && this.#initialized(message, isError) === false;
    if (stream?.waiting.size === 0) stream.finish(message);
    else stream?.send(message);
    if (isFailed) this.#options.onFailed();
  }

  /** Removes a request, and its stream after the last one. */
  #settle(id: IdText): Stream | undefined {
    const stream = this.#byRequest.get(id);
    this.#byRequest.delete(id);
    stream?.waiting.delete(id);
    if (stream?.waiting.size === 0) this.#remove(stream);
    return stream;
  }

  #remove(stream: Stream): void {
    this.#streams.delete(stream.number);
    for (const id of stream.waiting) this.#byRequest.delete(id);
    for (const [token, of] of this.#byToken) if (of === stream) this.#byToken.delete(token);
    this.#touch();
  }

  /** False where `initialize` failed. */
  #initialized(message: LineChunks, isError: boolean): boolean {
    const { response } = this.#initialize ?? {};
    this.#initialize = undefined;
    if (!isError) {
      const { result } = parse(message) as { result: { protocolVersion: string } };
      this.#version = result.protocolVersion;
    } else if (this.#version === '' && response?.headersSent === false) {
      response.removeHeader('Mcp-Session-Id');
    }
    return this.#version !== '';
  }

  /** A cancelled request gets no reply. */
  #forget(id: IdText): void {
    const stream = this.#settle(id);
    if (stream?.waiting.size === 0) stream.end();
  }

  #resume(response: ServerResponse, lastEventId: string): Refusal | undefined {
    const last = readEventId(lastEventId);
    const live = last?.stream === GENERAL ? this.#general : this.#streams.get(last?.stream ?? -1);
    if (last === undefined || last.stream > this.#began) {
      return { status: 400, message: 'Last-Event-ID names no event of this session' };
    }
    if (live !== undefined) {
      live.resume(response, last.sequence);
      return undefined;
    }
    if (this.#log.after(last.stream, last.sequence).length === 0) {
      const why = 'it has ended, and all of it was sent or is too long ago';
      return { status: 400, message: 'there is nothing to come back for on that stream', why };
    }
    const rest = this.#makeStream(last.stream);
    rest.resume(response, last.sequence);
    rest.end();
    return undefined;
  }

  #makeStream(number: number): Stream {
    return new Stream({
      number,
      clock: this.#options.clock,
      log: this.#log,
      isPrimed: () => this.#version >= FIRST_PRIMED,
      onAbandoned: () => this.#abandon(number),
    });
  }

  #abandon(number: number): void {
    const stream = this.#streams.get(number);
    if (stream === undefined) return;
    this.#remove(stream);
    for (const id of stream.waiting) {
      const params = `{"requestId":${id},"reason":"the client closed the response"}`;
      this.#options.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":${params}}`);
    }
  }

  /** The newest stream with a response. A server's request does not say to which call it belongs. */
  #newest(): Stream | undefined {
    return [...this.#streams.values()].filter(({ isOpen }) => isOpen).at(-1);
  }

  #touch(): void {
    this.#usedAt = this.#options.clock.now();
  }
}

type Requested = Extract<Incoming, { kind: 'request' }>;
