import type { LocalFleet } from '../../fleet/fleet.js';

/** The resources of which one connection wants to hear when they change. */
export class ResourceSubscriptions {
  readonly #notify: (params: Record<string, unknown>) => void;
  /** What is being asked for counts: it can be taken back before the server has answered. */
  readonly #ends = new Map<string, Promise<() => void>>();

  constructor(notify: (params: Record<string, unknown>) => void) {
    this.#notify = notify;
  }

  /** Once is enough, however often it is asked for. Rejects where nobody would tell. */
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
