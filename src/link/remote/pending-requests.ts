import type { TransportFailure } from '../failures/transport-failure.js';
import type { RefusalHeaders } from './refusal-headers.js';

/** A request over streamable HTTP that has no reply yet. */
export interface PendingRequest {
  /** Its `_meta` names the protocol version: from 2026-07-28 on only a closed stream cancels a request. */
  readonly isMcp2026: boolean;
  hasStream: boolean;
  /** Why its stream broke, where it did. */
  failure: TransportFailure | undefined;
  /** What the headers of its response say about the next try. */
  headers: RefusalHeaders | undefined;
  /** The id of the last event on its stream, from which the stream can be resumed. */
  lastEvent: string | undefined;
}

/**
 * Requests by their ids, and by the last event of their streams: the SDK's transport resumes a stream with that event
 * and does not say which request it belongs to.
 */
export class PendingRequests {
  readonly #requests = new Map<number, PendingRequest>();
  readonly #byLastEvent = new Map<string, number>();

  add(id: number, isMcp2026: boolean): PendingRequest {
    const request: PendingRequest = {
      isMcp2026,
      hasStream: false,
      failure: undefined,
      headers: undefined,
      lastEvent: undefined,
    };
    this.#requests.set(id, request);
    return request;
  }

  get(id: number): PendingRequest | undefined {
    return this.#requests.get(id);
  }

  has(id: number): boolean {
    return this.#requests.has(id);
  }

  /** No reply is expected any more. Its last event stays known until `forgetEvent` or `resumed`. */
  remove(id: number): PendingRequest | undefined {
    const request = this.#requests.get(id);
    this.#requests.delete(id);
    return request;
  }

  clear(): void {
    this.#requests.clear();
  }

  /** An event with an id came on the stream of this request. */
  noteEvent(id: number, request: PendingRequest, event: string): void {
    if (this.#requests.get(id) !== request) return;
    this.forgetEvent(request);
    request.lastEvent = event;
    this.#byLastEvent.set(event, id);
  }

  /** Its stream will not be resumed. */
  forgetEvent({ lastEvent }: PendingRequest): void {
    if (lastEvent !== undefined) this.#byLastEvent.delete(lastEvent);
  }

  /**
   * The request whose stream is resumed after this event. `unwanted`: it had one that is pending no more. Undefined: it
   * is the stream of notifications.
   */
  resumed(lastEvent: string): number | 'unwanted' | undefined {
    const id = this.#byLastEvent.get(lastEvent);
    if (id === undefined || this.#requests.has(id)) return id;
    this.#byLastEvent.delete(lastEvent);
    return 'unwanted';
  }
}
