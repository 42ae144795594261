import type { Fleet, LogEvent } from '../../fleet/fleet.js';
import { isMcpLevelAtLeast, knownMcpLevel, type McpLevel } from '../../shared/mcp/log-levels.js';

export interface LogMessagesOptions {
  fleet: Pick<Fleet, 'subscribe'>;
  /** Whether the client sees this server. */
  isShown(server: string): boolean;
  /** The client sees one server: its loggers keep their names. */
  isAlone(): boolean;
  /** The lowest level that is sent; undefined: nothing is sent. */
  level(): McpLevel | undefined;
  notify(message: Record<string, unknown>): void;
}

/** Listens for MCP log messages of servers. Returns a function that ends it. */
export function onLogMessages(options: LogMessagesOptions): () => void {
  const { fleet, isShown, isAlone, level: least, notify } = options;
  const onLog = ({ server, logger, message, data = message, mcp_level }: LogEvent) => {
    const from = least();
    // lines of stderr are only for the log files
    if (mcp_level === undefined || from === undefined) return;
    const level = knownMcpLevel(mcp_level);
    if (!isMcpLevelAtLeast(level, from)) return;
    const own = logger === null ? {} : { logger };
    const named = { logger: logger === null ? server : `${server}/${logger}` };
    notify({ level, ...(isAlone() ? own : named), data });
  };
  return fleet.subscribe(['log'], (event) => {
    if (event.topic === 'log' && isShown(event.server)) onLog(event);
  });
}
