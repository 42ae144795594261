import type { Clock } from '../../shared/clock.js';
import type { Call } from './call.js';

/** When a session was last used, and which of its calls are requests of toolherd itself: those are no use. */
export class SessionUse {
  readonly #clock: Clock;
  readonly #ownRequests = new Set<Call>();
  #lastActivityAt: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#lastActivityAt = clock.now();
  }

  /** When a call last began, progressed or settled. An idle timer reads it when it fires, so a call costs no event. */
  get lastActivityAt(): number {
    return this.#lastActivityAt;
  }

  /** Own requests without an outcome. */
  get ownRequests(): number {
    return this.#ownRequests.size;
  }

  /** Those that the server has. */
  get ownInFlight(): number {
    let sent = 0;
    for (const { wasSent } of this.#ownRequests) if (wasSent) sent += 1;
    return sent;
  }

  began(call: Call, now: number): void {
    if (call.isOwn) this.#ownRequests.add(call);
    else this.#lastActivityAt = now;
  }

  /** Returns the time. */
  progressed(): number {
    this.#lastActivityAt = this.#clock.now();
    return this.#lastActivityAt;
  }

  ended(call: Call): void {
    if (call.isOwn) this.#ownRequests.delete(call);
    else this.#lastActivityAt = this.#clock.now();
  }
}
