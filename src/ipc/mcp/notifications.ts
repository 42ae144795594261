import type { Fleet } from '../../fleet/fleet.js';
import type { Clock } from '../../shared/clock.js';
import type { McpLevel } from '../../shared/mcp/log-levels.js';
import type { Peer } from '../jsonrpc/peer.js';
import { onListChanges } from './list-changes.js';
import { onLogMessages } from './log-messages.js';

export interface McpNotificationsOptions {
  readonly fleet: Pick<Fleet, 'subscribe'>;
  readonly peer: Pick<Peer, 'notify'>;
  readonly clock: Clock;
  /** Whether this connection sees the server. */
  isShown(server: string): boolean;
  /** It sees one server only. */
  isAlone(): boolean;
}

/** The notifications to an MCP client: changed lists, and log messages of servers. */
export class McpNotifications {
  readonly #options: McpNotificationsOptions;
  #level: McpLevel | undefined;
  #endLists: (() => void) | undefined;
  #endLog: (() => void) | undefined;

  constructor(options: McpNotificationsOptions) {
    this.#options = options;
  }

  beginLists(): void {
    const { fleet, clock, isShown, peer } = this.#options;
    const notify = (list: string) => peer.notify(`notifications/${list}/list_changed`);
    this.#endLists ??= onListChanges({ fleet, clock, isShown, notify });
  }

  /** Sends log messages from this level on. */
  beginLog(level: McpLevel): void {
    this.#level = level;
    const { fleet, isShown, isAlone, peer } = this.#options;
    const notify = (message: Record<string, unknown>) => peer.notify('notifications/message', message);
    this.#endLog ??= onLogMessages({ fleet, isShown, isAlone, level: () => this.#level, notify });
  }

  end(): void {
    this.#endLists?.();
    this.#endLog?.();
  }
}
