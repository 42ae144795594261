import { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { onOneLine } from '../ipc/http/request-body.js';
import type { Peer } from '../ipc/jsonrpc/peer.js';
import type { Clock } from '../shared/clock.js';

/** How often the browser must show that it is there: a network between it and this machine may be gone. */
const PING_MS = 30_000;
const NEWLINE = 0x0a;
/** Codes of RFC 6455. */
const CLOSE = { goingAway: 1001, noText: 1003 } as const;
/** A close frame has room for 123. */
const MOST_REASON = 120;

/**
 * The messages of a page, one in each text frame. The FleetServer reads and writes lines of `stream`, as on its socket. A
 * write counts as taken when the browser's connection took it, so the write queue of the connection has all that waits.
 */
export class PageConnection {
  readonly stream: Duplex;
  readonly #socket: WebSocket;
  readonly #carrier: Duplex;
  readonly #clock: Clock;
  /** A frame without its end was sent. */
  #isInMessage = false;
  #hasAnswered = true;
  #timer: unknown;

  /** `carrier`: what the WebSocket is on. */
  constructor(socket: WebSocket, carrier: Duplex, clock: Clock) {
    this.#socket = socket;
    this.#carrier = carrier;
    this.#clock = clock;
    this.stream = new Duplex({
      read: () => socket.resume(),
      write: (chunk: Buffer, _encoding, taken) => this.#write(chunk, taken),
    });
    this.stream.on('error', () => undefined);
    socket.on('message', (data: Buffer, isBinary) => this.#receive(data, isBinary));
    socket.on('pong', () => {
      this.#hasAnswered = true;
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clock.clearTimeout(this.#timer);
      this.stream.destroy();
    });
    this.#pingLater();
  }

  /** Tells the browser why the connection ends. */
  follow(peer: Peer): void {
    void peer.closed.then((reason) => {
      if (peer.wasDropped) this.#socket.terminate();
      else this.#socket.close(CLOSE.goingAway, reason.slice(0, MOST_REASON));
    });
  }

  #receive(data: Buffer, isBinary: boolean): void {
    if (isBinary) {
      this.#socket.close(CLOSE.noText, 'a message is text');
      return;
    }
    this.stream.push(onOneLine(data));
    if (!this.stream.push('\n')) this.#socket.pause();
  }

  /** A large message comes in several pieces. Each piece becomes a frame, so none has to be kept. */
  #write(chunk: Buffer, taken: (error?: Error | null) => void): void {
    let start = 0;
    const frames: [piece: Buffer, isLast: boolean][] = [];
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      frames.push([chunk.subarray(start, end), true]);
      start = end + 1;
    }
    if (start < chunk.length) frames.push([chunk.subarray(start), false]);
    const wanted = frames.filter(([piece]) => piece.length > 0 || this.#isInMessage);
    // one write for the system, however many events there are
    this.#carrier.cork();
    for (const [index, [piece, fin]] of wanted.entries()) {
      this.#isInMessage = !fin;
      const isLast = index === wanted.length - 1;
      this.#socket.send(piece, { binary: false, fin }, isLast ? (error) => taken(error) : undefined);
    }
    this.#carrier.uncork();
    if (wanted.length === 0) taken();
  }

  #pingLater(): void {
    this.#timer = this.#clock.setTimeout(() => {
      if (!this.#hasAnswered) {
        this.#socket.terminate();
        return;
      }
      this.#hasAnswered = false;
      this.#socket.ping();
      this.#pingLater();
    }, PING_MS);
  }
}
