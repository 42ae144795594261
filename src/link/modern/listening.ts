import type { Clock } from '../clock.js';
import { MCPProtocolError } from '../errors.js';
import { isObject, type JsonObject } from '../session/message.js';
import type { OwnRequest } from './own-requests.js';
import { INVALID_PARAMS, METHOD_NOT_FOUND } from './wire.js';

/** What can be listened for: the capability that promises it, the filter that asks for it, the notification that tells. */
const CHANGES = [
  { capability: 'tools', filter: 'toolsListChanged', method: 'notifications/tools/list_changed' },
  { capability: 'prompts', filter: 'promptsListChanged', method: 'notifications/prompts/list_changed' },
  { capability: 'resources', filter: 'resourcesListChanged', method: 'notifications/resources/list_changed' },
] as const;

export const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';
export const CANCELLED = 'notifications/cancelled';

/** How long until it listens again, each time it was of no use; once acknowledged it begins anew. */
const AGAIN_MS = { first: 500, most: 60_000 };

export interface ListeningPorts {
  clock: Clock;
  send(method: string, params: JsonObject): OwnRequest;
  notify(method: string): void;
}

/**
 * One `subscriptions/listen` for everything a server says it tells of. The request stays open; when it ends while the
 * link lives it is sent again, and what may have changed meanwhile is told as if the server had told it.
 */
export class Listening {
  readonly #ports: ListeningPorts;
  readonly #changes: (typeof CHANGES)[number][];
  #timer: unknown;
  #id: number | undefined;
  #failures = 0;
  #heardBefore = false;
  #stopped = false;

  constructor(capabilities: JsonObject, ports: ListeningPorts) {
    this.#ports = ports;
    this.#changes = CHANGES.filter(({ capability }) => {
      const offered = capabilities[capability];
      return isObject(offered) && offered.listChanged === true;
    });
  }

  start(): void {
    if (this.#stopped || this.#changes.length === 0) return;
    const notifications = Object.fromEntries(this.#changes.map(({ filter }) => [filter, true]));
    const { id, reply } = this.#ports.send('subscriptions/listen', { notifications });
    this.#id = id;
    reply.then(
      () => this.#ended(),
      (error: unknown) => this.#ended(error),
    );
  }

  /** True for what is about this listening: its beginning, or an end that the server tells of. */
  receive({ method, params }: JsonObject): boolean {
    if (method === ACKNOWLEDGED) this.#acknowledged();
    else if (method === CANCELLED && isObject(params) && params.requestId === this.#id) this.#ended();
    else return false;
    return true;
  }

  stop(): void {
    this.#stopped = true;
    this.#ports.clock.clearTimeout(this.#timer);
  }

  #acknowledged(): void {
    this.#failures = 0;
    if (this.#heardBefore) for (const { method } of this.#changes) this.#ports.notify(method);
    this.#heardBefore = true;
  }

  #ended(error?: unknown): void {
    if (this.#stopped || this.#id === undefined) return;
    this.#id = undefined;
    const code = error instanceof MCPProtocolError ? error.rpc?.code : undefined;
    // it promised what it does not have: asking again would not change that
    if (code === METHOD_NOT_FOUND || code === INVALID_PARAMS) return;
    const { first, most } = AGAIN_MS;
    const waitMs = Math.min(first * 2 ** this.#failures, most);
    this.#failures += 1;
    this.#timer = this.#ports.clock.setTimeout(() => this.start(), waitMs);
  }
}
