import type { Fleet } from '../../fleet/fleet.js';
import type { Clock } from '../../shared/clock.js';
import type { McpLevel } from '../../shared/log-levels.js';
import type { Peer } from '../jsonrpc/peer.js';
import { onListChanges } from './list-changes.js';
import { onLogMessages } from './log-messages.js';

export interface McpNotificationsOptions {
  readonly fleet: Pick<Fleet, 'subscribe'>;
  readonly peer: Pick<Peer, 'notify'>;
  readonly clock: Clock;
  /** Whose news this connection sees. */
  isShown(server: string): boolean;
  /** It sees one alone. */
  isAlone(): boolean;
}

/** What an MCP client is told without having asked: lists that changed, and what servers log. */
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

  /** From which level on log messages are wanted. */
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
