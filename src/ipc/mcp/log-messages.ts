import type { Fleet, LogEvent } from '../../fleet/fleet.js';
import { isMcpLevelAtLeast, knownMcpLevel, type McpLevel } from '../../shared/log-levels.js';

export interface LogMessagesOptions {
  fleet: Pick<Fleet, 'subscribe'>;
  /** Whose messages are wanted. */
  isShown(server: string): boolean;
  /** One server is all there is to see: its loggers go by their own names. */
  isAlone(): boolean;
  /** From which level on; undefined: none. */
  level(): McpLevel | undefined;
  notify(message: Record<string, unknown>): void;
}

/** Listens for what servers say by MCP's log. Answers with the way to end it. */
export function onLogMessages(options: LogMessagesOptions): () => void {
  const { fleet, isShown, isAlone, level: least, notify } = options;
  const hear = ({ server, logger, message, data = message, mcp_level }: LogEvent) => {
    const from = least();
    // what came over stderr is for the log files
    if (mcp_level === undefined || from === undefined) return;
    const level = knownMcpLevel(mcp_level);
    if (!isMcpLevelAtLeast(level, from)) return;
    const own = logger === null ? {} : { logger };
    const named = { logger: logger === null ? server : `${server}/${logger}` };
    notify({ level, ...(isAlone() ? own : named), data });
  };
  return fleet.subscribe(['log'], (event) => {
    if (event.topic === 'log' && isShown(event.server)) hear(event);
  });
}
