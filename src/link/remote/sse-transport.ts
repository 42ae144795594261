import {
  type FetchLike,
  type JSONRPCMessage,
  SSEClientTransport,
  SseError,
} from '@modelcontextprotocol/client';
import type { SseSpec } from '../../config/fields/spec.js';
import { dateOf } from '../../shared/clock.js';
import { messageOf } from '../../shared/errors.js';
import type { JsonObject } from '../../shared/json.js';
import { endsLink, failureIn, TransportError, type TransportFailure } from '../failures/transport-failure.js';
import { type Exchange, Exchanges } from './http-exchange.js';
import { refusedPost, unfollowedRedirect } from './library-messages.js';
import { refusalHeaders } from './refusal-headers.js';
import type { RemoteTransport, TransportPorts } from './remote-transport.js';
import { SilenceWatch } from './silence-watch.js';

/**
 * The older transport: one stream of events for all messages of the server, and a POST for each message to it. The stream
 * is the session. The SDK's transport would open a new stream and go on as if the session still existed, so here the end
 * of the stream is the end of the transport.
 */
export class SseTransport implements RemoteTransport {
  readonly #spec: SseSpec;
  readonly #ports: TransportPorts;
  readonly #exchanges: Exchanges;
  readonly #transport: SSEClientTransport;
  #state: 'dialling' | 'open' | 'closed' = 'dialling';
  #refuseDial: (failure: TransportFailure) => void = () => {};
  #silence: SilenceWatch | undefined;
  /** `notifications/initialized` is on its way: another request could overtake it. */
  #isInitializing = false;

  constructor(spec: SseSpec, ports: TransportPorts) {
    this.#spec = spec;
    this.#ports = ports;
    this.#exchanges = new Exchanges({
      clock: ports.clock,
      maxMessageBytes: spec.maxMessageBytes,
      silenceMs: () => 0,
      on: {
        oversized: (event) => ports.on.oversized(event),
        broke: (exchange, failure) => this.#broke(exchange, failure),
        streamEnded: () => this.#ended(),
        received: () => this.#silence?.received(),
      },
    });
    const fetch = this.#checked(ports.authorize?.(this.#exchanges.fetch) ?? this.#exchanges.fetch);
    this.#transport = new SSEClientTransport(new URL(spec.url), {
      fetch,
      requestInit: { headers: spec.headers },
    });
    this.#transport.onmessage = (message) => ports.on.message(message);
    // the only reason for which the SDK's transport closes
    this.#transport.onclose = () => this.#end({ kind: 'nonsense', why: 'an endpoint at another origin' });
  }

  async dial(): Promise<void> {
    // a broken stream is closed here; the SDK's transport reports nothing after that
    const broken = new Promise<never>((_, reject) => {
      this.#refuseDial = (failure) => reject(new TransportError(failure));
    });
    const started = this.#transport.start().catch((error: unknown) => {
      throw new TransportError(dialFailure(error));
    });
    await Promise.race([broken, started]);
    if (this.#state === 'closed') return;
    this.#state = 'open';
    this.#watchSilence();
  }

  get ready(): boolean {
    return this.#state === 'open' && !this.#isInitializing;
  }

  write(line: string): boolean {
    if (this.#state !== 'open') return false;
    void this.#send(JSON.parse(line) as JsonObject);
    return true;
  }

  async close(): Promise<undefined> {
    this.#state = 'closed';
    this.#silence?.stop();
    await this.#transport.close();
    this.#exchanges.close();
  }

  /** Refusals are read here, where the headers are: the SDK's transport keeps the status and the text at most. */
  #checked(fetch: FetchLike): FetchLike {
    return async (url, init) => {
      const isPost = init?.method === 'POST';
      try {
        const response = await fetch(url, init);
        if (response.status < 400) return response;
        throw new TransportError(await this.#refusal(response, isPost));
      } catch (error) {
        const failure = failureIn(error);
        if (failure !== undefined && !isPost) this.#end(failure);
        throw error;
      }
    };
  }

  async #refusal(response: Response, isPost: boolean): Promise<TransportFailure> {
    const { status, headers } = response;
    // the body of a GET may have no end
    const text = isPost ? await response.text().catch(() => '') : '';
    if (!isPost) await response.body?.cancel();
    if (isPost && status === 404) return { kind: 'forgotten', status };
    const fromHeaders = refusalHeaders(status, (name) => headers.get(name), dateOf(this.#ports.clock));
    return { kind: 'refused', status, text, ...fromHeaders };
  }

  async #send(message: JsonObject): Promise<void> {
    const { on } = this.#ports;
    const isInitialized = message.method === 'notifications/initialized';
    if (isInitialized) this.#isInitializing = true;
    if (message.id !== undefined) this.#silence?.received();
    try {
      await this.#transport.send(message as JSONRPCMessage);
    } catch (error) {
      if (this.#state !== 'open') return;
      const failure = postFailure(error);
      if (typeof message.id === 'number' && 'method' in message) on.lost(message.id, failure);
      else if (endsLink(failure)) this.#end(failure);
    }
    if (isInitialized) {
      this.#isInitializing = false;
      on.drained();
    }
  }

  #broke({ method }: Exchange, failure: TransportFailure): void {
    // the promise of a POST rejects too
    if (method === 'GET') this.#end(failure);
    else if (failure.kind === 'cut' && this.#state === 'open') this.#ports.on.doubtful();
  }

  #ended(): void {
    if (this.#state === 'dialling')
      this.#end({ kind: 'nonsense', why: 'a stream that ended before it named an endpoint' });
    else if (this.#ports.isBusy()) this.#end({ kind: 'cut', code: undefined });
    else this.#end(undefined);
  }

  /** Closes before the SDK's transport can connect again. Without a failure the server closed the stream properly. */
  #end(failure: TransportFailure | undefined): void {
    if (this.#state === 'closed') return;
    const wasOpen = this.#state === 'open';
    void this.close();
    if (failure === undefined) this.#ports.on.goodbye();
    else if (wasOpen) this.#ports.on.broke(failure);
    else this.#refuseDial(failure);
  }

  /** A stream without calls may be silent for ever. The time starts over with each request. */
  #watchSilence(): void {
    const { clock, isBusy } = this.#ports;
    const ms = this.#spec.sseReadTimeoutMs;
    if (ms === 0) return;
    this.#silence = new SilenceWatch(clock, ms, () => {
      if (isBusy()) this.#end({ kind: 'silent', ms });
      else this.#watchSilence();
    });
  }
}

function dialFailure(error: unknown): TransportFailure {
  const code = SseError.isInstance(error) ? error.code : undefined;
  const message = messageOf(error);
  if (typeof code === 'number' && code !== 200)
    return { kind: 'refused', status: code, text: unfollowedRedirect(message) };
  return { kind: 'nonsense', why: message };
}

/** Only a redirect that the SDK's transport did not follow is left to it: `#checked` handles every other refusal. */
function postFailure(error: unknown): TransportFailure {
  const known = failureIn(error);
  if (known !== undefined) return known;
  const message = messageOf(error);
  const refused = refusedPost(message);
  return refused === undefined ? { kind: 'nonsense', why: message } : { kind: 'refused', ...refused };
}
