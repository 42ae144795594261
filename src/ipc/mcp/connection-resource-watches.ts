import type { LocalFleet } from '../../fleet/fleet.js';

/** The resource watches of one connection: what its client has subscribed to. */
export class ConnectionResourceWatches {
  readonly #notify: (params: Record<string, unknown>) => void;
  /** A subscription is here before the server has answered, so that the client can end it. */
  readonly #ends = new Map<string, Promise<() => void>>();

  constructor(notify: (params: Record<string, unknown>) => void) {
    this.#notify = notify;
  }

  /** Subscribes once, however often it is called. Rejects where the server does not notify. */
  async begin(fleet: LocalFleet, uri: string, server: string | undefined): Promise<void> {
    const begun = this.#ends.get(uri) ?? fleet.watch({ uri, server }, this.#notify);
    this.#ends.set(uri, begun);
    try {
      await begun;
    } catch (error) {
      if (this.#ends.get(uri) === begun) this.#ends.delete(uri);
      throw error;
    }
  }

  end(uri: string): void {
    this.#ends.get(uri)?.then(
      (end) => end(),
      () => undefined,
    );
    this.#ends.delete(uri);
  }

  endAll(): void {
    for (const uri of [...this.#ends.keys()]) this.end(uri);
  }
}
