import type { FleetEvent, LevelFor, Topic } from '../../fleet/fleet.js';
import { lowestMcpLevel, type McpLevel } from '../../shared/mcp/log-levels.js';

export type { Topic };

type EventOf<T extends Topic> = Extract<FleetEvent, { topic: T }>;

/** Subscribers of the herd's events by topic. An event without subscribers is not built. */
export class EventBus {
  readonly #listeners = new Map<Topic, Set<(event: FleetEvent) => void>>();
  readonly #levels = new Set<LevelFor>();
  readonly #fault: (server: string, error: unknown) => void;
  readonly #levelChanged: (levelFor: LevelFor) => void;

  /**
   * `fault`: a listener threw. The emitter must not break because of it. `levelChanged`: a subscriber began or ended to want
   * log messages of these levels.
   */
  constructor(
    fault: (server: string, error: unknown) => void,
    levelChanged: (levelFor: LevelFor) => void = () => {},
  ) {
    this.#fault = fault;
    this.#levelChanged = levelChanged;
  }

  /** The lowest level of this server's log messages that a subscriber wants. */
  wantedLevel(server: string): McpLevel | undefined {
    return lowestMcpLevel([...this.#levels].map((levelFor) => levelFor(server)));
  }

  subscribe<T extends Topic>(
    topics: readonly T[],
    listen: (event: EventOf<T>) => void,
    levelFor?: LevelFor,
  ): () => void {
    // a new object, so that one function may subscribe twice
    const listener = (event: FleetEvent) => listen(event as EventOf<T>);
    for (const topic of topics) {
      const listening = this.#listeners.get(topic) ?? new Set();
      this.#listeners.set(topic, listening.add(listener));
    }
    // a new function, so that one may subscribe twice
    const wanted = levelFor && ((server: string) => levelFor(server));
    if (wanted !== undefined) {
      this.#levels.add(wanted);
      this.#levelChanged(wanted);
    }
    return () => {
      for (const topic of topics) this.#listeners.get(topic)?.delete(listener);
      if (wanted !== undefined && this.#levels.delete(wanted)) this.#levelChanged(wanted);
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
