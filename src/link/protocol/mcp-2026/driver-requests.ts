import { MCPConnectionError, MCPProtocolError, type RpcError } from '../../../shared/call-errors.js';
import { isObject, type JsonObject } from '../../../shared/json.js';

/** Above the ids of the SDK's client, below those of calls: the three never meet. */
export const FIRST_DRIVER_ID = 2 ** 29;

export interface DriverRequest {
  id: number;
  /** Rejects with MCPProtocolError where the server refused, with whatever else where its reply cannot come. */
  reply: Promise<JsonObject>;
}

interface Waiting {
  method: string;
  resolve(result: JsonObject): void;
  reject(error: Error): void;
}

/** Requests that are no calls: nobody waits for them but this side itself, and no call can take their ids. */
export class DriverRequests {
  readonly #name: string;
  readonly #write: (line: string) => unknown;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = FIRST_DRIVER_ID;
  #closed = false;

  constructor(name: string, write: (line: string) => unknown) {
    this.#name = name;
    this.#write = write;
  }

  send(method: string, params: JsonObject): DriverRequest {
    const id = this.#nextId++;
    const reply = new Promise<JsonObject>((resolve, reject) => {
      if (this.#closed) reject(gone(this.#name));
      else this.#waiting.set(id, { method, resolve, reject });
    });
    // a line that cannot be written is no error here: whoever watches the process knows more of its end
    if (!this.#closed) this.#write(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    // whoever has stopped waiting for it must not fell the daemon
    reply.catch(() => undefined);
    return { id, reply };
  }

  /** True for a reply to one of these, also when nobody waits for it any more. */
  receive({ id, result, error, method }: JsonObject): boolean {
    if (method !== undefined || typeof id !== 'number' || id < FIRST_DRIVER_ID) return false;
    const waiting = this.#take(id);
    if (isObject(result)) waiting?.resolve(result);
    else waiting?.reject(this.#refused(waiting.method, error as RpcError));
    return true;
  }

  /** It got lost on its way, or its reply did. */
  lose(id: number, error: Error): boolean {
    const waiting = this.#take(id);
    waiting?.reject(error);
    return waiting !== undefined;
  }

  close(): void {
    this.#closed = true;
    for (const id of [...this.#waiting.keys()]) this.lose(id, gone(this.#name));
  }

  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    return waiting;
  }

  #refused(method: string, rpc: RpcError): MCPProtocolError {
    const message = `${this.#name}: ${method} was answered with error ${rpc.code}: ${rpc.message}`;
    return new MCPProtocolError(message, { sent: true, rpc });
  }
}

export function gone(name: string): MCPConnectionError {
  return new MCPConnectionError(`${name}: is gone`);
}
