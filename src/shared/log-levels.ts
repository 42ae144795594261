/** Levels as the log knows them. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'fatal';

/** What a server's own levels are called in the log. */
const BY_MCP_LEVEL: Readonly<Record<string, LogLevel>> = {
  debug: 'debug',
  info: 'info',
  notice: 'info',
  warning: 'warn',
  error: 'error',
  critical: 'fatal',
  alert: 'fatal',
  emergency: 'fatal',
};

/** From which level on a server is asked to speak, for a log of this level. */
const WANTED = {
  trace: 'debug',
  debug: 'debug',
  info: 'info',
  warn: 'warning',
  error: 'error',
  fatal: 'critical',
  silent: 'emergency',
} as const;

export type McpLevel = (typeof WANTED)[keyof typeof WANTED];

/** A level that no version of the protocol knows counts as info. */
export function levelOf(mcpLevel: unknown): LogLevel {
  return typeof mcpLevel === 'string' && Object.hasOwn(BY_MCP_LEVEL, mcpLevel)
    ? BY_MCP_LEVEL[mcpLevel]!
    : 'info';
}

export function wantedLevel(level: keyof typeof WANTED): McpLevel {
  return WANTED[level];
}
