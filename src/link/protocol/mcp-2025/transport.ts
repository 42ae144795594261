import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type JSONRPCMessage, JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import { isObject, type JsonObject } from '../../../shared/json.js';

/**
 * What the SDK's client sees of a link: only messages with its own ids. Calls bypass it as raw lines. It neither starts
 * nor ends the process.
 */
export class ClientTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: <T extends JSONRPCMessage>(message: T) => void;
  readonly #write: (line: string) => unknown;
  readonly #meta: JsonObject | undefined;
  #initializeId: unknown;
  #initialized: JsonObject | undefined;

  /** `meta` is added to `initialize`; the client has no option for it. */
  constructor(write: (line: string) => unknown, meta: JsonObject | undefined) {
    this.#write = write;
    this.#meta = meta;
  }

  /** The reply to `initialize` as it came: the SDK's schemas drop what they do not know. */
  get initialized(): JsonObject | undefined {
    return this.#initialized;
  }

  async start(): Promise<void> {}

  async send(message: JSONRPCMessage): Promise<void> {
    let sent: JSONRPCMessage = message;
    if ('method' in message && message.method === 'initialize' && 'id' in message) {
      this.#initializeId = message.id;
      if (this.#meta !== undefined) sent = { ...message, params: { ...message.params, _meta: this.#meta } };
    }
    // a line that cannot be written is no error here: the link reports why the server ended
    this.#write(JSON.stringify(sent));
  }

  async close(): Promise<void> {}

  /** False where the SDK takes it for no JSON-RPC message. */
  receive(raw: JsonObject): boolean {
    const { data } = JSONRPCMessageSchema.safeParse(raw);
    if (data === undefined) return false;
    if (raw.id === this.#initializeId && isObject(raw.result)) this.#initialized ??= raw.result;
    this.onmessage?.(data);
    return true;
  }
}
