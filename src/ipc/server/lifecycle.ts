import type { Closing } from '../../fleet/events.js';

/**
 * - `serving`: it takes connections and calls;
 * - `closing`: it stops its servers. It still takes connections, and tells them why it ends;
 * - `closed`: it ends its connections and takes no others. The socket is removed when the last process of the herd has ended.
 */
export type LifecycleState = { name: 'serving' } | { name: 'closing' | 'closed'; why: Closing };

/** The state of one daemon. It only moves forward. */
export class Lifecycle {
  #state: LifecycleState = { name: 'serving' };

  get state(): LifecycleState {
    return this.#state;
  }

  /** Why the daemon ends; null while it serves. */
  get why(): Closing | null {
    return this.#state.name === 'serving' ? null : this.#state.why;
  }

  /**
   * True where that changed anything. After `replaced` a later shutdown order changes nothing: the successor takes the
   * socket.
   */
  beginClosing(why: Closing): boolean {
    if (this.why?.reason === 'replaced' || this.why?.reason === why.reason) return false;
    this.#state = { name: this.#state.name === 'closed' ? 'closed' : 'closing', why };
    return true;
  }

  /** True for the first time. */
  close(): boolean {
    if (this.#state.name === 'closed') return false;
    this.#state = { name: 'closed', why: this.why ?? { reason: 'shutdown' } };
    return true;
  }
}
