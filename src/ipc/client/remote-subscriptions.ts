import type { FleetEvent, Topic } from '../../fleet/fleet.js';
import type { Peer } from '../jsonrpc/peer.js';

type Progress = Record<string, unknown>;

/**
 * The listeners of this client for events and progress. The daemon gets one subscription for each topic, however many
 * listeners it has. An exception of a listener becomes an uncaught exception, and the other listeners still run.
 */
export class RemoteSubscriptions {
  readonly #peer: Peer;
  readonly #byTopic = new Map<Topic, Set<(event: FleetEvent) => void>>();
  readonly #byToken = new Map<unknown, (progress: Progress) => void>();
  #nextToken = 1;

  constructor(peer: Peer) {
    this.#peer = peer;
    peer.handle('fleet/event', (event) => this.#onEvent(event as FleetEvent));
    peer.handle('notifications/progress', (params) => this.#onProgress(params as Progress));
  }

  listenToEvents(topics: readonly Topic[], listen: (event: FleetEvent) => void): () => void {
    // a new function, so that the same one may listen twice
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

  /** Not awaited: the daemon answers in order. A lost connection is reported elsewhere. */
  #ask(method: string, topic: Topic): void {
    this.#peer.request(method, { topics: [topic] }).catch(() => undefined);
  }

  #onEvent(event: FleetEvent): void {
    for (const listen of this.#byTopic.get(event.topic) ?? []) guarded(() => listen(event));
  }

  #onProgress({ progressToken, ...progress }: Progress): void {
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
