import { type ConnectedAgent, isInScope, type OpenCall, type ViewScope } from '../../fleet/agents.js';
import type { Caller } from '../../fleet/fleet.js';

/** More connections than can end while calls of one of them are still running. */
const MAX_LEFT = 4096;

/** The name and version that a client gives; null where it gives no name. */
export function clientOf(info: unknown): Caller['client'] {
  const { name, version } = (info ?? {}) as { name?: unknown; version?: unknown };
  if (typeof name !== 'string' || name === '') return null;
  return { name, version: typeof version === 'string' ? version : null };
}

/** A connection that is open. */
export interface OpenCaller extends Caller, Pick<ConnectedAgent, 'surface' | 'since'> {
  /** How many of its requests have ended. */
  calls: number;
}

/** The clients behind the names of connections. The last closed ones stay, since a call may end after its connection. */
export class Callers {
  readonly #open = new Map<string, OpenCaller>();
  readonly #closed = new Map<string, Caller>();

  join(name: string, caller: OpenCaller): void {
    this.#open.set(name, caller);
  }

  leave(name: string): void {
    const caller = this.#open.get(name);
    if (caller === undefined || !this.#open.delete(name)) return;
    // a copy, because `caller` holds on to the view of its connection
    const { via, client, agent, profile } = caller;
    this.#closed.set(name, { via, client, agent, profile });
    const [oldest] = this.#closed.keys();
    if (this.#closed.size > MAX_LEFT && oldest !== undefined) this.#closed.delete(oldest);
  }

  of(name: string): Caller | undefined {
    return this.#open.get(name) ?? this.#closed.get(name);
  }

  /** A request of this connection has ended. */
  count(name: string): void {
    const caller = this.#open.get(name);
    if (caller !== undefined) caller.calls += 1;
  }

  /** The open connections in the order in which they came, as far as a connection of this scope sees them. */
  list(calls: ReadonlyMap<string, OpenCall[]>, scope?: ViewScope): ConnectedAgent[] {
    const seen = [...this.#open].filter(([, caller]) => scope === undefined || isInScope(scope, caller));
    return seen.map(([name, { via, client, agent, profile = null, surface, since, calls: ended }]) => ({
      caller: name,
      ...{ via, client, agent, profile, surface, since },
      calls: ended,
      in_flight: calls.get(name) ?? [],
      ...(name === scope?.caller && { self: true as const }),
    }));
  }
}
