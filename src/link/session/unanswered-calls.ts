/** A server that follows the protocol answers no cancelled call, so there may be one for each that was ever cancelled. */
const MOST_KEPT = 1024;
/** From so many callers on nothing tells which of them a question is meant for: a third changes nothing. */
const SEVERAL = 2;

/**
 * Calls that ended for their callers while the server has not answered them: cancelled, timed out, or lost on their way
 * back. The server may still work on them, and ask. Each is kept until its reply comes. Of more than MOST_KEPT the oldest
 * is dropped, and its caller counts as long as the session lives: memory is bounded, and no caller is forgotten.
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

  /** The server has answered this one, late. Any other id is left alone. */
  answered(id: number): void {
    this.#callers.delete(id);
  }

  /** On whose behalf the server may still be at work. */
  get callers(): ReadonlySet<string> {
    return new Set([...this.#lasting, ...this.#callers.values()]);
  }
}
