import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import {
  ErrorCode,
  ListRootsRequestSchema,
  McpError,
  ResultSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { Root } from '../../config/spec.js';
import type { Clock } from '../clock.js';
import { MCPConnectionError, MCPTimeoutError } from '../errors.js';
import type { Opened } from '../link.js';
import { isObject, type JsonObject } from '../session/message.js';
import { ClientTransport } from './transport.js';

export interface DriverOptions {
  name: string;
  clock: Clock;
  clientInfo: { name: string; version: string };
  roots: readonly Root[];
  config: Readonly<Record<string, unknown>> | undefined;
  write(line: string): boolean;
}

/** The SDK counts with timers of its own; ours decide, so its own must never fire. */
const NEVER_MS = 2 ** 31 - 1;

/**
 * Protocol versions up to 2025-11-25 by the SDK's client: handshake, ping, and the server's own requests. Calls and
 * lists do not come through here: `callTool` and `listTools` drop what they do not know.
 */
export class LegacyDriver {
  readonly #options: DriverOptions;
  readonly #client: Client;
  readonly #transport: ClientTransport;
  #closed = false;

  constructor(options: DriverOptions) {
    this.#options = options;
    const { name, roots, config, clientInfo } = options;
    const meta = config === undefined ? undefined : { 'toolherd/config': config };
    this.#transport = new ClientTransport((line) => options.write(line), meta);
    this.#client = new Client(clientInfo, {
      capabilities: roots.length > 0 ? { roots: {} } : {},
      // no list goes through the client, so nothing is ever validated; the default builds an Ajv per server
      jsonSchemaValidator: {
        getValidator: () => () => ({ valid: false, data: undefined, errorMessage: 'unused' }),
      },
    });
    if (roots.length > 0) {
      this.#client.setRequestHandler(ListRootsRequestSchema, () => ({
        roots: roots.map((root) => ({ ...root })),
      }));
    }
    this.#client.fallbackRequestHandler = async ({ method }) => {
      throw new McpError(ErrorCode.MethodNotFound, `toolherd cannot answer ${method} for ${name}`);
    };
  }

  /** Resolves when the server has answered `initialize`; rejects with the reason why not. */
  async open(): Promise<Opened> {
    await this.#client.connect(this.#transport, { timeout: NEVER_MS });
    const raw = this.#transport.initialized ?? {};
    return {
      protocolVersion: String(raw.protocolVersion),
      serverInfo: isObject(raw.serverInfo) ? raw.serverInfo : {},
      capabilities: isObject(raw.capabilities) ? raw.capabilities : {},
      instructions: typeof raw.instructions === 'string' ? raw.instructions : undefined,
    };
  }

  /** A message that belongs to no call. False when it makes no sense to the SDK either. */
  receive(raw: JsonObject): boolean {
    return this.#transport.receive(raw);
  }

  /** Resolves when the server has answered, with whatever; rejects when it is silent or gone. */
  async ping(timeoutMs: number): Promise<void> {
    const { name, clock } = this.#options;
    if (this.#closed) throw gone(name);
    const silent = new AbortController();
    const timer = clock.setTimeout(() => silent.abort(), timeoutMs);
    try {
      await this.#client.request({ method: 'ping' }, ResultSchema, {
        signal: silent.signal,
        timeout: NEVER_MS,
      });
    } catch {
      if (this.#closed) throw gone(name);
      if (silent.signal.aborted)
        throw new MCPTimeoutError(`${name}: no answer to ping in ${timeoutMs / 1000} s`);
      // it does not know ping, but it lives
    } finally {
      clock.clearTimeout(timer);
    }
  }

  /** The link has come to its end: whatever the client still waits for fails now. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#transport.onclose?.();
  }
}

function gone(name: string): MCPConnectionError {
  return new MCPConnectionError(`${name}: is gone`);
}
