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
} from '../../../shared/mcp/mcp-names.js';
import { CODE, MCP_CODE } from '../../../shared/mcp/rpc-codes.js';
import { seconds } from '../../../shared/text/seconds.js';
import type { Envelope } from '../../calls/session.js';
import type { Opened, Unwatch } from '../../link.js';
import { CONFIG_KEY, gone, type ProtocolDriver, type ProtocolDriverPorts } from '../protocol-driver.js';
import { clientCapabilities, type Permissions, type RootSource } from '../server-requests.js';
import { DriverRequests } from './driver-requests.js';
import { CANCELLED } from './listen-request.js';
import { ListenRequests } from './listen-requests.js';

export interface Mcp2026Ports extends ProtocolDriverPorts {
  clock: Clock;
  roots: RootSource;
  permissions: Permissions;
  /** Adds this to the `_meta` of every call from now on. */
  useEnvelope(envelope: Envelope): void;
  /** Reports a change that the server may have made while no subscription was open. */
  notify(method: string, params?: JsonObject): void;
}

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
  /** `attended`: for requests of an agent that can answer questions; `unattended`: for all others. */
  #envelopes: { attended: JsonObject; unattended: JsonObject };
  #subscriptions: ListenRequests | undefined;
  #closed = false;

  constructor(ports: Mcp2026Ports) {
    this.#ports = ports;
    this.#requests = new DriverRequests(ports.name, (line) => ports.write(line));
    this.#envelopes = envelopesOf(ports);
  }

  /** Each request says the level. */
  renewLogLevel(): void {
    this.#envelopes = envelopesOf(this.#ports);
  }

  /** Rejects with MCPProtocolError where the server speaks another era. It gets no other request before `engage`. */
  async open(): Promise<Opened> {
    const discover = () => this.#send('server/discover').reply;
    const result = await discover().catch((error: unknown) => {
      if (offersOurVersion(error)) return discover();
      throw error;
    });
    return this.#readDiscovery(result);
  }

  /** The server speaks this era: calls get its envelope, and changes of lists are subscribed to. */
  engage({ capabilities }: Opened): void {
    const { name, clock, useEnvelope, notify } = this.#ports;
    useEnvelope(({ ask }) => (ask === undefined ? this.#envelopes.unattended : this.#envelopes.attended));
    const send = (method: string, params: JsonObject) => this.#send(method, params);
    const cancel = (id: number) => this.#cancel(id);
    this.#subscriptions = new ListenRequests({ name, clock, send, cancel, notify });
    this.#subscriptions.listenToLists(capabilities);
  }

  watch(uri: string): Promise<Unwatch> {
    return this.#subscriptions?.watch(uri) ?? Promise.reject(gone(this.#ports.name));
  }

  receive(raw: JsonObject): boolean {
    if (this.#requests.receive(raw) || this.#subscriptions?.receive(raw)) return true;
    if (raw.method === undefined) return false;
    if (raw.id !== undefined) this.#refuse(raw);
    return true;
  }

  lose(id: number, error: Error): boolean {
    return this.#requests.lose(id, error);
  }

  /** This era has no ping: a server that answers `server/discover` lives. */
  async ping(timeoutMs: number): Promise<void> {
    const { name, clock } = this.#ports;
    const { id, reply } = this.#send('server/discover');
    const silent = () =>
      this.#requests.lose(
        id,
        new MCPTimeoutError(`${name}: no answer to server/discover in ${seconds(timeoutMs)}`),
      );
    const timer = clock.setTimeout(silent, timeoutMs);
    try {
      await reply;
    } catch (error) {
      if (this.#closed) throw gone(name);
      // a refusal is an answer too
      if (!(error instanceof MCPProtocolError)) throw error;
    } finally {
      clock.clearTimeout(timer);
    }
  }

  close(): void {
    this.#closed = true;
    this.#subscriptions?.stop();
    this.#requests.close();
  }

  #send(method: string, params: JsonObject = {}) {
    return this.#requests.send(method, { ...params, _meta: this.#envelopes.unattended });
  }

  #cancel(id: number): void {
    if (this.#closed) return;
    this.#requests.lose(id, gone(this.#ports.name));
    this.#ports.write(JSON.stringify({ jsonrpc: '2.0', method: CANCELLED, params: { requestId: id } }));
  }

  /** Servers send no requests in this era. One that does gets an error, or it would wait for ever. */
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

/** A server that refuses our version and lists it as supported is asked once more, as the protocol says. */
function offersOurVersion(error: unknown): boolean {
  if (!(error instanceof MCPProtocolError) || error.rpc?.code !== MCP_CODE.unsupportedVersion) return false;
  const { data } = error.rpc;
  return isObject(data) && Array.isArray(data.supported) && data.supported.includes(MCP_2026_VERSION);
}

interface EnvelopeParts {
  clientInfo: { name: string; version: string };
  capabilities: JsonObject;
  /** The lowest level of log messages that the server may send; without it the server sends none. */
  logLevel: string | undefined;
  config: Readonly<Record<string, unknown>> | undefined;
}

function envelopesOf({ clientInfo, logLevel, config, roots, permissions }: Mcp2026Ports) {
  const none: Permissions = { sampling: 'deny', elicitation: 'deny' };
  const envelope = (allowed: Permissions) =>
    envelopeOf({
      ...{ clientInfo, logLevel: logLevel(), config },
      capabilities: clientCapabilities({ roots, permissions: allowed }),
    });
  return { attended: envelope(permissions), unattended: envelope(none) };
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
