import { type EndedCall, errorOf } from './call-event.js';

/** Of one server. A server names its tools, and could name a new one for each call. */
const MOST_TOOLS = 2_000;

/** How often a tool was called with success. */
export interface CalledTool {
  server: string;
  tool: string;
  count: number;
}

/** Which tools earlier daemons called, by their records. */
export type CalledBefore = () => Promise<readonly CalledTool[]>;

type Counts = Map<string, Map<string, number>>;

/**
 * How often each tool of the herd was called with success: a search prefers tools that are used. What earlier daemons
 * called is read before the first search, so that a daemon without searches does not read it.
 */
export class CallCounts {
  readonly #calledBefore: CalledBefore | undefined;
  /** By the key of the server in the herd. */
  readonly #counts: Counts = new Map();
  /** By the name of the server: a record has no key. */
  readonly #before: Counts = new Map();
  #recalling: Promise<void> | undefined;

  constructor(calledBefore?: CalledBefore) {
    this.#calledBefore = calledBefore;
  }

  add(key: string, { request, outcome }: EndedCall): void {
    const { method, params } = request;
    if (method !== 'tools/call' || typeof params?.name !== 'string' || errorOf(request, outcome) !== null)
      return;
    count(this.#counts, key, params.name, 1);
  }

  /** Resolves when the calls of earlier daemons are known. They are read once. */
  recall(): Promise<void> {
    this.#recalling ??= this.#recall();
    return this.#recalling;
  }

  /** `server`: the name of the server that has this key. */
  of(key: string, server: string, tool: string): number {
    return (this.#counts.get(key)?.get(tool) ?? 0) + (this.#before.get(server)?.get(tool) ?? 0);
  }

  forget(key: string): void {
    this.#counts.delete(key);
  }

  async #recall(): Promise<void> {
    const called = (await this.#calledBefore?.()) ?? [];
    for (const { server, tool, count: times } of called) count(this.#before, server, tool, times);
  }
}

function count(all: Counts, of: string, tool: string, times: number): void {
  const counts = all.get(of) ?? new Map<string, number>();
  all.set(of, counts);
  const known = counts.get(tool);
  if (known !== undefined || counts.size < MOST_TOOLS) counts.set(tool, (known ?? 0) + times);
}
