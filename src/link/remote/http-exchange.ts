import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as overHttp } from 'node:http';
import { Agent as HttpsAgent, request as overHttps } from 'node:https';
import { onAbort } from '../../shared/async.js';
import { type Clock, dateOf } from '../../shared/clock.js';
import { codeOf } from '../../shared/errors.js';
import type { OversizedLine } from '../../shared/framing/framer.js';
import { WITHOUT_BODY } from '../auth/oauth-fetch.js';
import { TransportError, type TransportFailure } from '../failures/transport-failure.js';
import { EventGuard } from './event-guard.js';
import { type RefusalHeaders, refusalHeaders } from './refusal-headers.js';
import { SilenceWatch } from './silence-watch.js';

/** Passes a request's id to the fetch that sends it; removed there, so no server sees it. */
export const REQUEST_ID = 'x-toolherd-request-id';

/** One request and its response. */
export interface Exchange {
  method: string;
  /** The id of the JSON-RPC request in its body, where there is one. */
  id: number | undefined;
  /** It resumes a stream. */
  isResumed: boolean;
  /** Its request was cancelled or has its reply. */
  isDropped: boolean;
  /** What the response headers say about the next try. */
  headers?: RefusalHeaders;
}

export interface ExchangeEvents {
  /** A message in a stream was over the limit and was removed. */
  oversized(line: OversizedLine): void;
  /** No response came, or its body was cut off. The promise of fetch, or its body, rejects too. */
  broke(exchange: Exchange, failure: TransportFailure): void;
  /** A stream of events ended properly. */
  streamEnded?(exchange: Exchange): void;
  /** Bytes came on a stream of events. */
  received?(): void;
  responded?(exchange: Exchange, status: number, isStream: boolean): void;
}

export interface ExchangeOptions {
  clock: Clock;
  maxMessageBytes: number;
  on: ExchangeEvents;
  /** How long the stream of this exchange may be silent; 0: for ever. */
  silenceMs(exchange: Exchange): number;
  /** The request whose stream is resumed after this event, where it is known; `unwanted`: it is pending no more. */
  resumed?(lastEvent: string): number | 'unwanted' | undefined;
  /** Whether this request is still pending: an authorisation may take longer than its timeout. */
  isWanted?(id: number): boolean;
}

/** Shorter than any server keeps an idle connection, so that no request is written to a connection about to close. */
const IDLE_SOCKET_MS = 2000;
/** The status texts that `Response` accepts; a server can send any. */
const REASON = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * A `fetch` for the SDK's transports on Node's http. The global fetch gives up after five minutes without a byte, hides
 * why a connection failed, and has no limit for a message. This one follows no redirect: the transports do, and only
 * within one origin.
 */
export class Exchanges {
  readonly #options: ExchangeOptions;
  /** For each request id, a function that ends its exchange. */
  readonly #open = new Map<number, () => void>();
  readonly #plain = new HttpAgent({ keepAlive: true, timeout: IDLE_SOCKET_MS });
  readonly #secure = new HttpsAgent({ keepAlive: true, timeout: IDLE_SOCKET_MS });

  constructor(options: ExchangeOptions) {
    this.#options = options;
  }

  readonly fetch = (target: string | URL, init: RequestInit = {}): Promise<Response> =>
    new Promise((resolve, reject) => {
      const url = new URL(target);
      const headers = Object.fromEntries(new Headers(init.headers));
      const exchange = this.#exchangeOf(init.method ?? 'GET', headers);
      // never settled: the SDK's transport would resume a stream for a request that is pending no more
      if (exchange === undefined) return;
      delete headers[REQUEST_ID];
      const { signal } = init;
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const isSecure = url.protocol === 'https:';
      const request = (isSecure ? overHttps : overHttp)(url, {
        method: exchange.method,
        headers,
        agent: isSecure ? this.#secure : this.#plain,
      });
      const endAbort = onAbort(signal ?? undefined, () => request.destroy());
      let isOver = false;
      const drop = () => {
        isOver = true;
        exchange.isDropped = true;
        request.destroy();
      };
      const { id } = exchange;
      if (id !== undefined) this.#open.set(id, drop);
      const fail = (failure: TransportFailure) => {
        // after the response, its body reports failures
        if (isOver) return;
        isOver = true;
        if (signal?.aborted) reject(signal.reason);
        else {
          this.#options.on.broke(exchange, failure);
          reject(new TransportError(failure));
        }
      };
      const isConnected = connectionOf(request, isSecure);
      request.on('error', (error) => fail(failureOf(error, isConnected())));
      request.on('response', (incoming) => {
        const status = incoming.statusCode ?? 0;
        if (isOver || status < 200 || status > 599) {
          incoming.destroy();
          fail({ kind: 'refused', status, text: '' });
          return;
        }
        isOver = true;
        incoming.once('end', () => this.#ended(id, drop));
        resolve(this.#respond(incoming, exchange, signal ?? undefined));
      });
      request.once('close', () => {
        endAbort();
        this.#ended(id, drop);
        // after a protocol upgrade neither a response nor an error follows
        fail({ kind: 'cut', code: undefined });
      });
      request.end(typeof init.body === 'string' ? init.body : undefined);
    });

  /** Whether this request's exchange is open. */
  has(id: number): boolean {
    return this.#open.has(id);
  }

  /**
   * Ends the exchange of a request that was cancelled or has its reply. The promise of fetch never settles, so the SDK's
   * transport does not try again. False where there is none.
   */
  drop(id: number): boolean {
    const drop = this.#open.get(id);
    this.#open.delete(id);
    drop?.();
    return drop !== undefined;
  }

  /** Ends every connection, also those in use. */
  close(): void {
    this.#plain.destroy();
    this.#secure.destroy();
  }

  #ended(id: number | undefined, drop: () => void): void {
    if (id !== undefined && this.#open.get(id) === drop) this.#open.delete(id);
  }

  #exchangeOf(method: string, headers: Record<string, string>): Exchange | undefined {
    const lastEvent = headers['last-event-id'];
    const resumed = lastEvent === undefined ? undefined : this.#options.resumed?.(lastEvent);
    if (resumed === 'unwanted') return undefined;
    const own = headers[REQUEST_ID];
    const id = own === undefined ? resumed : Number(own);
    if (id !== undefined && this.#options.isWanted?.(id) === false) return undefined;
    return { method, id, isResumed: lastEvent !== undefined, isDropped: false };
  }

  #respond(incoming: IncomingMessage, exchange: Exchange, signal: AbortSignal | undefined): Response {
    const status = incoming.statusCode ?? 0;
    const headers = new Headers();
    for (const [name, value] of Object.entries(incoming.headers)) {
      if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
    }
    exchange.headers = refusalHeaders(status, (name) => headers.get(name), dateOf(this.#options.clock));
    this.#options.on.responded?.(exchange, status, isEventStream(incoming));
    const { statusMessage: reason = '' } = incoming;
    const init = { status, statusText: REASON.test(reason) ? reason : '', headers };
    if (!WITHOUT_BODY.has(status)) return new Response(this.#body(incoming, exchange, signal), init);
    incoming.resume();
    return new Response(null, init);
  }

  #body(
    incoming: IncomingMessage,
    exchange: Exchange,
    signal: AbortSignal | undefined,
  ): ReadableStream<Uint8Array> {
    const { on, maxMessageBytes, clock } = this.#options;
    const isStream = isEventStream(incoming);
    const guard = isStream ? new EventGuard(maxMessageBytes, (event) => on.oversized(event)) : undefined;
    const silence = isStream ? this.#options.silenceMs(exchange) : 0;
    let bytes = 0;
    let isOver = false;
    let watch: SilenceWatch | undefined;
    return new ReadableStream<Uint8Array>({
      start(controller) {
        const end = (settle: () => void) => {
          if (isOver) return;
          isOver = true;
          watch?.stop();
          if (!exchange.isDropped) settle();
        };
        const fail = (failure: TransportFailure) =>
          end(() => {
            on.broke(exchange, failure);
            controller.error(new TransportError(failure));
            incoming.destroy();
          });
        const stopped = () => end(() => controller.error(signal?.reason));
        if (silence > 0)
          watch = new SilenceWatch(clock, silence, () => fail({ kind: 'silent', ms: silence }));
        incoming.on('data', (chunk: Buffer) => {
          if (isOver) return;
          watch?.received();
          bytes += chunk.length;
          if (guard === undefined && bytes > maxMessageBytes) {
            fail({ kind: 'too-large', bytes });
            return;
          }
          for (const piece of guard?.pass(chunk) ?? [chunk]) controller.enqueue(piece);
          if (isStream) on.received?.();
          if ((controller.desiredSize ?? 0) <= 0) incoming.pause();
        });
        incoming.on('end', () =>
          end(() => {
            controller.close();
            if (isStream) on.streamEnded?.(exchange);
          }),
        );
        const broken = (code: string | undefined) =>
          signal?.aborted ? stopped() : fail({ kind: 'cut', code });
        incoming.on('error', (error) => broken(codeOf(error)));
        incoming.on('close', () => broken(undefined));
      },
      pull: () => {
        incoming.resume();
      },
      cancel: () => {
        isOver = true;
        watch?.stop();
        incoming.destroy();
      },
    });
  }
}

function isEventStream({ headers }: IncomingMessage): boolean {
  return /^\s*text\/event-stream\b/i.test(headers['content-type'] ?? '');
}

/** Whether the connection was established, including TLS: before that nothing was sent. */
function connectionOf(request: ClientRequest, isSecure: boolean): () => boolean {
  let isConnected = false;
  request.once('socket', (socket) => {
    const connected = () => {
      isConnected = true;
    };
    if (!socket.connecting && request.reusedSocket) connected();
    else socket.once(isSecure ? 'secureConnect' : 'connect', connected);
  });
  return () => isConnected;
}

function failureOf(error: Error, isConnected: boolean): TransportFailure {
  const code = codeOf(error);
  return isConnected ? { kind: 'cut', code } : { kind: 'unreachable', code, message: error.message };
}
