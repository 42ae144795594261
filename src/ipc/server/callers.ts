import type { Caller } from '../../fleet/fleet.js';

/** More connections than can end while calls of one of them are still running. */
const MAX_LEFT = 4096;

/** The name and version that a client gives; null where it gives no name. */
export function clientOf(info: unknown): Caller['client'] {
  const { name, version } = (info ?? {}) as { name?: unknown; version?: unknown };
  if (typeof name !== 'string' || name === '') return null;
  return { name, version: typeof version === 'string' ? version : null };
}

/** The clients behind the names of connections. The last closed ones stay, since a call may end after its connection. */
export class Callers {
  readonly #open = new Map<string, Caller>();
  readonly #closed = new Map<string, Caller>();

  join(name: string, caller: Caller): void {
    this.#open.set(name, caller);
  }

  leave(name: string): void {
    const caller = this.#open.get(name);
    if (caller === undefined || !this.#open.delete(name)) return;
    // a copy, because `caller` holds on to the view of its connection
    this.#closed.set(name, { ...caller });
    const [oldest] = this.#closed.keys();
    if (this.#closed.size > MAX_LEFT && oldest !== undefined) this.#closed.delete(oldest);
  }

  of(name: string): Caller | undefined {
    return this.#open.get(name) ?? this.#closed.get(name);
  }
}
