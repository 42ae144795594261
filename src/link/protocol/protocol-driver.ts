import { MCPConnectionError } from '../../shared/call-errors.js';
import type { JsonObject } from '../../shared/json.js';
import type { McpLevel } from '../../shared/mcp/log-levels.js';
import { shellWord } from '../../shared/text/shell-word.js';
import type { Opened } from '../link.js';

/**
 * Speaks one era of the protocol over any transport: handshake, ping, and messages that belong to no call. Calls and
 * lists belong to the session.
 */
export interface ProtocolDriver {
  /** Resolves when the handshake is done; rejects with the reason why it failed. */
  open(): Promise<Opened>;
  /** A message that belongs to no call. False where it is invalid. */
  receive(raw: JsonObject): boolean;
  /** Resolves with any answer of the server; rejects when it is silent or gone. */
  ping(timeoutMs: number): Promise<void>;
  /**
   * A request of the driver, or its reply, got lost. `status`: of the HTTP response. False where it waits for no such
   * reply.
   */
  lose?(id: number, error: Error, status?: number): boolean;
  /** The level of log messages that the server should send may have changed. */
  renewLogLevel(): void;
  /** The link has ended: every request without a reply fails now. */
  close(): void;
}

/** What a driver of any era needs. */
export interface ProtocolDriverPorts {
  /** The server's name, for messages. */
  name: string;
  clientInfo: { name: string; version: string };
  config: Readonly<Record<string, unknown>> | undefined;
  /** The lowest level of log messages that the server should send; undefined: its own default. */
  logLevel(): McpLevel | undefined;
  /** Writes one message. False when it was refused: the server gets no byte of it. */
  write(line: string): boolean;
}

/** Notifications about requests of the driver or of the server: only the driver understands them. */
const ABOUT_REQUESTS = new Set(['notifications/cancelled', 'notifications/subscriptions/acknowledged']);

export function isForDriver(method: string): boolean {
  return ABOUT_REQUESTS.has(method);
}

/** In `_meta`: the `config` of the server's entry. */
export const CONFIG_KEY = 'toolherd/config';

/** The error of a driver's request whose server has ended. */
export function gone(name: string): MCPConnectionError {
  return new MCPConnectionError(`${name}: is gone`, {
    why: 'its process or its connection ended before it answered',
    fix: `see "toolherd why ${shellWord(name)}"`,
  });
}
