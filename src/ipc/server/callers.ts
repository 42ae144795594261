import type { Caller } from '../../fleet/fleet.js';

/** More than can leave while the calls of one of them come to their end. */
const MOST_LEFT = 4096;

/** Who a client says it is; null where it says nothing of use. */
export function clientOf(said: unknown): Caller['client'] {
  const { name, version } = (said ?? {}) as { name?: unknown; version?: unknown };
  if (typeof name !== 'string' || name === '') return null;
  return { name, version: typeof version === 'string' ? version : null };
}

/** Who the connections are, by name: those that are there, and the last that left, since a call may end after its caller. */
export class Callers {
  readonly #here = new Map<string, Caller>();
  readonly #left = new Map<string, Caller>();

  join(name: string, caller: Caller): void {
    this.#here.set(name, caller);
  }

  leave(name: string): void {
    const caller = this.#here.get(name);
    if (caller === undefined || !this.#here.delete(name)) return;
    // what it saw of the herd must not be kept with it
    this.#left.set(name, { ...caller });
    const [oldest] = this.#left.keys();
    if (this.#left.size > MOST_LEFT && oldest !== undefined) this.#left.delete(oldest);
  }

  of(name: string): Caller | undefined {
    return this.#here.get(name) ?? this.#left.get(name);
  }
}
