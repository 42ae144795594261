import { WebSocket } from 'ws';
import type { WebsocketSpec } from '../../config/fields/spec.js';
import { dateOf } from '../../shared/clock.js';
import { codeOf } from '../../shared/errors.js';
import { EDGE_BYTES } from '../../shared/framing/framer.js';
import { TransportError, type TransportFailure } from '../failures/transport-failure.js';
import { Heartbeat } from './heartbeat.js';
import { hasNoSubprotocol } from './library-messages.js';
import { refusalHeaders } from './refusal-headers.js';
import { GOODBYE_MS, type RemoteTransport, type TransportPorts } from './remote-transport.js';

const SUBPROTOCOL = 'mcp';
/** The most that is queued for a server that does not read; a single message may exceed it. */
const BUFFER_BYTES = 2 ** 20;
const NORMAL = 1000;
const GOING_AWAY = 1001;
const TOO_LARGE = 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH';
/** The largest ping, pong or close frame with its header. A larger chunk belongs to a message. */
const CONTROL_FRAME_BYTES = 127;

/** One message in a frame, over a connection with a heartbeat. */
export class WebsocketTransport implements RemoteTransport {
  readonly #spec: WebsocketSpec;
  readonly #ports: TransportPorts;
  #socket: WebSocket | undefined;
  #heartbeat: Heartbeat | undefined;
  #state: 'dialling' | 'open' | 'closed' = 'dialling';
  #wasFull = false;
  /** Why the socket is about to close; the close event says less. */
  #failure: TransportFailure | undefined;

  constructor(spec: WebsocketSpec, ports: TransportPorts) {
    this.#spec = spec;
    this.#ports = ports;
  }

  async dial(): Promise<void> {
    const refused = await this.#connect([SUBPROTOCOL]);
    if (refused === undefined || this.#state === 'closed') return;
    if (!(refused instanceof Error) || !hasNoSubprotocol(refused)) throw dialError(refused);
    const again = await this.#connect([]);
    if (again !== undefined) throw dialError(again);
  }

  get ready(): boolean {
    return this.#state === 'open' && !this.#wasFull;
  }

  write(line: string): boolean {
    const socket = this.#socket;
    if (this.#state !== 'open' || socket?.readyState !== WebSocket.OPEN) return false;
    socket.send(line, () => this.#sent(socket));
    // only `#sent` clears it, since it also reports `drained`
    if (socket.bufferedAmount > BUFFER_BYTES) this.#wasFull = true;
    return true;
  }

  async close(politely: boolean): Promise<undefined> {
    const socket = this.#socket;
    this.#state = 'closed';
    this.#heartbeat?.stop();
    if (socket === undefined || socket.readyState === WebSocket.CLOSED) return;
    const { clock } = this.#ports;
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    if (politely && socket.readyState === WebSocket.OPEN) socket.close(NORMAL);
    else socket.terminate();
    const timer = clock.setTimeout(() => socket.terminate(), GOODBYE_MS);
    await closed;
    clock.clearTimeout(timer);
  }

  /** Undefined when the socket is open; else the server's refusal, or why it could not be reached. */
  #connect(protocols: string[]): Promise<Error | TransportFailure | undefined> {
    const { url, headers, maxMessageBytes } = this.#spec;
    const socket = new WebSocket(url, protocols, {
      headers: { ...headers },
      // ws closes the connection at a message over its limit; up to twice ours only the call fails
      maxPayload: maxMessageBytes * 2,
      followRedirects: false,
      perMessageDeflate: false,
    });
    this.#socket = socket;
    return new Promise((resolve) => {
      socket.on('error', (error) => {
        if (codeOf(error) === TOO_LARGE) this.#failure = { kind: 'too-large', bytes: maxMessageBytes * 2 };
        else this.#failure ??= { kind: 'cut', code: codeOf(error) };
        resolve(error);
      });
      socket.on('unexpected-response', (_request, response) => {
        const parts: Buffer[] = [];
        const { statusCode: status = 0, headers: responseHeaders } = response;
        const header = (name: string) => responseHeaders[name]?.toString();
        const refuse = () => {
          resolve({
            kind: 'refused',
            status,
            text: Buffer.concat(parts).toString(),
            ...refusalHeaders(status, header, dateOf(this.#ports.clock)),
          });
          socket.terminate();
        };
        // the first four chunks are enough, and the body may have no end
        response.on('data', (chunk: Buffer) => parts.push(chunk) === 4 && refuse());
        response.once('end', refuse);
        response.once('error', refuse);
      });
      // ws reports a message when it is complete; on a slow line that may take longer than the pong timeout
      socket.once('upgrade', ({ socket: wire }) => {
        wire.on('data', (chunk: Buffer) => chunk.length > CONTROL_FRAME_BYTES && this.#received());
      });
      socket.once('open', () => {
        this.#opened(socket);
        resolve(undefined);
      });
    });
  }

  #opened(socket: WebSocket): void {
    if (this.#state === 'closed') return;
    this.#state = 'open';
    this.#failure = undefined;
    const { clock } = this.#ports;
    const { intervalMs, timeoutMs } = this.#spec.ping;
    this.#heartbeat = new Heartbeat({
      clock,
      intervalMs,
      timeoutMs,
      ping: () => socket.ping(),
      stopped: () => {
        this.#failure = { kind: 'no-pong', ms: timeoutMs };
        socket.terminate();
      },
    });
    socket.on('pong', () => this.#heartbeat?.answered());
    socket.on('message', (bytes) => this.#receive(bytes as Buffer));
    socket.on('close', (code, reason) => this.#closed(code, reason.toString()));
  }

  #received(): void {
    this.#heartbeat?.received();
    this.#ports.on.received();
  }

  #receive(bytes: Buffer): void {
    const { on } = this.#ports;
    if (bytes.length <= this.#spec.maxMessageBytes) on.line(bytes);
    else {
      const [head, tail] = [bytes.subarray(0, EDGE_BYTES), bytes.subarray(-EDGE_BYTES)];
      on.oversized({ bytes: bytes.length, head, tail });
    }
  }

  #sent(socket: WebSocket): void {
    if (!this.#wasFull || socket.bufferedAmount > BUFFER_BYTES) return;
    this.#wasFull = false;
    this.#ports.on.drained();
  }

  #closed(code: number, reason: string): void {
    this.#heartbeat?.stop();
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    const { on, isBusy } = this.#ports;
    const isProper = this.#failure === undefined && (code === NORMAL || code === GOING_AWAY);
    if (isProper && !isBusy()) on.goodbye();
    else on.broke(this.#failure ?? closing(code, reason));
  }
}

/** 1006: ws got no close frame. */
function closing(code: number, reason: string): TransportFailure {
  return code === 1006 ? { kind: 'cut', code: undefined } : { kind: 'closed', code, reason };
}

function dialError(refused: Error | TransportFailure): TransportError {
  if (!(refused instanceof Error)) return new TransportError(refused);
  return new TransportError({ kind: 'unreachable', code: codeOf(refused), message: refused.message });
}
