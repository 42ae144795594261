import type { FleetEvent } from '../../fleet/fleet.js';

export type Topic = FleetEvent['topic'];
type EventOf<T extends Topic> = Extract<FleetEvent, { topic: T }>;

/** Who listens to what happens in the herd. What nobody listens to is not even put together. */
export class EventBus {
  readonly #listeners = new Map<Topic, Set<(event: FleetEvent) => void>>();
  readonly #fault: (server: string, error: unknown) => void;

  /** `fault`: a listener threw. Whoever tells is in the middle of something that must not break. */
  constructor(fault: (server: string, error: unknown) => void) {
    this.#fault = fault;
  }

  subscribe<T extends Topic>(topics: readonly T[], listen: (event: EventOf<T>) => void): () => void {
    // one of its own, so that a function may listen twice
    const listener = (event: FleetEvent) => listen(event as EventOf<T>);
    for (const topic of topics) {
      const listening = this.#listeners.get(topic) ?? new Set();
      this.#listeners.set(topic, listening.add(listener));
    }
    return () => {
      for (const topic of topics) this.#listeners.get(topic)?.delete(listener);
    };
  }

  /** Somebody listens: what costs something to find out is worth finding out. */
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
