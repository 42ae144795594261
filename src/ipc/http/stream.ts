import type { ServerResponse } from 'node:http';
import type { Clock } from '../../shared/clock.js';
import type { IdText } from '../jsonrpc/message.js';
import { type EventLog, eventId } from './event-log.js';
import { Reply } from './reply.js';
import type { Message } from './virtual-connection.js';

export interface StreamOptions {
  /** 0 is the one that belongs to no request. */
  number: number;
  clock: Clock;
  log: EventLog;
  /** A client of before 2025-11-25 takes an event without data for a broken one. */
  isPrimed(): boolean;
  /** Nobody will ever hear the rest. */
  onAbandoned(): void;
}

/** A reply that takes longer becomes a stream: its client may lose it and come back, and sees that we live. */
const SLOW_MS = 1000;
/** How long a client that lost its stream has to come back for it. */
const RESUME_MS = 60_000;

/**
 * What a session says to one request of HTTP, in order. It outlives the response that carried it: a client that lost
 * that one comes back with the id of the last event it has.
 */
export class Stream {
  readonly #options: StreamOptions;
  /** Requests whose replies belong here. */
  readonly waiting = new Set<IdText>();
  #reply: Reply | undefined;
  #said = 0;
  #given = 0;
  #isResumable = false;
  #timer: unknown;

  constructor(options: StreamOptions) {
    this.#options = options;
  }

  get number(): number {
    return this.#options.number;
  }

  /** Somebody listens. */
  get isOpen(): boolean {
    return this.#reply !== undefined;
  }

  /** Carries it with the response of the request that began it. */
  open(response: ServerResponse): void {
    this.#carry(response);
    this.#timer = this.#options.clock.setTimeout(() => this.begin(), SLOW_MS);
  }

  /** Carries it on with another response, from what the client has not heard; one that still carries it ends. */
  resume(response: ServerResponse, after = this.#given): void {
    this.end();
    const reply = this.#carry(response);
    reply.begin(this.#options.isPrimed() ? this.#idOf(after) : undefined);
    this.#isResumable = true;
    for (const { sequence, message } of this.#options.log.after(this.number, after))
      this.#give(sequence, message);
  }

  send(message: Message): void {
    this.begin();
    this.#said += 1;
    this.#options.log.keep(this.number, this.#said, message);
    this.#give(this.#said, message);
  }

  /** The last reply. Where nothing else came before it, it is all of the response. */
  finish(message: Message): void {
    this.#stopTimer();
    if (this.#reply?.state === 'waiting') this.#reply.json(200, message);
    else this.send(message);
    this.end();
  }

  /** Becomes a stream of events, if it is none yet. */
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

  #give(sequence: number, message: Message): void {
    if (this.#reply === undefined) return;
    this.#reply.event(message, this.#idOf(sequence));
    this.#given = sequence;
    this.#isResumable = true;
  }

  #carry(response: ServerResponse): Reply {
    const { clock } = this.#options;
    const reply = new Reply(response, { clock, onLost: () => this.#lost(reply) });
    this.#reply = reply;
    return reply;
  }

  /** No cancellation where the client may come back; and where it cannot, nobody is left to hear the reply. */
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
