import type { Root } from '../../../config/schema/spec.js';
import { type MCPError, MCPProtocolError, MCPTimeoutError } from '../../../shared/call-errors.js';
import type { Clock } from '../../../shared/clock.js';
import { isObject, type JsonObject } from '../../../shared/json.js';
import {
  CLIENT_CAPABILITIES_KEY,
  CLIENT_INFO_KEY,
  LOG_LEVEL_KEY,
  MCP_2026_VERSION,
  PROTOCOL_VERSION_KEY,
  SERVER_INFO_KEY,
  UNSUPPORTED_VERSION,
} from '../../../shared/mcp-names.js';
import { CODE } from '../../../shared/rpc-codes.js';
import type { Opened, Unwatch } from '../../link.js';
import type { Envelope } from '../../session/session.js';
import type { ProtocolDriver, ProtocolDriverPorts } from '../protocol-driver.js';
import { clientCapabilities, type Permissions } from '../server-requests.js';
import { DriverRequests, gone } from './driver-requests.js';
import { CANCELLED } from './subscription.js';
import { Subscriptions } from './subscriptions.js';

export interface Mcp2026Ports extends ProtocolDriverPorts {
  clock: Clock;
  roots: readonly Root[];
  permissions: Permissions;
  logLevel: string | undefined;
  /** What every call says of itself from now on. */
  speak(envelope: Envelope): void;
  /** Something may have changed while nobody listened. */
  notify(method: string, params?: JsonObject): void;
}

const CONFIG_KEY = 'toolherd/config';

/**
 * Protocol 2026-07-28: no handshake and no session. `server/discover` describes the server, every request describes its
 * client, and `subscriptions/listen` reports changes.
 *
 * Written by hand: the v2 SDK's client would cost an import of 300 kB and a second parse of every message for these
 * requests and an envelope, and its `listTools` and `callTool` validate away what they do not know, as v1's do.
 */
export class Mcp2026Driver implements ProtocolDriver {
  readonly #ports: Mcp2026Ports;
  readonly #requests: DriverRequests;
  /** Of requests on whose behalf somebody can be asked, and of all others. */
  readonly #envelopes: { asked: JsonObject; unasked: JsonObject };
  #subscription: Subscriptions | undefined;
  #closed = false;

  constructor(ports: Mcp2026Ports) {
    this.#ports = ports;
    this.#requests = new DriverRequests(ports.name, (line) => ports.write(line));
    const { clientInfo, logLevel, config, roots, permissions } = ports;
    const nobody: Permissions = { sampling: 'deny', elicitation: 'deny' };
    const envelope = (allowed: Permissions) =>
      envelopeOf({
        ...{ clientInfo, logLevel, config },
        capabilities: clientCapabilities({ roots, permissions: allowed }),
      });
    this.#envelopes = { asked: envelope(permissions), unasked: envelope(nobody) };
  }

  /** Rejects with MCPProtocolError where the server is of another era. Nothing is spoken to it before `engage`. */
  async open(): Promise<Opened> {
    const discover = () => this.#send('server/discover').reply;
    const result = await discover().catch((error: unknown) => {
      if (isMistaken(error)) return discover();
      throw error;
    });
    return this.#readDiscovery(result);
  }

  /** This is how it is spoken to from now on. */
  engage({ capabilities }: Opened): void {
    const { asked, unasked } = this.#envelopes;
    const { name, clock, speak, notify } = this.#ports;
    speak(({ ask }) => (ask === undefined ? unasked : asked));
    const send = (method: string, params: JsonObject) => this.#send(method, params);
    const cancel = (id: number) => this.#cancel(id);
    this.#subscription = new Subscriptions({ name, clock, send, cancel, notify });
    this.#subscription.listenToLists(capabilities);
  }

  watch(uri: string): Promise<Unwatch> {
    return this.#subscription?.watch(uri) ?? Promise.reject(gone(this.#ports.name));
  }

  receive(raw: JsonObject): boolean {
    if (this.#requests.receive(raw) || this.#subscription?.receive(raw)) return true;
    if (raw.method === undefined) return false;
    if (raw.id !== undefined) this.#refuse(raw);
    return true;
  }

  lose(id: number, error: Error): boolean {
    return this.#requests.lose(id, error);
  }

  /** There is no ping in this era: whoever tells what it is, lives. */
  async ping(timeoutMs: number): Promise<void> {
    const { name, clock } = this.#ports;
    const { id, reply } = this.#send('server/discover');
    const silent = () =>
      this.#requests.lose(
        id,
        new MCPTimeoutError(`${name}: no answer to server/discover in ${timeoutMs / 1000} s`),
      );
    const timer = clock.setTimeout(silent, timeoutMs);
    try {
      await reply;
    } catch (error) {
      if (this.#closed) throw gone(name);
      // it refuses, but it lives
      if (!(error instanceof MCPProtocolError)) throw error;
    } finally {
      clock.clearTimeout(timer);
    }
  }

  close(): void {
    this.#closed = true;
    this.#subscription?.stop();
    this.#requests.close();
  }

  #send(method: string, params: JsonObject = {}) {
    return this.#requests.send(method, { ...params, _meta: this.#envelopes.unasked });
  }

  #cancel(id: number): void {
    if (this.#closed) return;
    this.#requests.lose(id, gone(this.#ports.name));
    this.#ports.write(JSON.stringify({ jsonrpc: '2.0', method: CANCELLED, params: { requestId: id } }));
  }

  /** Servers ask nothing on their own in this era; one that does is told so, or it would wait for ever. */
  #refuse({ id, method }: JsonObject): void {
    const message = `there are no requests from servers in ${MCP_2026_VERSION}: ${method}`;
    this.#ports.write(JSON.stringify({ jsonrpc: '2.0', id, error: { code: CODE.methodNotFound, message } }));
  }

  #readDiscovery(result: JsonObject): Opened {
    const { supportedVersions, capabilities, instructions, serverInfo: plain, _meta: meta } = result;
    if (!Array.isArray(supportedVersions) || !isObject(capabilities)) {
      throw this.#unusable('it does not say what the server is');
    }
    if (!supportedVersions.includes(MCP_2026_VERSION)) {
      throw this.#unusable(`the server speaks ${supportedVersions.join(', ')}`);
    }
    const serverInfo = (isObject(meta) ? meta[SERVER_INFO_KEY] : undefined) ?? plain;
    return {
      protocolVersion: MCP_2026_VERSION,
      serverInfo: isObject(serverInfo) ? serverInfo : {},
      capabilities,
      instructions: typeof instructions === 'string' ? instructions : undefined,
    };
  }

  #unusable(why: string): MCPError {
    return new MCPProtocolError(`${this.#ports.name}: the reply to server/discover is unusable: ${why}`);
  }
}

/** A server that refuses our version and offers it in the same breath is asked once more, as the protocol has it. */
function isMistaken(error: unknown): boolean {
  if (!(error instanceof MCPProtocolError) || error.rpc?.code !== UNSUPPORTED_VERSION) return false;
  const { data } = error.rpc;
  return isObject(data) && Array.isArray(data.supported) && data.supported.includes(MCP_2026_VERSION);
}

interface EnvelopeParts {
  clientInfo: { name: string; version: string };
  capabilities: JsonObject;
  /** From which level on the server may send log messages; without it it sends none. */
  logLevel: string | undefined;
  config: Readonly<Record<string, unknown>> | undefined;
}

/** The `_meta` of every request. */
function envelopeOf({ clientInfo, capabilities, logLevel, config }: EnvelopeParts): JsonObject {
  return {
    [PROTOCOL_VERSION_KEY]: MCP_2026_VERSION,
    [CLIENT_INFO_KEY]: clientInfo,
    [CLIENT_CAPABILITIES_KEY]: capabilities,
    ...(logLevel === undefined ? {} : { [LOG_LEVEL_KEY]: logLevel }),
    ...(config === undefined ? {} : { [CONFIG_KEY]: config }),
  };
}
