import type { JsonObject } from '../../shared/json.js';
import type { Opened } from '../link.js';

/**
 * How one era of the protocol is spoken, over whatever carries its messages: the handshake, whether the server lives,
 * and whatever it sends that belongs to no call. Calls and lists are the session's.
 */
export interface ProtocolDriver {
  /** Resolves when the server has introduced itself; rejects with the reason why not. */
  open(): Promise<Opened>;
  /** A message that belongs to no call. False when it makes no sense. */
  receive(raw: JsonObject): boolean;
  /** Resolves when the server has answered, with whatever; rejects when it is silent or gone. */
  ping(timeoutMs: number): Promise<void>;
  /**
   * A request that it wrote itself got lost on its way, or its reply did. `status`: how HTTP answered it. False when it
   * waits for no such reply.
   */
  lose?(id: number, error: Error, status?: number): boolean;
  /** The link has come to its end: whatever is still waited for fails now. */
  close(): void;
}

/** What an upstream is given, whatever its era and whatever carries it. */
export interface ProtocolDriverPorts {
  /** The server's name, for messages. */
  name: string;
  clientInfo: { name: string; version: string };
  config: Readonly<Record<string, unknown>> | undefined;
  /** Writes one message. False when it was refused: not a byte of it will reach the server. */
  write(line: string): boolean;
}

/** Notifications that are about a request of the upstream's own, or of the server's: nobody else understands them. */
const ABOUT_REQUESTS = new Set(['notifications/cancelled', 'notifications/subscriptions/acknowledged']);

export function isForDriver(method: string): boolean {
  return ABOUT_REQUESTS.has(method);
}
