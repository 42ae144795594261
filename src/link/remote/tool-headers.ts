import { isObject, type JsonObject } from '../../shared/json.js';
import { headersFor, type ParamHeader, paramHeaders } from './param-headers.js';

/**
 * Knows from the lists of tools that pass by which arguments each tool wants as headers. A tool that wants it in a way
 * that the protocol forbids is taken out of its list: it must not be called.
 */
export class ToolHeaders {
  readonly #log: (text: string) => void;
  readonly #wanted = new Map<string, readonly ParamHeader[]>();
  /** Requests for a list of tools that were not answered yet. */
  readonly #lists = new Set<number>();

  constructor(log: (text: string) => void) {
    this.#log = log;
  }

  /** A request goes out. */
  asked(id: number, { method }: JsonObject): void {
    if (method === 'tools/list') this.#lists.add(id);
  }

  /** It will not be answered any more. */
  lost(id: number): void {
    this.#lists.delete(id);
  }

  /** What a request needs beside its body. */
  of({ method, params }: JsonObject): Record<string, string> {
    const name = method === 'tools/call' && isObject(params) ? params.name : undefined;
    const wanted = typeof name === 'string' ? this.#wanted.get(name) : undefined;
    return wanted === undefined || !isObject(params) ? {} : headersFor(wanted, params.arguments);
  }

  /** A result comes in; it goes on as what is returned. */
  heard<T extends { id: unknown; result: JsonObject }>(reply: T): T {
    if (typeof reply.id !== 'number' || !this.#lists.delete(reply.id)) return reply;
    const { tools } = reply.result;
    if (!Array.isArray(tools)) return reply;
    const kept = tools.filter((tool: unknown) => !isObject(tool) || this.#learn(tool));
    return { ...reply, result: { ...reply.result, tools: kept } };
  }

  #learn({ name, inputSchema }: JsonObject): boolean {
    const wanted = paramHeaders(inputSchema);
    if ('problem' in wanted) {
      this.#log(`tool '${name}' is left out: ${wanted.problem}`);
      return false;
    }
    if (wanted.length > 0) this.#wanted.set(String(name), wanted);
    else this.#wanted.delete(String(name));
    return true;
  }
}
