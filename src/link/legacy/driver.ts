import type { Clock } from '../clock.js';
import { MCPProtocolError, MCPTimeoutError } from '../errors.js';
import type { Opened } from '../link.js';
import type { McpLevel } from '../log-level.js';
import { gone, OwnRequests } from '../own-requests.js';
import { clientCapabilities, type RequestPorts } from '../requests.js';
import { isObject, type JsonObject } from '../session/message.js';
import type { Upstream, UpstreamPorts } from '../upstream.js';
import { LEGACY_VERSIONS, readGreeting } from './greeting.js';
import { ServerRequests } from './server-requests.js';

export interface DriverOptions extends UpstreamPorts {
  clock: Clock;
  /** For what the server itself asks. */
  requests: Omit<RequestPorts, 'name'>;
  /** From which level on the server is to send log messages; undefined: as it likes. */
  logLevel?: McpLevel | undefined;
}

const ROOTS_PATIENCE_MS = 1000;
const ROOTS_MOMENT_MS = 100;

/**
 * Protocol versions up to 2025-11-25: handshake and ping. That is three requests, and the SDK's client for them would be
 * a second parse of every message and most of the time in which the daemon starts. Calls and lists do not come through
 * here.
 */
export class LegacyDriver implements Upstream {
  readonly #options: DriverOptions;
  readonly #own: OwnRequests;
  readonly #requests: ServerRequests;
  #closed = false;

  constructor(options: DriverOptions) {
    this.#options = options;
    const { name, requests } = options;
    const write = (line: string) => options.write(line);
    this.#own = new OwnRequests(name, write, 0);
    this.#requests = new ServerRequests({ name, ...requests }, write);
  }

  /** Resolves when the server has answered `initialize`; rejects with the reason why not. */
  async open(): Promise<Opened> {
    const { config, clientInfo, requests, write } = this.#options;
    const opened = readGreeting(
      await this.#own.send('initialize', {
        protocolVersion: LEGACY_VERSIONS[0],
        capabilities: clientCapabilities(requests),
        clientInfo,
        ...(config !== undefined && { _meta: { 'toolherd/config': config } }),
      }).reply,
    );
    write(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }));
    if (isObject(opened.capabilities.logging)) this.#setLevel();
    await this.#settleRoots();
    return opened;
  }

  /** Whatever is a message is for us: a notification that nobody knows, a reply that nobody waits for any more. */
  receive(raw: JsonObject): boolean {
    if (!this.#requests.receive(raw)) this.#own.receive(raw);
    return true;
  }

  /** Resolves when the server has answered, with whatever; rejects when it is silent or gone. */
  async ping(timeoutMs: number): Promise<void> {
    const { name, clock } = this.#options;
    if (this.#closed) throw gone(name);
    const { reply } = this.#own.send('ping');
    let timer: unknown;
    const silence = new Promise<never>((_, reject) => {
      const message = `${name}: no answer to ping in ${timeoutMs / 1000} s`;
      timer = clock.setTimeout(() => reject(new MCPTimeoutError(message)), timeoutMs);
    });
    try {
      await Promise.race([reply, silence]);
    } catch (error) {
      // it does not know ping, but it lives
      if (!(error instanceof MCPProtocolError)) throw error;
    } finally {
      clock.clearTimeout(timer);
    }
  }

  /** The link has come to its end: whatever the client still waits for fails now. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#requests.close();
    this.#own.close();
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
    this.#own.send('logging/setLevel', { level });
  }
}
