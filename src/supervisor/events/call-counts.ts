import { type EndedCall, errorOf } from './call-event.js';

/** Of one server. A server names its tools, and could name a new one for each call. */
const MOST_TOOLS = 2_000;

/** How often each tool of the herd was called with success since the daemon started: a search prefers tools that are used. */
export class CallCounts {
  readonly #byServer = new Map<string, Map<string, number>>();

  /** `key`: of the server in the herd. */
  add(key: string, { request, outcome }: EndedCall): void {
    const { method, params } = request;
    if (method !== 'tools/call' || typeof params?.name !== 'string' || errorOf(request, outcome) !== null)
      return;
    let counts = this.#byServer.get(key);
    if (counts === undefined) this.#byServer.set(key, (counts = new Map()));
    const count = counts.get(params.name);
    if (count !== undefined || counts.size < MOST_TOOLS) counts.set(params.name, (count ?? 0) + 1);
  }

  of(key: string, tool: string): number {
    return this.#byServer.get(key)?.get(tool) ?? 0;
  }

  forget(key: string): void {
    this.#byServer.delete(key);
  }
}
