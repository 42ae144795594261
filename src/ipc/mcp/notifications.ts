import type { FleetEvent, ListName, LocalFleet, LogEvent } from '../../fleet/fleet.js';
import type { Clock } from '../../shared/clock.js';
import { isMcpLevelAtLeast, knownMcpLevel, type McpLevel } from '../../shared/mcp/log-levels.js';
import type { Peer } from '../jsonrpc/peer.js';

export interface McpNotificationsOptions {
  readonly fleet: Pick<LocalFleet, 'subscribe'>;
  readonly peer: Pick<Peer, 'notify'>;
  readonly clock: Clock;
  /** Whether this connection sees the server. */
  isShown(server: string): boolean;
  /** Whether a change of this list changes what the client lists. */
  isFollowed(list: ListName): boolean;
  /** It sees one server only. */
  isAlone(): boolean;
}

/** The notifications to an MCP client: changed lists, and log messages of servers. */
export class McpNotifications {
  readonly #options: McpNotificationsOptions;
  #endLists: (() => void) | undefined;
  #endLog: (() => void) | undefined;

  constructor(options: McpNotificationsOptions) {
    this.#options = options;
  }

  beginLists(): void {
    const { fleet, clock, isShown, isFollowed, peer } = this.#options;
    const notify = (list: string) => peer.notify(`notifications/${list}/list_changed`);
    this.#endLists ??= onListChanges({ fleet, clock, isShown, isFollowed, notify });
  }

  /** Sends log messages from this level on. */
  beginLog(level: McpLevel): void {
    const { fleet, isShown, isAlone, peer } = this.#options;
    const notify = (message: Record<string, unknown>) => peer.notify('notifications/message', message);
    const endLast = this.#endLog;
    this.#endLog = onLogMessages({ fleet, isShown, isAlone, level, notify });
    endLast?.();
  }

  end(): void {
    this.#endLists?.();
    this.#endLog?.();
  }
}

export interface ListChangesOptions {
  fleet: Pick<LocalFleet, 'subscribe'>;
  clock: Clock;
  /** Whether the client sees this server. */
  isShown(server: string): boolean;
  /** Whether a change of this list changes what the client lists. */
  isFollowed(list: ListName): boolean;
  notify(list: ListName): void;
}

/** Changes within this time become one notification: a herd that starts changes its lists a dozen times. */
const QUIET_MS = 100;

/** Listens for changed lists. Returns a function that ends it. */
export function onListChanges(options: ListChangesOptions): () => void {
  const { fleet, clock, isShown, isFollowed, notify } = options;
  const changed = new Set<ListName>();
  let timer: unknown;
  const notifyAll = () => {
    const lists = [...changed];
    changed.clear();
    for (const list of lists) notify(list);
  };
  const end = fleet.subscribe(['catalog'], (event) => {
    if (event.topic !== 'catalog' || !isShown(event.server) || !isFollowed(event.list)) return;
    if (changed.size === 0) timer = clock.setTimeout(notifyAll, QUIET_MS);
    changed.add(event.list);
  });
  return () => {
    end();
    clock.clearTimeout(timer);
  };
}

export interface LogMessagesOptions {
  fleet: Pick<LocalFleet, 'subscribe'>;
  /** Whether the client sees this server. */
  isShown(server: string): boolean;
  /** The client sees one server: its loggers keep their names. */
  isAlone(): boolean;
  /** The lowest level that is sent, and that servers are asked for. */
  level: McpLevel;
  notify(message: Record<string, unknown>): void;
}

/** Listens for MCP log messages of servers. Returns a function that ends it. */
export function onLogMessages(options: LogMessagesOptions): () => void {
  const { fleet, isShown, isAlone, level: least, notify } = options;
  const onLog = ({ server, logger, message, data = message, mcp_level }: LogEvent) => {
    // lines of stderr are only for the log files
    if (mcp_level === undefined) return;
    const level = knownMcpLevel(mcp_level);
    if (!isMcpLevelAtLeast(level, least)) return;
    const own = logger === null ? {} : { logger };
    const named = { logger: logger === null ? server : `${server}/${logger}` };
    notify({ level, ...(isAlone() ? own : named), data });
  };
  const listen = (event: FleetEvent) => {
    if (event.topic === 'log' && isShown(event.server)) onLog(event);
  };
  return fleet.subscribe(['log'], listen, (server) => (isShown(server) ? least : undefined));
}
