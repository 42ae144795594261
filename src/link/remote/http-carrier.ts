import {
  InsufficientScopeError,
  type JSONRPCMessage,
  PROTOCOL_VERSION_META_KEY,
  SdkError,
  SdkHttpError,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import type { HttpSpec } from '../../config/spec.js';
import type { OversizedLine } from '../framer.js';
import { FIRST_CALL_ID } from '../session/inbox.js';
import { isObject, type JsonObject } from '../session/message.js';
import { replyIds } from '../session/reply-ids.js';
import { type Carrier, type CarrierPorts, GOODBYE_MS } from './carrier.js';
import { type Exchange, Exchanges, REQUEST_ID } from './exchange.js';
import { ToolHeaders } from './tool-headers.js';
import { endsLink, type Trouble, troubleIn } from './trouble.js';

/** A request that has no reply yet. */
interface Pending {
  readonly stream: AbortController;
  /** It says which protocol it speaks: from 2026-07-28 on a closed stream cancels, and nothing else. */
  readonly isModern: boolean;
  hasStream: boolean;
  /** Why its stream broke, where it did. */
  trouble: Trouble | undefined;
}

/** How often a broken stream is tried again before its call is lost, and how soon the first time. */
const RESUMING = {
  initialReconnectionDelay: 500,
  maxReconnectionDelay: 30_000,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: 2,
};
/** A stream that was cut is taken up at once: a server's own `retry` is for those that it ended on purpose. */
const AFTER_CUT_MS = 50;
/** A server that lives without its stream of notifications is asked for it now and then. */
const REOPEN_MS = 30_000;

/**
 * Streamable HTTP on the SDK's transport, which knows what to send where and resumes what a server lets resume. Here
 * its gaps are closed: whatever happens to a request, it is told of it, once.
 */
export class HttpCarrier implements Carrier {
  readonly #spec: HttpSpec;
  readonly #ports: CarrierPorts;
  readonly #exchanges: Exchanges;
  readonly #transport: StreamableHTTPClientTransport;
  readonly #pending = new Map<number, Pending>();
  readonly #timers = new Set<unknown>();
  readonly #toolHeaders: ToolHeaders;
  #state: 'new' | 'open' | 'closed' = 'new';
  #initializeId: number | undefined;
  /** `notifications/initialized` is under way: what is sent beside it could overtake it. */
  #isIntroducing = false;
  #hadStream = false;
  #wasCut = false;
  #gaveUp = false;

  constructor(spec: HttpSpec, ports: CarrierPorts) {
    this.#spec = spec;
    this.#ports = ports;
    const { clock } = ports;
    this.#toolHeaders = new ToolHeaders((text) => ports.on.log(text));
    this.#exchanges = new Exchanges({
      clock,
      maxMessageBytes: spec.maxMessageBytes,
      silenceMs: ({ id, isResumed }) =>
        isResumed || (id !== undefined && id >= FIRST_CALL_ID) ? spec.sseReadTimeoutMs : 0,
      on: {
        oversized: (event) => this.#oversized(event),
        broke: (exchange, trouble) => this.#broke(exchange, trouble),
        responded: (exchange, status, isStream) => this.#responded(exchange, status, isStream),
      },
    });
    this.#transport = new StreamableHTTPClientTransport(new URL(spec.url), {
      fetch: ports.authorize?.(this.#exchanges.fetch) ?? this.#exchanges.fetch,
      requestInit: { headers: spec.headers },
      reconnectionOptions: RESUMING,
      reconnectionScheduler: (reconnect, delayMs) => this.#schedule(reconnect, delayMs),
    });
    this.#transport.onmessage = (message) => this.#receive(message);
    this.#transport.onerror = (error) => this.#failed(error);
  }

  /** There is no connection to make: the first request finds out. */
  async dial(): Promise<void> {
    await this.#transport.start();
    if (this.#state === 'new') this.#state = 'open';
  }

  get ready(): boolean {
    return this.#state === 'open' && !this.#isIntroducing;
  }

  write(line: string): boolean {
    if (this.#state !== 'open') return false;
    const message = JSON.parse(line) as JsonObject;
    if (message.method === 'notifications/cancelled') this.#cancel(message);
    else if (typeof message.method === 'string' && typeof message.id === 'number')
      this.#request(message, message.id);
    else void this.#tell(message);
    return true;
  }

  async close(politely: boolean): Promise<void> {
    if (politely && this.#state === 'open' && this.#spec.terminateOnClose) await this.#terminate();
    this.#state = 'closed';
    for (const timer of this.#timers) this.#ports.clock.clearTimeout(timer);
    this.#pending.clear();
    await this.#transport.close();
    this.#exchanges.close();
  }

  #request(message: JsonObject, id: number): void {
    if (message.method === 'initialize') this.#initializeId = id;
    const stream = new AbortController();
    const isNew = isModern(message);
    const pending: Pending = { stream, isModern: isNew, hasStream: false, trouble: undefined };
    this.#pending.set(id, pending);
    if (isNew) this.#toolHeaders.asked(id, message);
    const onRequestStreamEnd = () => {
      this.#gaveUp = false;
      this.#lose(id, pending.trouble ?? { kind: 'no-reply' });
    };
    const headers = { [REQUEST_ID]: String(id), ...(isNew && this.#toolHeaders.of(message)) };
    this.#transport
      .send(message as JSONRPCMessage, { requestSignal: stream.signal, headers, onRequestStreamEnd })
      .then(
        () => {
          if (!pending.hasStream) this.#lose(id, { kind: 'no-reply' });
        },
        (error: unknown) => {
          if (!this.#deliverError(id, error)) this.#lose(id, pending.trouble ?? this.#troubleIn(error));
        },
      );
  }

  /** A message that expects no reply: a notification, or the answer to a question of the server. */
  async #tell(message: JsonObject): Promise<void> {
    const isIntroduction = message.method === 'notifications/initialized';
    if (isIntroduction) this.#isIntroducing = true;
    try {
      await this.#transport.send(message as JSONRPCMessage);
    } catch (error) {
      const trouble = this.#troubleIn(error);
      if (endsLink(trouble)) this.#ports.on.broke(trouble);
      else this.#ports.on.log(`the server did not take ${message.method ?? 'an answer'}: ${reasonOf(error)}`);
    }
    if (isIntroduction) {
      this.#isIntroducing = false;
      this.#ports.on.drained();
    }
  }

  #cancel(message: JsonObject): void {
    const id = isObject(message.params) ? message.params.requestId : undefined;
    const pending = typeof id === 'number' ? this.#pending.get(id) : undefined;
    if (typeof id === 'number') this.#pending.delete(id);
    if (pending?.isModern) pending.stream.abort();
    else void this.#tell(message).then(() => pending?.stream.abort());
  }

  #receive(message: JSONRPCMessage): void {
    if (!('method' in message) && typeof message.id === 'number') {
      this.#pending.delete(message.id);
      const version = 'result' in message ? message.result.protocolVersion : undefined;
      // every later request has to name it; the client that shakes hands does not know this transport
      if (message.id === this.#initializeId && typeof version === 'string') {
        this.#transport.setProtocolVersion(version);
      }
    }
    this.#ports.on.message('result' in message ? this.#toolHeaders.heard(message) : message);
  }

  /** A refusal may have the reply in its body, as a JSON-RPC error. */
  #deliverError(id: number, error: unknown): boolean {
    if (!SdkHttpError.isInstance(error) || this.#isForgotten(error)) return false;
    const reply = jsonIn(textOf(error));
    if (!isObject(reply) || reply.id !== id || !isObject(reply.error)) return false;
    this.#pending.delete(id);
    this.#ports.on.message(reply);
    return true;
  }

  #lose(id: number, trouble: Trouble): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    this.#pending.delete(id);
    this.#toolHeaders.lost(id);
    pending.stream.abort();
    this.#ports.on.lost(id, trouble);
  }

  #oversized(event: OversizedLine): void {
    this.#ports.on.oversized(event);
    for (const id of replyIds(event.head, event.tail)) {
      this.#pending.get(id)?.stream.abort();
      this.#pending.delete(id);
    }
  }

  #responded({ method, id }: Exchange, status: number, isStream: boolean): void {
    const pending = id === undefined ? undefined : this.#pending.get(id);
    // a request that was merely accepted may be answered on the stream of notifications
    if (pending !== undefined) pending.hasStream = isStream || status === 202;
    if (method !== 'GET') return;
    if (status === 200) this.#hadStream = true;
    else if (this.#hadStream) this.#ports.on.doubtful();
  }

  #broke({ method, id }: Exchange, trouble: Trouble): void {
    if (this.#state !== 'open') return;
    const pending = id === undefined ? undefined : this.#pending.get(id);
    if (pending !== undefined) pending.trouble = trouble;
    if (trouble.kind === 'cut') this.#wasCut = true;
    if (trouble.kind === 'cut' || trouble.kind === 'silent') this.#ports.on.doubtful();
    else if (trouble.kind === 'unreachable' && method === 'GET') this.#ports.on.broke(trouble);
  }

  #schedule(reconnect: () => void, delayMs: number): () => void {
    const ms = this.#wasCut ? Math.min(delayMs, AFTER_CUT_MS) : delayMs;
    this.#wasCut = false;
    return this.#later(reconnect, ms);
  }

  /** The transport's own words are the only sign that it gave up a stream; whose it was shows right after. */
  #failed(error: Error): void {
    if (this.#state !== 'open' || !error.message.startsWith('Maximum reconnection attempts')) return;
    this.#gaveUp = true;
    queueMicrotask(() => {
      if (this.#gaveUp) this.#reopenLater();
      this.#gaveUp = false;
    });
  }

  #reopenLater(): void {
    this.#ports.on.log(
      'its stream of notifications is closed and could not be opened again; more tries follow',
    );
    this.#later(() => {
      this.#transport.resumeStream('').catch(() => this.#reopenLater());
    }, REOPEN_MS);
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

  async #terminate(): Promise<void> {
    const { on } = this.#ports;
    const told = this.#transport.terminateSession().catch((error: unknown) => {
      if (this.#state === 'open') on.log(`the server did not end our session: ${reasonOf(error)}`);
    });
    let cancel = () => {};
    const late = new Promise<void>((resolve) => {
      cancel = this.#later(resolve, GOODBYE_MS);
    });
    await Promise.race([told, late]);
    cancel();
  }

  #isForgotten(error: SdkHttpError): boolean {
    if (this.#transport.sessionId === undefined) return false;
    // the specification says 404; server-everything says 400
    return error.status === 404 || (error.status === 400 && /session/i.test(textOf(error)));
  }

  #troubleIn(error: unknown): Trouble {
    const known = troubleIn(error);
    if (known !== undefined) return known;
    if (InsufficientScopeError.isInstance(error))
      return { kind: 'refused', status: 403, text: error.message };
    if (SdkHttpError.isInstance(error)) {
      const status = error.status ?? 0;
      if (this.#isForgotten(error)) return { kind: 'forgotten', status };
      const isRedirect = status >= 300 && status < 400;
      return {
        kind: 'refused',
        status,
        text: isRedirect ? afterColon(error.message) : saidIn(textOf(error)),
      };
    }
    if (SdkError.isInstance(error)) return { kind: 'nonsense', why: error.message };
    return { kind: 'nonsense', why: 'something that is no JSON-RPC message' };
  }
}

function isModern({ params }: JsonObject): boolean {
  const meta = isObject(params) ? params._meta : undefined;
  return isObject(meta) && typeof meta[PROTOCOL_VERSION_META_KEY] === 'string';
}

function textOf(error: SdkHttpError): string {
  const text = isObject(error.data) ? error.data.text : undefined;
  return typeof text === 'string' ? text : '';
}

/** The sentence in a JSON-RPC error, where the body is one. */
function saidIn(text: string): string {
  const body = jsonIn(text);
  const error = isObject(body) && isObject(body.error) ? body.error : undefined;
  return typeof error?.message === 'string' ? error.message : text;
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function afterColon(text: string): string {
  return text.slice(text.indexOf(': ') + 2);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
