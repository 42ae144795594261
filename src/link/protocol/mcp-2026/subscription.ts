import { MCPProtocolError } from '../../../shared/call-errors.js';
import type { Clock } from '../../../shared/clock.js';
import { isObject, type JsonObject } from '../../../shared/json.js';
import { SUBSCRIPTION_ID_KEY } from '../../../shared/mcp-names.js';
import { CODE } from '../../../shared/rpc-codes.js';
import type { DriverRequest } from './driver-requests.js';

export const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';
export const CANCELLED = 'notifications/cancelled';

/** How long until it listens again, each time it was of no use; once acknowledged it begins anew. */
const AGAIN_MS = { first: 500, most: 60_000 };

export interface SubscriptionPorts {
  clock: Clock;
  send(method: string, params: JsonObject): DriverRequest;
  /** Takes a request back. */
  cancel(id: number): void;
  /** The server listens to what it lists here, for the first time. */
  begun?(honoured: JsonObject): void;
  /** It listens again: what changed since it last did, nobody has heard. */
  missed(): void;
  /** It came to its end before it had begun. */
  refused?(error: unknown): void;
}

/**
 * One `subscriptions/listen`. The request stays open; when it ends while the link lives it is sent again, and what may
 * have changed meanwhile is told as if the server had told it.
 */
export class Subscription {
  readonly #ports: SubscriptionPorts;
  readonly #notifications: JsonObject;
  #timer: unknown;
  #id: number | undefined;
  #failures = 0;
  #heardBefore = false;
  #isAcknowledged = false;
  #stopped = false;

  constructor(notifications: JsonObject, ports: SubscriptionPorts) {
    this.#notifications = notifications;
    this.#ports = ports;
  }

  start(): void {
    if (this.#stopped) return;
    const { id, reply } = this.#ports.send('subscriptions/listen', { notifications: this.#notifications });
    this.#id = id;
    this.#isAcknowledged = false;
    reply.then(
      () => this.#ended(id),
      (error: unknown) => this.#ended(id, error),
    );
  }

  /** True for what is about this listening: its beginning, or an end that the server tells of. */
  receive({ method, params }: JsonObject): boolean {
    if (!isObject(params) || this.#id === undefined) return false;
    if (method === ACKNOWLEDGED && this.#isMeant(params)) this.#acknowledged(params);
    else if (method === CANCELLED && params.requestId === this.#id) this.#ended(this.#id);
    else return false;
    return true;
  }

  /** The server need not be told where it is gone itself. */
  stop(): void {
    this.#stopped = true;
    this.#ports.clock.clearTimeout(this.#timer);
  }

  cancel(): void {
    if (this.#stopped) return;
    this.stop();
    if (this.#id !== undefined) this.#ports.cancel(this.#id);
  }

  /** One that does not say which is meant is for whoever still waits for one. */
  #isMeant({ _meta: meta }: JsonObject): boolean {
    const id = isObject(meta) ? meta[SUBSCRIPTION_ID_KEY] : undefined;
    return id === undefined ? !this.#isAcknowledged : id === this.#id;
  }

  #acknowledged({ notifications }: JsonObject): void {
    if (this.#stopped) return;
    this.#failures = 0;
    this.#isAcknowledged = true;
    if (this.#heardBefore) this.#ports.missed();
    else this.#ports.begun?.(isObject(notifications) ? notifications : {});
    this.#heardBefore = true;
  }

  #ended(id: number, error?: unknown): void {
    if (this.#stopped || this.#id !== id) return;
    this.#id = undefined;
    if (!this.#heardBefore) this.#ports.refused?.(error);
    const code = error instanceof MCPProtocolError ? error.rpc?.code : undefined;
    // it promised what it does not have: asking again would not change that
    if (this.#stopped || code === CODE.methodNotFound || code === CODE.invalidParams) return;
    const { first, most } = AGAIN_MS;
    const waitMs = Math.min(first * 2 ** this.#failures, most);
    this.#failures += 1;
    this.#timer = this.#ports.clock.setTimeout(() => this.start(), waitMs);
  }
}
