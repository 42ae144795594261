import type { Duplex } from 'node:stream';
import { type Clock, systemClock } from '../../shared/clock.js';
import { Framer } from '../../shared/framing/framer.js';
import { CODE } from '../../shared/mcp/rpc-codes.js';
import type { Reply } from './incoming-request.js';
import { IncomingRequests, type Method } from './incoming-requests.js';
import { type Incoming, NO_ID, readLine } from './message.js';
import { encode, OutgoingRequests } from './outgoing-requests.js';
import { sizeOf, type Text } from './pending-texts.js';
import { errorText } from './rpc-error.js';
import { DEFAULT_LIMITS, WriteQueue, type WriteQueueLimits } from './write-queue.js';

export interface PeerOptions {
  maxLineBytes?: number;
  /** How deep a line may be nested. */
  maxDepth?: number;
  /** A line that cannot be read gets an error, or ends the connection: a client cannot tell which reply it was. */
  badLines?: 'answered' | 'fatal';
  limits?: WriteQueueLimits;
  /** Called with each piece of a large text that the other side has taken. */
  spent?: ((piece: Buffer) => void) | undefined;
  clock?: Clock;
  /** Called with errors that the other side must not see. */
  report?: (error: unknown, method: string) => void;
}

/** The longest line a client of the daemon may send. */
export const MAX_LINE_BYTES = 8 * 2 ** 20;
const PROBE_MS = 500;
const NEWLINE = Buffer.from('\n');

/**
 * One end of a JSON-RPC 2.0 connection over any duplex stream. Both ends may send requests.
 *
 * A client may close its writing half (`echo … | socat`) and still gets its replies; then the connection ends. To tell
 * such a client from one that died, a space is written now and then: JSON allows it in front of a reply, and a write to a
 * dead client fails with EPIPE.
 */
export class Peer {
  /** Resolves with the reason when the connection has ended. */
  readonly closed: Promise<string>;
  readonly #stream: Duplex;
  readonly #clock: Clock;
  readonly #limits: WriteQueueLimits;
  readonly #badLines: 'answered' | 'fatal';
  readonly #report: (error: unknown, method: string) => void;
  readonly #methods = new Map<string, Method>();
  readonly #incoming: IncomingRequests;
  readonly #outgoing: OutgoingRequests;
  readonly #queue: WriteQueue;
  /** `input ended`: the other side sends nothing more, and may wait for replies. */
  #state: 'open' | 'input ended' | 'closed' = 'open';
  /** Why it ends; the first cause counts. `isLimit`: this side ends it because of a limit. */
  #cause: { reason: string; isLimit: boolean } | undefined;
  #probe: unknown;

  constructor(stream: Duplex, options: PeerOptions = {}) {
    const { clock = systemClock, limits = DEFAULT_LIMITS, badLines = 'answered', spent } = options;
    this.#stream = stream;
    this.#clock = clock;
    this.#badLines = badLines;
    this.#limits = limits;
    this.#queue = new WriteQueue(stream, (reason) => this.#drop(reason), { clock, limits, spent });
    this.#report = options.report ?? (() => undefined);
    this.#incoming = new IncomingRequests((method) => this.#methods.get(method), this.#report);
    this.#outgoing = new OutgoingRequests((text) => this.#send(text));
    const framer = new Framer(options.maxLineBytes ?? MAX_LINE_BYTES, {
      line: (bytes) => this.#read(readLine(bytes, options.maxDepth)),
      tooLong: () => this.#refuseLine(options.maxLineBytes ?? MAX_LINE_BYTES),
    });
    this.closed = new Promise((resolve) => {
      stream.on('close', () => {
        this.#finish();
        resolve(this.#reason);
      });
    });
    stream.on('data', (chunk: Buffer) => framer.push(chunk));
    stream.on('error', (error) => {
      this.#cause ??= { reason: error.message, isLimit: false };
    });
    stream.on('end', () => {
      // `printf` writes no newline after its last message; half a reply is no reply
      if (badLines === 'answered' && framer.pending > 0) framer.push(NEWLINE);
      this.#inputEnd();
    });
  }

  /** How many requests of the other side wait for their reply. */
  get running(): number {
    return this.#incoming.size;
  }

  /** Bytes that the other side has not taken. */
  get queued(): number {
    return this.#queue.queued;
  }

  /** Registers what runs for a method, be it a request or a notification. */
  handle(method: string, run: Method): void {
    this.#methods.set(method, run);
  }

  request(method: string, params?: unknown, { signal }: { signal?: AbortSignal | undefined } = {}) {
    return this.#outgoing.request(method, params, signal);
  }

  /** The same to an MCP client, which does not reply to a cancelled request. */
  requestClient(method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
    return this.#outgoing.requestClient(method, params, signal);
  }

  /** Never throws, since callers are in the middle of other work: params that JSON cannot hold are reported. */
  notify(method: string, params?: unknown): void {
    try {
      this.#send(encode({ jsonrpc: '2.0', method, params }));
    } catch (error) {
      this.#report(error, method);
    }
  }

  /** Resolves when the other side took everything that was sent, or the connection has ended. */
  flushed(): Promise<void> {
    return this.#queue.emptied();
  }

  /** Ends the connection after the other side took everything that was sent. */
  end(): void {
    void this.flushed().then(() => this.#stream.end(() => this.#stream.destroy()));
  }

  destroy(reason = 'closed here'): void {
    this.#cause ??= { reason, isLimit: false };
    this.#stream.destroy();
    this.#finish();
  }

  /** Whether this side ended the connection because of a limit. */
  get wasDropped(): boolean {
    return this.#cause?.isLimit === true;
  }

  get #reason(): string {
    return this.#cause?.reason ?? 'the other side closed it';
  }

  #drop(reason: string): void {
    this.#cause ??= { reason, isLimit: true };
    this.destroy(reason);
  }

  #send(text: Text): void {
    this.#queue.send(typeof text === 'string' ? `${text}\n` : [...text, NEWLINE]);
  }

  #read(incoming: Incoming | Incoming[]): void {
    if (this.#state === 'closed') return;
    if (Array.isArray(incoming)) this.#readBatch(incoming);
    else this.#readOne(incoming, this.#reply);
  }

  readonly #reply: Reply = (text) => {
    if (text !== undefined) this.#send(text);
    if (this.#state === 'input ended' && this.#incoming.size === 0) this.end();
  };

  #readOne(message: Incoming, reply: Reply): void {
    switch (message.kind) {
      case 'request':
        this.#incoming.request(message, reply);
        break;
      case 'notification':
        this.#incoming.notification(message.method, message.params);
        break;
      case 'cancel':
        this.#incoming.cancel(message.target, message.wantsReply);
        break;
      case 'reply':
        this.#outgoing.answered(message.id, message.result);
        break;
      case 'failure':
        this.#outgoing.failed(message.id, message.error);
        break;
      case 'invalid':
        if (this.#badLines === 'fatal') this.destroy(message.error.message);
        else reply(errorText(message.id, message.error));
    }
  }

  /** The replies of a batch are sent together, after the last one. */
  #readBatch(messages: readonly Incoming[]): void {
    const texts: (Text | undefined)[] = [];
    let missing = messages.filter(getsReply).length;
    let held = 0;
    let replies = 0;
    for (const message of messages) {
      const index = getsReply(message) ? replies++ : -1;
      this.#readOne(message, (text) => {
        texts[index] = text;
        missing -= 1;
        held += text === undefined ? 0 : sizeOf(text);
        if (held > this.#limits.hardBytes) this.#drop(`the replies to a batch are over ${held} bytes`);
        else if (missing === 0) this.#reply(batchOf(texts));
      });
    }
  }

  #refuseLine(maxBytes: number): void {
    const message = `Invalid request: a line of more than ${maxBytes} bytes`;
    this.#read({ kind: 'invalid', id: NO_ID, error: { code: CODE.invalidRequest, message } });
  }

  #inputEnd(): void {
    if (this.#state === 'closed') return;
    this.#state = 'input ended';
    this.#outgoing.close('the other side ended it');
    if (this.#incoming.size === 0) this.end();
    else this.#probeClient();
  }

  #probeClient(): void {
    if (this.#state === 'closed' || this.#incoming.size === 0) return;
    if (this.#queue.queued === 0) this.#queue.send(' ');
    this.#probe = this.#clock.setTimeout(() => this.#probeClient(), PROBE_MS);
  }

  #finish(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#clock.clearTimeout(this.#probe);
    this.#queue.close();
    this.#outgoing.close(this.#reason);
    this.#incoming.close();
  }
}

function batchOf(texts: readonly (Text | undefined)[]): Text | undefined {
  const wanted = texts.filter((text) => text !== undefined);
  if (wanted.length === 0) return undefined;
  if (wanted.every((text) => typeof text === 'string')) return `[${wanted.join(',')}]`;
  const parts = wanted.flatMap((text, at) => [
    Buffer.from(at === 0 ? '[' : ','),
    ...(typeof text === 'string' ? [Buffer.from(text)] : text),
  ]);
  return [...parts, Buffer.from(']')];
}

function getsReply({ kind }: Incoming): boolean {
  return kind === 'request' || kind === 'invalid';
}
