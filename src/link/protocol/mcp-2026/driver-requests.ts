import { MCPProtocolError, type RpcErrorObject } from '../../../shared/call-errors.js';
import { isObject, type JsonObject } from '../../../shared/json.js';
import { gone } from '../protocol-driver.js';

/** Above the ids of the SDK's client, below those of calls: the three ranges never overlap. */
export const FIRST_DRIVER_ID = 2 ** 29;

export interface DriverRequest {
  id: number;
  /** Rejects with MCPProtocolError where the server refused, with another error where no reply can come. */
  reply: Promise<JsonObject>;
}

interface Waiting {
  method: string;
  resolve(result: JsonObject): void;
  reject(error: Error): void;
}

/** Requests of the driver itself, with ids that no call can have. */
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
    // a line that cannot be written is no error here: the link reports why the server ended
    if (!this.#closed) this.#write(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    // a reply that no code waits for any more must not be an unhandled rejection
    reply.catch(() => undefined);
    return { id, reply };
  }

  /** True for a reply to one of these, also to one that was given up. */
  receive({ id, result, error, method }: JsonObject): boolean {
    if (method !== undefined || typeof id !== 'number' || id < FIRST_DRIVER_ID) return false;
    const waiting = this.#take(id);
    if (isObject(result)) waiting?.resolve(result);
    else waiting?.reject(this.#refused(waiting.method, error as RpcErrorObject));
    return true;
  }

  /** The request or its reply got lost. */
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

  #refused(method: string, rpc: RpcErrorObject): MCPProtocolError {
    const message = `${this.#name}: ${method} was answered with error ${rpc.code}: ${rpc.message}`;
    return new MCPProtocolError(message, { sent: true, rpc });
  }
}
