import type { FleetEvent, Topic } from '../../fleet/fleet.js';

export type { Topic };

type EventOf<T extends Topic> = Extract<FleetEvent, { topic: T }>;

/** Subscribers of the herd's events by topic. An event without subscribers is not built. */
export class EventBus {
  readonly #listeners = new Map<Topic, Set<(event: FleetEvent) => void>>();
  readonly #fault: (server: string, error: unknown) => void;

  /** `fault`: a listener threw. The emitter must not break because of it. */
  constructor(fault: (server: string, error: unknown) => void) {
    this.#fault = fault;
  }

  subscribe<T extends Topic>(topics: readonly T[], listen: (event: EventOf<T>) => void): () => void {
    // a new object, so that one function may subscribe twice
    const listener = (event: FleetEvent) => listen(event as EventOf<T>);
    for (const topic of topics) {
      const listening = this.#listeners.get(topic) ?? new Set();
      this.#listeners.set(topic, listening.add(listener));
    }
    return () => {
      for (const topic of topics) this.#listeners.get(topic)?.delete(listener);
    };
  }

  /** Whether the topic has subscribers: without them an event need not be built. */
  hasListeners(topic: Topic): boolean {
    return (this.#listeners.get(topic)?.size ?? 0) > 0;
  }

  emit<T extends Topic>(
    topic: T,
    server: string,
    describe: () => Omit<EventOf<T>, 'topic' | 'server'> | undefined,
  ): void {
    if (!this.hasListeners(topic)) return;
    this.#guard(server, () => {
      const told = describe();
      if (told === undefined) return;
      const event = { topic, server, ...told } as EventOf<T>;
      for (const listen of [...this.#listeners.get(topic)!]) this.#guard(server, () => listen(event));
    });
  }

  #guard(server: string, run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#fault(server, error);
    }
  }
}
