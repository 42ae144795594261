import type { ServerResponse } from 'node:http';
import type { Clock } from '../../shared/clock.js';
import type { IdText } from '../jsonrpc/message.js';
import { type EventLog, eventId } from './event-log.js';
import { Reply } from './reply.js';
import type { LineChunks } from './virtual-connection.js';

export interface StreamOptions {
  /** 0: the stream that belongs to no request. */
  number: number;
  clock: Clock;
  log: EventLog;
  /** Clients before 2025-11-25 treat an event without data as an error. */
  isPrimed(): boolean;
  /** The client is gone and cannot resume the stream. */
  onAbandoned(): void;
}

/** A reply that takes longer becomes an event stream: the client can resume it, and sees that the daemon works on it. */
const SLOW_MS = 1000;
/** How long a client has to resume a stream that it lost. */
const RESUME_MS = 60_000;

/**
 * The messages of a session to one HTTP request, in order. A stream outlives its response: a client that lost the
 * response resumes the stream with the id of the last event it got.
 */
export class Stream {
  readonly #options: StreamOptions;
  /** Requests whose replies belong here. */
  readonly waiting = new Set<IdText>();
  #reply: Reply | undefined;
  /** The number of the last message. */
  #last = 0;
  /** The number of the last message that was written to a response. */
  #written = 0;
  #isResumable = false;
  #timer: unknown;

  constructor(options: StreamOptions) {
    this.#options = options;
  }

  get number(): number {
    return this.#options.number;
  }

  /** It has a response. */
  get isOpen(): boolean {
    return this.#reply !== undefined;
  }

  /** Begins with the response of its request. */
  open(response: ServerResponse): void {
    this.#attach(response);
    this.#timer = this.#options.clock.setTimeout(() => this.begin(), SLOW_MS);
  }

  /** Continues with another response, from the first message that the client did not get. The old response ends. */
  resume(response: ServerResponse, after = this.#written): void {
    this.end();
    const reply = this.#attach(response);
    reply.begin(this.#options.isPrimed() ? this.#idOf(after) : undefined);
    this.#isResumable = true;
    for (const { sequence, message } of this.#options.log.after(this.number, after))
      this.#write(sequence, message);
  }

  send(message: LineChunks): void {
    this.begin();
    this.#last += 1;
    this.#options.log.keep(this.number, this.#last, message);
    this.#write(this.#last, message);
  }

  /** The last reply. Without earlier messages it is the whole response, as JSON. */
  finish(message: LineChunks): void {
    this.#stopTimer();
    if (this.#reply?.state === 'waiting') this.#reply.json(200, message);
    else this.send(message);
    this.end();
  }

  /** Turns the response into an event stream, if it is not one yet. */
  begin(): void {
    if (this.#reply?.state !== 'waiting') return;
    this.#stopTimer();
    const isPrimed = this.#options.isPrimed();
    this.#isResumable = isPrimed;
    this.#reply.begin(isPrimed ? this.#idOf(0) : undefined);
  }

  end(): void {
    this.#stopTimer();
    this.#reply?.end();
    this.#reply = undefined;
  }

  #write(sequence: number, message: LineChunks): void {
    if (this.#reply === undefined) return;
    this.#reply.event(message, this.#idOf(sequence));
    this.#written = sequence;
    this.#isResumable = true;
  }

  #attach(response: ServerResponse): Reply {
    const { clock } = this.#options;
    const reply = new Reply(response, { clock, onLost: () => this.#lost(reply) });
    this.#reply = reply;
    return reply;
  }

  /** A client that can resume the stream gets time for it. Otherwise the requests are cancelled at once. */
  #lost(reply: Reply): void {
    if (this.#reply !== reply) return;
    this.#reply = undefined;
    this.#stopTimer();
    if (this.#isResumable)
      this.#timer = this.#options.clock.setTimeout(() => this.#options.onAbandoned(), RESUME_MS);
    else this.#options.onAbandoned();
  }

  #stopTimer(): void {
    this.#options.clock.clearTimeout(this.#timer);
  }

  #idOf(sequence: number): string {
    return eventId({ stream: this.number, sequence });
  }
}
