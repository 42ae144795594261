import { setMaxListeners } from 'node:events';
import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as overHttp } from 'node:http';
import { Agent as HttpsAgent, request as overHttps } from 'node:https';
import type { Clock } from '../clock.js';
import type { OversizedLine } from '../framer.js';
import { EventGuard } from './event-guard.js';
import { SilenceWatch } from './silence-watch.js';
import { codeOf, type Trouble, TroubleError } from './trouble.js';

/** Tells a request's id to the fetch that sends it; taken out there, so no server ever sees it. */
export const REQUEST_ID = 'x-toolherd-request-id';

/** One request and its response. */
export interface Exchange {
  method: string;
  /** Of the JSON-RPC request that it carries, where there is one. */
  id: number | undefined;
  /** It takes up a stream where it was left. */
  isResumed: boolean;
}

export interface ExchangeEvents {
  /** A message in a stream was too large and was left out of it. */
  oversized(line: OversizedLine): void;
  /** No response came, or its body did not come to a proper end. Whoever called fetch is told as well. */
  broke(exchange: Exchange, trouble: Trouble): void;
  /** A stream of events ended properly. */
  streamEnded?(exchange: Exchange): void;
  /** Something came in on a stream of events. */
  heard?(): void;
  responded?(exchange: Exchange, status: number, isStream: boolean): void;
}

export interface ExchangeOptions {
  clock: Clock;
  maxMessageBytes: number;
  on: ExchangeEvents;
  /** For how long the stream of this exchange may be silent; 0 for ever. */
  silenceMs(exchange: Exchange): number;
}

/** Shorter than any server keeps an idle connection, so that no request is written to one that is just being closed. */
const IDLE_SOCKET_MS = 2000;
const WITHOUT_BODY = new Set([204, 205, 304]);

/**
 * A `fetch` for the SDK's transports on Node's own http. The global one gives up after five minutes without a byte,
 * hides why a connection failed, and knows no largest message. This one follows no redirect: the transports do, and
 * only within one origin.
 */
export class Exchanges {
  readonly #options: ExchangeOptions;
  readonly #plain = new HttpAgent({ keepAlive: true, timeout: IDLE_SOCKET_MS });
  readonly #secure = new HttpsAgent({ keepAlive: true, timeout: IDLE_SOCKET_MS });

  constructor(options: ExchangeOptions) {
    this.#options = options;
  }

  readonly fetch = (target: string | URL, init: RequestInit = {}): Promise<Response> =>
    new Promise((resolve, reject) => {
      const url = new URL(target);
      const headers = Object.fromEntries(new Headers(init.headers));
      const exchange = exchangeOf(init.method ?? 'GET', headers);
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
      const abort = () => request.destroy();
      // a transport has one signal for all of its requests, and Node warns of the eleventh
      if (signal) setMaxListeners(0, signal);
      signal?.addEventListener('abort', abort, { once: true });
      request.once('close', () => signal?.removeEventListener('abort', abort));

      const isConnected = connectionOf(request, isSecure);
      let response: IncomingMessage | undefined;
      request.on('error', (error) => {
        // once there is a response, its body tells
        if (response !== undefined) return;
        if (signal?.aborted) reject(signal.reason);
        else {
          const trouble = troubleOf(error, isConnected());
          this.#options.on.broke(exchange, trouble);
          reject(new TroubleError(trouble));
        }
      });
      request.on('response', (incoming) => {
        response = incoming;
        resolve(this.#respond(incoming, exchange, signal ?? undefined));
      });
      request.end(typeof init.body === 'string' ? init.body : undefined);
    });

  /** Ends every connection, also those in use. */
  close(): void {
    this.#plain.destroy();
    this.#secure.destroy();
  }

  #respond(incoming: IncomingMessage, exchange: Exchange, signal: AbortSignal | undefined): Response {
    const status = incoming.statusCode ?? 0;
    const headers = new Headers();
    for (const [name, value] of Object.entries(incoming.headers)) {
      if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
    }
    this.#options.on.responded?.(exchange, status, isEventStream(incoming));
    const init = { status, statusText: incoming.statusMessage ?? '', headers };
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
          settle();
        };
        const fail = (trouble: Trouble) =>
          end(() => {
            on.broke(exchange, trouble);
            controller.error(new TroubleError(trouble));
            incoming.destroy();
          });
        const stopped = () => end(() => controller.error(signal?.reason));
        if (silence > 0)
          watch = new SilenceWatch(clock, silence, () => fail({ kind: 'silent', ms: silence }));
        incoming.on('data', (chunk: Buffer) => {
          if (isOver) return;
          watch?.heard();
          bytes += chunk.length;
          if (guard === undefined && bytes > maxMessageBytes) {
            fail({ kind: 'too-large', bytes });
            return;
          }
          for (const piece of guard?.pass(chunk) ?? [chunk]) controller.enqueue(piece);
          if (isStream) on.heard?.();
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

function exchangeOf(method: string, headers: Record<string, string>): Exchange {
  const id = headers[REQUEST_ID];
  return { method, id: id === undefined ? undefined : Number(id), isResumed: 'last-event-id' in headers };
}

/** Whether a connection had come about, with TLS where it belongs to it: before that nothing was sent. */
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

function troubleOf(error: Error, isConnected: boolean): Trouble {
  const code = codeOf(error);
  return isConnected ? { kind: 'cut', code } : { kind: 'unreachable', code, message: error.message };
}
