import { MCPProtocolError } from '../../../shared/call-errors.js';
import type { Clock } from '../../../shared/clock.js';
import { isObject, type JsonObject } from '../../../shared/json.js';
import { SUBSCRIPTION_ID_KEY } from '../../../shared/mcp/mcp-names.js';
import { CODE } from '../../../shared/mcp/rpc-codes.js';
import type { DriverRequest } from './driver-requests.js';

const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';
export const CANCELLED = 'notifications/cancelled';

/** The delay before the request is sent again. It doubles with each failure, and starts over once acknowledged. */
const RETRY_MS = { first: 500, most: 60_000 };

export interface ListenRequestPorts {
  clock: Clock;
  send(method: string, params: JsonObject): DriverRequest;
  /** Cancels a request. */
  cancel(id: number): void;
  /** The server has acknowledged for the first time; `honoured` lists what it will report. */
  begun?(honoured: JsonObject): void;
  /** The server has acknowledged again: changes in between were not reported. */
  missed(): void;
  /** The request ended before the server had acknowledged it. */
  refused?(error: unknown): void;
}

/**
 * One `subscriptions/listen`. The request stays open. When it ends while the link lives it is sent again, and possible
 * changes in between are reported as if the server had reported them.
 */
export class ListenRequest {
  readonly #ports: ListenRequestPorts;
  readonly #notifications: JsonObject;
  #timer: unknown;
  #id: number | undefined;
  #failures = 0;
  /** `asking again`: the server had acknowledged before. Both kinds of asking include the pause before a retry. */
  #state: 'asking' | 'listening' | 'asking again' | 'stopped' = 'asking';

  constructor(notifications: JsonObject, ports: ListenRequestPorts) {
    this.#notifications = notifications;
    this.#ports = ports;
  }

  start(): void {
    if (this.#state === 'stopped') return;
    const { id, reply } = this.#ports.send('subscriptions/listen', { notifications: this.#notifications });
    this.#id = id;
    reply.then(
      () => this.#ended(id),
      (error: unknown) => this.#ended(id, error),
    );
  }

  /** True for the acknowledgement and the cancellation of this subscription. */
  receive({ method, params }: JsonObject): boolean {
    if (!isObject(params) || this.#id === undefined) return false;
    if (method === ACKNOWLEDGED && this.#isForThis(params)) this.#acknowledged(params);
    else if (method === CANCELLED && params.requestId === this.#id) this.#ended(this.#id);
    else return false;
    return true;
  }

  /** For a server that is gone: nothing is sent to it. */
  stop(): void {
    this.#state = 'stopped';
    this.#ports.clock.clearTimeout(this.#timer);
  }

  cancel(): void {
    if (this.#state === 'stopped') return;
    this.stop();
    if (this.#id !== undefined) this.#ports.cancel(this.#id);
  }

  /** An acknowledgement without an id belongs to a subscription that still waits for one. */
  #isForThis({ _meta: meta }: JsonObject): boolean {
    const id = isObject(meta) ? meta[SUBSCRIPTION_ID_KEY] : undefined;
    return id === undefined ? this.#state !== 'listening' : id === this.#id;
  }

  #acknowledged({ notifications }: JsonObject): void {
    if (this.#state === 'stopped') return;
    const isFirst = this.#state === 'asking';
    this.#failures = 0;
    this.#state = 'listening';
    if (isFirst) this.#ports.begun?.(isObject(notifications) ? notifications : {});
    else this.#ports.missed();
  }

  #ended(id: number, error?: unknown): void {
    if (this.#state === 'stopped' || this.#id !== id) return;
    this.#id = undefined;
    if (this.#state === 'asking') this.#ports.refused?.(error);
    const code = error instanceof MCPProtocolError ? error.rpc?.code : undefined;
    // the server does not have what its capabilities promise: asking again would not change that
    if (code !== CODE.methodNotFound && code !== CODE.invalidParams) this.#startLater();
  }

  #startLater(): void {
    // `refused` may have stopped it
    if (this.#state === 'stopped') return;
    if (this.#state === 'listening') this.#state = 'asking again';
    const { first, most } = RETRY_MS;
    const waitMs = Math.min(first * 2 ** this.#failures, most);
    this.#failures += 1;
    this.#timer = this.#ports.clock.setTimeout(() => this.start(), waitMs);
  }
}
