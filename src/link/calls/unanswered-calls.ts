/** A server that follows the protocol never answers a cancelled call, so each cancelled call would stay for ever. */
const MOST_KEPT = 1024;
/** With two callers it is unknown which one a request of the server is meant for: a third changes nothing. */
const SEVERAL = 2;

/**
 * Calls that ended for their callers without a reply: cancelled, timed out, or lost. The server may still work on them,
 * and send requests. Each is kept until its reply comes. Over MOST_KEPT the oldest is dropped, and its caller counts as
 * long as the session lives: memory is bounded, and no caller is forgotten.
 */
export class UnansweredCalls {
  /** The oldest first. */
  readonly #callers = new Map<number, string>();
  readonly #lasting = new Set<string>();

  add(id: number, caller: string): void {
    this.#callers.set(id, caller);
    if (this.#callers.size <= MOST_KEPT) return;
    const [[oldest, itsCaller] = [id, caller]] = this.#callers;
    this.#callers.delete(oldest);
    if (this.#lasting.size < SEVERAL) this.#lasting.add(itsCaller);
  }

  /** The reply to this call came late. Other ids are ignored. */
  answered(id: number): void {
    this.#callers.delete(id);
  }

  /** Callers whose calls the server may still work on. */
  get callers(): ReadonlySet<string> {
    return new Set([...this.#lasting, ...this.#callers.values()]);
  }
}
