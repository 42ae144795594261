import type { Fleet, FleetEvent, Topic } from '../../fleet/fleet.js';

/** The event subscriptions of one connection. A second subscription to a topic replaces its choice of servers. */
export class EventSubscriptions {
  readonly #fleet: Pick<Fleet, 'subscribe'>;
  readonly #notify: (event: FleetEvent) => void;
  readonly #ends = new Map<Topic, () => void>();

  constructor(fleet: Pick<Fleet, 'subscribe'>, notify: (event: FleetEvent) => void) {
    this.#fleet = fleet;
    this.#notify = notify;
  }

  get topics(): Topic[] {
    return [...this.#ends.keys()];
  }

  begin(topics: readonly Topic[], servers?: readonly string[]): void {
    const wanted = servers && new Set(servers);
    for (const topic of topics) {
      this.end([topic]);
      const end = this.#fleet.subscribe([topic], (event) => {
        if (wanted === undefined || wanted.has(event.server)) this.#notify(event);
      });
      this.#ends.set(topic, end);
    }
  }

  end(topics: readonly Topic[] = this.topics): void {
    for (const topic of topics) {
      this.#ends.get(topic)?.();
      this.#ends.delete(topic);
    }
  }
}
