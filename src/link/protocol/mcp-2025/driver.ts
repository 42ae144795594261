import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { ResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { MCPConnectionError, MCPTimeoutError } from '../../../shared/call-errors.js';
import type { Clock } from '../../../shared/clock.js';
import { isObject, type JsonObject } from '../../../shared/json.js';
import type { McpLevel } from '../../../shared/log-levels.js';
import type { Opened } from '../../link.js';
import type { ProtocolDriver, ProtocolDriverPorts } from '../protocol-driver.js';
import { clientCapabilities, type RequestPorts } from '../server-requests.js';
import { IncomingServerRequests } from './incoming-requests.js';
import { ClientTransport } from './transport.js';

export interface DriverOptions extends ProtocolDriverPorts {
  clock: Clock;
  /** For what the server itself asks. */
  requests: Omit<RequestPorts, 'name'>;
  /** From which level on the server is to send log messages; undefined: as it likes. */
  logLevel?: McpLevel | undefined;
}

/** The SDK counts with timers of its own; ours decide, so its own must never fire. */
const NEVER_MS = 2 ** 31 - 1;
const ROOTS_PATIENCE_MS = 1000;
const ROOTS_MOMENT_MS = 100;

/**
 * Protocol versions up to 2025-11-25 by the SDK's client: handshake and ping. Calls and lists do not come through here:
 * `callTool` and `listTools` drop what they do not know.
 */
export class Mcp2025Driver implements ProtocolDriver {
  readonly #options: DriverOptions;
  readonly #client: Client;
  readonly #transport: ClientTransport;
  readonly #requests: IncomingServerRequests;
  #closed = false;

  constructor(options: DriverOptions) {
    this.#options = options;
    const { name, config, clientInfo, requests } = options;
    const meta = config === undefined ? undefined : { 'toolherd/config': config };
    const write = (line: string) => options.write(line);
    this.#transport = new ClientTransport(write, meta);
    this.#requests = new IncomingServerRequests({ name, ...requests }, write);
    this.#client = new Client(clientInfo, {
      capabilities: clientCapabilities(requests),
      // no list goes through the client, so nothing is ever validated; the default builds an Ajv per server
      jsonSchemaValidator: {
        getValidator: () => () => ({ valid: false, data: undefined, errorMessage: 'unused' }),
      },
    });
  }

  /** Resolves when the server has answered `initialize`; rejects with the reason why not. */
  async open(): Promise<Opened> {
    await this.#client.connect(this.#transport, { timeout: NEVER_MS });
    const raw = this.#transport.initialized ?? {};
    const capabilities = isObject(raw.capabilities) ? raw.capabilities : {};
    if (isObject(capabilities.logging)) this.#setLevel();
    await this.#settleRoots();
    return {
      protocolVersion: String(raw.protocolVersion),
      serverInfo: isObject(raw.serverInfo) ? raw.serverInfo : {},
      capabilities,
      instructions: typeof raw.instructions === 'string' ? raw.instructions : undefined,
    };
  }

  /** A message that belongs to no call. False when it makes no sense to the SDK either. */
  receive(raw: JsonObject): boolean {
    return this.#requests.receive(raw) || this.#transport.receive(raw);
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
    this.#requests.close();
    this.#transport.onclose?.();
  }

  /**
   * A server that is led by its roots asks for them as soon as it is greeted, and knows nothing until it has looked at
   * them: its first call would fail. Its answer to a ping tells whether it has asked; then it is given a moment.
   */
  async #settleRoots(): Promise<void> {
    const { clock, requests } = this.#options;
    if (requests.roots.length === 0) return;
    await this.ping(ROOTS_PATIENCE_MS).catch(() => undefined);
    if (!this.#requests.hasAskedForRoots) return;
    await new Promise<void>((resolve) => void clock.setTimeout(resolve, ROOTS_MOMENT_MS));
    // where the machine is busy a moment is nothing, and this takes as long as the server does
    await this.ping(ROOTS_PATIENCE_MS).catch(() => undefined);
  }

  /** Nobody waits for it: a server that does not obey says more, or less, and that is all. */
  #setLevel(): void {
    const { logLevel: level } = this.#options;
    if (level === undefined) return;
    const request = { method: 'logging/setLevel', params: { level } } as const;
    this.#client.request(request, ResultSchema, { timeout: NEVER_MS }).catch(() => undefined);
  }
}

function gone(name: string): MCPConnectionError {
  return new MCPConnectionError(`${name}: is gone`);
}
