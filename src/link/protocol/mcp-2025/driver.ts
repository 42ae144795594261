import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { ResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { sleep } from '../../../shared/async.js';
import { MCPTimeoutError } from '../../../shared/call-errors.js';
import { type Clock, LONGEST_TIMER_MS } from '../../../shared/clock.js';
import { isObject, type JsonObject } from '../../../shared/json.js';
import type { McpLevel } from '../../../shared/mcp/log-levels.js';
import { seconds } from '../../../shared/text/seconds.js';
import type { Opened } from '../../link.js';
import { CONFIG_KEY, gone, type ProtocolDriver, type ProtocolDriverPorts } from '../protocol-driver.js';
import { clientCapabilities, type RequestPorts } from '../server-requests.js';
import { IncomingServerRequests } from './incoming-requests.js';
import { ClientTransport } from './transport.js';

export interface DriverOptions extends ProtocolDriverPorts {
  clock: Clock;
  /** For requests of the server. */
  requests: Omit<RequestPorts, 'name'>;
}

/** The SDK has its own timeouts. Ours decide, so those must never fire. */
const NEVER_MS = LONGEST_TIMER_MS;
const ROOTS_PING_MS = 1000;
const ROOTS_MOMENT_MS = 100;

/**
 * Protocol versions up to 2025-11-25, with the SDK's client: handshake and ping. Calls and lists bypass the client:
 * its `callTool` and `listTools` drop fields that they do not know.
 */
export class Mcp2025Driver implements ProtocolDriver {
  readonly #options: DriverOptions;
  readonly #client: Client;
  readonly #transport: ClientTransport;
  readonly #requests: IncomingServerRequests;
  /** Its capabilities have `logging`: it takes a level. */
  #takesLevel = false;
  #level: McpLevel | undefined;
  #closed = false;

  constructor(options: DriverOptions) {
    this.#options = options;
    const { name, config, clientInfo, requests } = options;
    const meta = config === undefined ? undefined : { [CONFIG_KEY]: config };
    const write = (line: string) => options.write(line);
    this.#transport = new ClientTransport(write, meta);
    this.#requests = new IncomingServerRequests({ name, ...requests }, write);
    this.#client = new Client(clientInfo, {
      capabilities: clientCapabilities(requests),
      // no list goes through the client, so nothing is validated; the default would build an Ajv for each server
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
    this.#takesLevel = isObject(capabilities.logging);
    this.renewLogLevel();
    await this.#settleRoots();
    return {
      protocolVersion: String(raw.protocolVersion),
      serverInfo: isObject(raw.serverInfo) ? raw.serverInfo : {},
      capabilities,
      instructions: typeof raw.instructions === 'string' ? raw.instructions : undefined,
    };
  }

  /** A message that belongs to no call. False where the SDK rejects it too. */
  receive(raw: JsonObject): boolean {
    return this.#requests.receive(raw) || this.#transport.receive(raw);
  }

  /** Resolves with any answer of the server; rejects when it is silent or gone. */
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
        throw new MCPTimeoutError(`${name}: no answer to ping in ${seconds(timeoutMs)}`);
      // an error is an answer too: the server does not know ping, but lives
    } finally {
      clock.clearTimeout(timer);
    }
  }

  /** The link has ended: everything the client waits for fails now. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#requests.close();
    this.#transport.onclose?.();
  }

  /**
   * Some servers request their roots right after `initialized` and refuse calls until they have read them. The answer to
   * a ping shows whether the server has asked; if it has, it gets a moment.
   */
  async #settleRoots(): Promise<void> {
    const { clock, requests } = this.#options;
    if (requests.roots === 'agent' || requests.roots.length === 0) return;
    await this.ping(ROOTS_PING_MS).catch(() => undefined);
    if (!this.#requests.hasAskedForRoots) return;
    await sleep(clock, ROOTS_MOMENT_MS);
    // on a busy machine the moment may be too short; another ping takes as long as the server needs
    await this.ping(ROOTS_PING_MS).catch(() => undefined);
  }

  /** The reply is ignored: a server that does not obey only logs more, or less. */
  renewLogLevel(): void {
    const level = this.#options.logLevel();
    if (!this.#takesLevel || this.#closed || level === undefined || level === this.#level) return;
    this.#level = level;
    const request = { method: 'logging/setLevel', params: { level } } as const;
    this.#client.request(request, ResultSchema, { timeout: NEVER_MS }).catch(() => undefined);
  }
}
