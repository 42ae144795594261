import { type MCPError, MCPProtocolError, MCPTimeoutError } from '../../../shared/call-errors.js';
import type { Clock } from '../../../shared/clock.js';
import { isObject, type JsonObject } from '../../../shared/json.js';
import { RESOURCE_UPDATED } from '../../../shared/mcp/mcp-names.js';
import { seconds } from '../../../shared/text/seconds.js';
import type { Unwatch } from '../../link.js';
import { gone } from '../protocol-driver.js';
import { ListenRequest, type ListenRequestPorts } from './listen-request.js';

/** Lists that can change: the capability that promises reports, the filter that asks for them, the notification. */
const CHANGES = [
  { capability: 'tools', filter: 'toolsListChanged', method: 'notifications/tools/list_changed' },
  { capability: 'prompts', filter: 'promptsListChanged', method: 'notifications/prompts/list_changed' },
  { capability: 'resources', filter: 'resourcesListChanged', method: 'notifications/resources/list_changed' },
] as const;

/** A server that has not acknowledged by then never will. */
const ACKNOWLEDGE_MS = 30_000;

export interface ListenRequestsPorts extends Pick<ListenRequestPorts, 'send' | 'cancel'> {
  /** The server's name, for messages. */
  name: string;
  clock: Clock;
  /** Passes on a notification as if the server had sent it. */
  notify(method: string, params?: JsonObject): void;
}

/** All subscriptions of one server: one for its lists, and one for each watched resource. */
export class ListenRequests {
  readonly #ports: ListenRequestsPorts;
  readonly #open = new Set<ListenRequest>();
  readonly #opening = new Map<ListenRequest, (error: Error) => void>();

  constructor(ports: ListenRequestsPorts) {
    this.#ports = ports;
  }

  /** Subscribes to every list whose changes the server reports. */
  listenToLists(capabilities: JsonObject): void {
    const changes = CHANGES.filter(({ capability }) => {
      const offered = capabilities[capability];
      return isObject(offered) && offered.listChanged === true;
    });
    if (changes.length === 0) return;
    const filter = Object.fromEntries(changes.map(({ filter }) => [filter, true]));
    const missed = () => {
      for (const { method } of changes) this.#ports.notify(method);
    };
    this.#listen(filter, { missed });
  }

  /** Resolves when the server has acknowledged; rejects where it refuses or is silent. */
  watch(uri: string): Promise<Unwatch> {
    const { name, clock, notify } = this.#ports;
    return new Promise((resolve, reject) => {
      const timer = clock.setTimeout(() => refuse(tooLate(name)), ACKNOWLEDGE_MS);
      const end = () => {
        clock.clearTimeout(timer);
        this.#opening.delete(subscription);
        this.#open.delete(subscription);
        subscription.cancel();
      };
      const refuse = (error: unknown) => {
        end();
        reject(error ?? silent(name, uri));
      };
      const subscription = this.#listen(
        { resourceSubscriptions: [uri] },
        {
          begun: ({ resourceSubscriptions: honoured }) => {
            if (!Array.isArray(honoured) || !honoured.includes(uri)) return refuse(undefined);
            clock.clearTimeout(timer);
            this.#opening.delete(subscription);
            resolve(async () => end());
          },
          refused: refuse,
          missed: () => notify(RESOURCE_UPDATED, { uri }),
        },
      );
      this.#opening.set(subscription, refuse);
    });
  }

  receive(raw: JsonObject): boolean {
    return [...this.#open].some((subscription) => subscription.receive(raw));
  }

  stop(): void {
    for (const subscription of this.#open) subscription.stop();
    for (const refuse of this.#opening.values()) refuse(gone(this.#ports.name));
  }

  #listen(filter: JsonObject, on: Pick<ListenRequestPorts, 'begun' | 'missed' | 'refused'>): ListenRequest {
    const { clock, send, cancel } = this.#ports;
    const subscription = new ListenRequest(filter, { clock, send, cancel, ...on });
    this.#open.add(subscription);
    subscription.start();
    return subscription;
  }
}

function tooLate(name: string): MCPError {
  return new MCPTimeoutError(`${name}: no answer to subscriptions/listen in ${seconds(ACKNOWLEDGE_MS)}`);
}

function silent(name: string, uri: string): MCPError {
  return new MCPProtocolError(`${name}: it does not report changes of ${uri}`, { sent: true });
}
