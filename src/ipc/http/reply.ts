import type { ServerResponse } from 'node:http';
import type { Clock } from '../../shared/clock.js';
import { WriteQueue } from '../jsonrpc/write-queue.js';
import { type Refusal, refusalText } from './refusal.js';
import type { LineChunks } from './virtual-connection.js';

export interface ReplyOptions {
  clock: Clock;
  /** The client has closed it before it was ended here. */
  onLost(): void;
}

/** After this time without an event a comment is sent: each side sees that the other one lives. */
const QUIET_MS = 15_000;
/** How long a client of an event stream should wait before it reconnects. */
const RETRY_MS = 1000;

/**
 * The response to one HTTP request: one message as JSON, or a stream of events. A client that does not read is dropped by
 * the same limits as on the socket.
 */
export class Reply {
  readonly #response: ServerResponse;
  readonly #options: ReplyOptions;
  readonly #queue: WriteQueue;
  #state: 'waiting' | 'events' | 'ended' = 'waiting';
  #quietTimer: unknown;

  constructor(response: ServerResponse, options: ReplyOptions) {
    this.#response = response;
    this.#options = options;
    this.#queue = new WriteQueue(response, () => response.destroy(), { clock: options.clock });
    response.on('error', () => undefined);
    response.on('close', () => this.#closed());
    // it may have been closed before this listener was added
    if (response.destroyed) setImmediate(() => this.#closed());
  }

  get state(): 'waiting' | 'events' | 'ended' {
    return this.#state;
  }

  /** The whole response. */
  json(status: number, { chunks, bytes }: LineChunks): void {
    if (this.#state !== 'waiting' || this.#response.headersSent) return;
    const headers = { 'Content-Type': 'application/json', 'Content-Length': bytes };
    this.#response.writeHead(status, { ...headers, 'Cache-Control': 'no-store' });
    this.#queue.send(chunks);
    this.#finish();
  }

  refuse(refusal: Refusal): void {
    const text = Buffer.from(refusalText(refusal));
    const message = { chunks: [text], bytes: text.length };
    if (this.#state === 'waiting') this.json(refusal.status, message);
    else this.event(message);
    this.end();
  }

  /** `primeId`: the id of an empty first event, after which the client can resume the stream. */
  begin(primeId?: string): void {
    if (this.#state !== 'waiting' || this.#response.headersSent) return;
    this.#state = 'events';
    this.#response.writeHead(200, {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-cache, no-transform',
      'X-Accel-Buffering': 'no',
    });
    this.#response.flushHeaders();
    if (primeId !== undefined) this.#send(`id: ${primeId}\nretry: ${RETRY_MS}\ndata:\n\n`);
    else this.#keepAlive();
  }

  event({ chunks }: LineChunks, id?: string): void {
    this.begin();
    if (this.#state !== 'events') return;
    this.#queue.send(id === undefined ? 'data: ' : `id: ${id}\ndata: `);
    this.#queue.send(chunks);
    this.#send('\n\n');
  }

  /** No more events follow. */
  end(): void {
    this.begin();
    if (this.#state === 'events') this.#finish();
  }

  #send(text: string): void {
    this.#queue.send(text);
    this.#keepAlive();
  }

  #finish(): void {
    this.#state = 'ended';
    this.#options.clock.clearTimeout(this.#quietTimer);
    void this.#queue.emptied().then(() => this.#response.end());
  }

  #keepAlive(): void {
    const { clock } = this.#options;
    clock.clearTimeout(this.#quietTimer);
    this.#quietTimer = clock.setTimeout(() => this.#send(': still here\n\n'), QUIET_MS);
  }

  #closed(): void {
    this.#options.clock.clearTimeout(this.#quietTimer);
    this.#queue.close();
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#options.onLost();
  }
}
