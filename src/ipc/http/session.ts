import type { ServerResponse } from 'node:http';
import type { Clock } from '../../shared/clock.js';
import type { IdText, Incoming } from '../jsonrpc/message.js';
import { EventLog, readEventId } from './event-log.js';
import { headOf, parse } from './message-head.js';
import type { Refusal } from './refusal.js';
import type { RequestBody } from './request-body.js';
import type { Scope } from './routes.js';
import { Stream } from './stream.js';
import type { Message } from './virtual-connection.js';

export interface SessionOptions {
  id: string;
  place: Scope;
  clock: Clock;
  /** To the herd. */
  say(line: string | Buffer): void;
  /** The client's very first request was refused: there is no session. */
  onFailed(): void;
}

/** From here on an event without data tells a client where it can go on. */
const FIRST_PRIMED = '2025-11-25';
/** The last one in which several messages may be posted at once. */
const LAST_BATCHED = '2025-03-26';
const GENERAL = 0;

/**
 * A session of streamable HTTP, as it was until 2025-11-25: a connection to the herd whose messages are told apart by
 * whose they are. A reply goes to the response of the POST that asked, and what belongs to it before it; everything
 * else goes to the stream that a GET opened.
 */
export class HttpSession {
  readonly #options: SessionOptions;
  readonly #log = new EventLog();
  /** Those that wait for a reply, the newest last. */
  readonly #streams = new Map<number, Stream>();
  readonly #byRequest = new Map<IdText, Stream>();
  readonly #byToken = new Map<string, Stream>();
  readonly #general: Stream;
  #version = '';
  #began = 0;
  #usedAt: number;
  /** The request whose reply says which version is spoken. */
  #initialize: { id: IdText; response: ServerResponse } | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#general = this.#makeStream(GENERAL);
    this.#usedAt = options.clock.now();
  }

  get id(): string {
    return this.#options.id;
  }

  get place(): Scope {
    return this.#options.place;
  }

  /** Somebody listens or waits. */
  get isBusy(): boolean {
    return this.#general.isOpen || this.#streams.size > 0;
  }

  /** For how long nobody has used it. */
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
    for (const { line } of messages) this.#options.say(line);
    return undefined;
  }

  /** What belongs to no request; or, after a loss, the rest of one stream. */
  listen(response: ServerResponse, lastEventId: string | undefined): Refusal | undefined {
    this.#touch();
    if (lastEventId !== undefined && lastEventId !== '') return this.#resume(response, lastEventId);
    if (this.#general.isOpen) {
      const why = 'a session has one stream for what belongs to no request';
      return { status: 409, message: 'somebody listens already', why, fix: 'close the other one first' };
    }
    this.#general.resume(response);
    return undefined;
  }

  hear(message: Message): void {
    const head = headOf(message);
    if (head === undefined) return;
    if (head.kind === 'reply') this.#answer(head.id, message, head.isError);
    else if (head.kind === 'question') (this.#newest() ?? this.#general).send(message);
    else if (head.method === 'notifications/progress') {
      this.#byToken.get(JSON.stringify(head.params.progressToken))?.send(message);
    } else (this.#general.isOpen ? this.#general : (this.#newest() ?? this.#general)).send(message);
  }

  /** The connection to the herd is gone. */
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
    return { status: 400, code: -32_600, message, id: inUse };
  }

  #await(requests: readonly Requested[], isBatch: boolean, response: ServerResponse): void {
    this.#began += 1;
    const stream = this.#makeStream(this.#began);
    this.#streams.set(stream.number, stream);
    for (const { id, method, params } of requests) {
      stream.waiting.add(id);
      this.#byRequest.set(id, stream);
      const token = progressToken(params);
      if (token !== undefined) this.#byToken.set(JSON.stringify(token), stream);
      if (method === 'initialize') this.#initialize = { id, response };
    }
    response.setHeader('Mcp-Session-Id', this.id);
    stream.open(response);
    if (isBatch) stream.begin();
  }

  #answer(id: IdText, message: Message, isError: boolean): void {
    const stream = this.#settle(id);
    const isFailed = id === this.#initialize?.id && this.#initialized(message, isError) === false;
    if (stream?.waiting.size === 0) stream.finish(message);
    else stream?.send(message);
    if (isFailed) this.#options.onFailed();
  }

  /** Takes a request out; its stream with it, when it was the last one there. */
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

  /** False when there is no session after all. */
  #initialized(message: Message, isError: boolean): boolean {
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
      const params = `{"requestId":${id},"reason":"nobody waits for it"}`;
      this.#options.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":${params}}`);
    }
  }

  /** The newest request that somebody waits for: of a question it is not said which one it belongs to. */
  #newest(): Stream | undefined {
    return [...this.#streams.values()].filter(({ isOpen }) => isOpen).at(-1);
  }

  #touch(): void {
    this.#usedAt = this.#options.clock.now();
  }
}

type Requested = Extract<Incoming, { kind: 'request' }>;

function progressToken(params: unknown): unknown {
  return (params as { _meta?: { progressToken?: unknown } } | undefined)?._meta?.progressToken;
}
