import type { FleetEvent } from '../../fleet/fleet.js';
import type { Peer } from '../jsonrpc/peer.js';

type Topic = FleetEvent['topic'];
type Progress = Record<string, unknown>;

/**
 * Who on this side listens to what the daemon tells. The daemon is asked for a topic once, however many listen to it.
 * What a listener throws is its own fault and surfaces like that of any event listener: uncaught, and beside the rest.
 */
export class RemoteSubscriptions {
  readonly #peer: Peer;
  readonly #byTopic = new Map<Topic, Set<(event: FleetEvent) => void>>();
  readonly #byToken = new Map<unknown, (progress: Progress) => void>();
  #nextToken = 1;

  constructor(peer: Peer) {
    this.#peer = peer;
    peer.handle('fleet/event', (event) => this.#hearEvent(event as FleetEvent));
    peer.handle('notifications/progress', (params) => this.#hearProgress(params as Progress));
  }

  listenToEvents(topics: readonly Topic[], listen: (event: FleetEvent) => void): () => void {
    // one of its own, so that a function may listen twice
    const listener = (event: FleetEvent) => listen(event);
    for (const topic of new Set(topics)) this.#add(topic, listener);
    return () => {
      for (const topic of new Set(topics)) this.#remove(topic, listener);
    };
  }

  listenToProgress(listen: (progress: Progress) => void): { token: number; end(): void } {
    const token = this.#nextToken++;
    this.#byToken.set(token, listen);
    return { token, end: () => void this.#byToken.delete(token) };
  }

  #add(topic: Topic, listener: (event: FleetEvent) => void): void {
    const listening = this.#byTopic.get(topic) ?? new Set();
    this.#byTopic.set(topic, listening.add(listener));
    if (listening.size === 1) this.#ask('fleet/subscribe', topic);
  }

  #remove(topic: Topic, listener: (event: FleetEvent) => void): void {
    const listening = this.#byTopic.get(topic);
    if (!listening?.delete(listener) || listening.size > 0) return;
    this.#byTopic.delete(topic);
    this.#ask('fleet/unsubscribe', topic);
  }

  /** Requests are answered in their order, so nobody has to wait; a lost connection is noticed elsewhere. */
  #ask(method: string, topic: Topic): void {
    this.#peer.request(method, { topics: [topic] }).catch(() => undefined);
  }

  #hearEvent(event: FleetEvent): void {
    for (const listen of this.#byTopic.get(event.topic) ?? []) guarded(() => listen(event));
  }

  #hearProgress({ progressToken, ...progress }: Progress): void {
    const listen = this.#byToken.get(progressToken);
    if (listen !== undefined) guarded(() => listen(progress));
  }
}

function guarded(run: () => void): void {
  try {
    run();
  } catch (error) {
    process.nextTick(() => {
      throw error;
    });
  }
}
