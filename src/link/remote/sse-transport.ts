import {
  type FetchLike,
  type JSONRPCMessage,
  SSEClientTransport,
  SseError,
} from '@modelcontextprotocol/client';
import type { SseSpec } from '../../config/schema/spec.js';
import type { JsonObject } from '../../shared/json.js';
import { type Exchange, Exchanges } from './http-exchange.js';
import { refusedPost, unfollowedRedirect } from './library-messages.js';
import { refusalHeaders } from './refusal-headers.js';
import type { RemoteTransport, TransportPorts } from './remote-transport.js';
import { SilenceWatch } from './silence-watch.js';
import { endsLink, failureIn, TransportError, type TransportFailure } from './transport-failure.js';

/**
 * The older transport: one stream of events for everything that the server says, and a POST for each message to it.
 * The stream is the session. The SDK's transport would open a new one and go on as if the server still knew us, so
 * the end of the stream is the end of the carrier.
 */
export class SseTransport implements RemoteTransport {
  readonly #spec: SseSpec;
  readonly #ports: TransportPorts;
  readonly #exchanges: Exchanges;
  readonly #transport: SSEClientTransport;
  #state: 'dialling' | 'open' | 'closed' = 'dialling';
  #refuseDial: (failure: TransportFailure) => void = () => {};
  #silence: SilenceWatch | undefined;
  /** `notifications/initialized` is under way: what is sent beside it could overtake it. */
  #isIntroducing = false;

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
        heard: () => this.#silence?.heard(),
      },
    });
    const fetch = this.#checked(ports.authorize?.(this.#exchanges.fetch) ?? this.#exchanges.fetch);
    this.#transport = new SSEClientTransport(new URL(spec.url), {
      fetch,
      requestInit: { headers: spec.headers },
    });
    this.#transport.onmessage = (message) => ports.on.message(message);
    // the one reason for which it closes by itself
    this.#transport.onclose = () => this.#end({ kind: 'nonsense', why: 'an endpoint at another origin' });
  }

  async dial(): Promise<void> {
    // a stream that breaks is closed here, after which the transport says nothing more of it
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
    return this.#state === 'open' && !this.#isIntroducing;
  }

  write(line: string): boolean {
    if (this.#state !== 'open') return false;
    void this.#send(JSON.parse(line) as JsonObject);
    return true;
  }

  async close(): Promise<void> {
    this.#state = 'closed';
    this.#silence?.stop();
    await this.#transport.close();
    this.#exchanges.close();
  }

  /** A refusal is understood here, where its headers are: the transport keeps its status and its text at most. */
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
    // what comes where a stream was asked for may have no end
    const text = isPost ? await response.text().catch(() => '') : '';
    if (!isPost) await response.body?.cancel();
    if (isPost && status === 404) return { kind: 'forgotten', status };
    const said = refusalHeaders(status, (name) => headers.get(name), this.#ports.clock.now());
    return { kind: 'refused', status, text, ...said };
  }

  async #send(message: JsonObject): Promise<void> {
    const { on } = this.#ports;
    const isIntroduction = message.method === 'notifications/initialized';
    if (isIntroduction) this.#isIntroducing = true;
    if (message.id !== undefined) this.#silence?.heard();
    try {
      await this.#transport.send(message as JSONRPCMessage);
    } catch (error) {
      if (this.#state !== 'open') return;
      const failure = postFailure(error);
      if (typeof message.id === 'number' && 'method' in message) on.lost(message.id, failure);
      else if (endsLink(failure)) this.#end(failure);
    }
    if (isIntroduction) {
      this.#isIntroducing = false;
      on.drained();
    }
  }

  #broke({ method }: Exchange, failure: TransportFailure): void {
    // whoever posts learns it by himself
    if (method === 'GET') this.#end(failure);
    else if (failure.kind === 'cut' && this.#state === 'open') this.#ports.on.doubtful();
  }

  #ended(): void {
    if (this.#state === 'dialling')
      this.#end({ kind: 'nonsense', why: 'a stream that ended before it named an endpoint' });
    else if (this.#ports.isBusy()) this.#end({ kind: 'cut', code: undefined });
    else this.#end(undefined);
  }

  /** Before the SDK's transport can begin to connect again. Without a trouble the server said goodbye. */
  #end(failure: TransportFailure | undefined): void {
    if (this.#state === 'closed') return;
    const wasOpen = this.#state === 'open';
    void this.close();
    if (failure === undefined) this.#ports.on.goodbye();
    else if (wasOpen) this.#ports.on.broke(failure);
    else this.#refuseDial(failure);
  }

  /** A stream without calls may be silent for ever. A request that is written begins a new silence. */
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
  const message = error instanceof Error ? error.message : String(error);
  if (typeof code === 'number' && code !== 200)
    return { kind: 'refused', status: code, text: unfollowedRedirect(message) };
  return { kind: 'nonsense', why: message };
}

/** Only a redirect that the SDK's transport did not follow is left to it: `#checked` handles every other refusal. */
function postFailure(error: unknown): TransportFailure {
  const known = failureIn(error);
  if (known !== undefined) return known;
  const message = error instanceof Error ? error.message : String(error);
  const refused = refusedPost(message);
  return refused === undefined ? { kind: 'nonsense', why: message } : { kind: 'refused', ...refused };
}
