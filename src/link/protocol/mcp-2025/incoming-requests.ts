import type { RpcErrorObject } from '../../../shared/call-errors.js';
import { isObject, type JsonObject } from '../../../shared/json.js';
import { CODE } from '../../../shared/mcp/rpc-codes.js';
import type { Id } from '../../calls/message.js';
import { answerRequest, type RequestPorts } from '../server-requests.js';

/** More open requests than any sane server has. */
const MOST_OPEN = 100;

/**
 * Requests of a server that have no answer yet. Not left to the SDK's client: it cannot cancel the request with id 0 (the
 * first of every server built with the SDK), and puts a prefix in front of each error message.
 */
export class IncomingServerRequests {
  readonly #ports: RequestPorts;
  readonly #write: (line: string) => unknown;
  readonly #open = new Map<Id, AbortController>();
  #hasAskedForRoots = false;

  constructor(ports: RequestPorts, write: (line: string) => unknown) {
    this.#ports = ports;
    this.#write = write;
  }

  get hasAskedForRoots(): boolean {
    return this.#hasAskedForRoots;
  }

  /** True for a request, and for the cancellation of one. */
  receive(raw: JsonObject): boolean {
    const { id, method, params } = raw;
    if (method === 'notifications/cancelled') return this.#cancel(params);
    if (typeof method !== 'string' || method === 'ping' || !isId(id)) return false;
    if (method === 'roots/list') this.#hasAskedForRoots = true;
    void this.#answer(id, method, isObject(params) ? params : undefined);
    return true;
  }

  /** The link has ended: no answer can be delivered any more. */
  close(): void {
    for (const open of this.#open.values()) open.abort(new Error('the server is gone'));
    this.#open.clear();
  }

  async #answer(id: Id, method: string, params: JsonObject | undefined): Promise<void> {
    if (this.#open.has(id) || this.#open.size >= MOST_OPEN) {
      const why = this.#open.has(id) ? 'this id is in use' : `${MOST_OPEN} requests are open already`;
      const message = `toolherd does not answer ${method} for ${this.#ports.name}: ${why}`;
      this.#reply({ id, error: { code: CODE.invalidRequest, message } });
      return;
    }
    const open = new AbortController();
    this.#open.set(id, open);
    const reply = await answerRequest(this.#ports, method, params, open.signal).then(
      (result) => ({ id, result }),
      (error: unknown) => ({ id, error: toRpcError(error) }),
    );
    // a cancelled request gets no reply
    if (this.#open.get(id) !== open) return;
    this.#open.delete(id);
    this.#reply(reply);
  }

  #cancel(params: unknown): boolean {
    const id = isObject(params) ? params.requestId : undefined;
    const open = isId(id) ? this.#open.get(id) : undefined;
    if (open === undefined || !isId(id)) return false;
    this.#open.delete(id);
    open.abort(new Error('the server has cancelled its request'));
    return true;
  }

  #reply(reply: { id: Id; result: JsonObject } | { id: Id; error: RpcErrorObject }): void {
    let line: string;
    try {
      line = JSON.stringify({ jsonrpc: '2.0', ...reply });
    } catch {
      const error = { code: CODE.internal, message: 'the answer cannot be written as JSON' };
      line = JSON.stringify({ jsonrpc: '2.0', id: reply.id, error });
    }
    this.#write(line);
  }
}

/** An error of the agent is passed on unchanged. */
function toRpcError(error: unknown): RpcErrorObject {
  const { code, message, data } = isObject(error) ? error : {};
  return {
    code: Number.isInteger(code) ? Number(code) : CODE.internal,
    message: typeof message === 'string' ? message : String(error),
    ...(data === undefined ? {} : { data }),
  };
}

function isId(value: unknown): value is Id {
  return typeof value === 'string' || typeof value === 'number';
}
