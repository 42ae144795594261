/** The levels of our logs, the least important first. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** From which level on a log is written; `silent` writes nothing. */
export const LOG_THRESHOLDS = [...LOG_LEVELS, 'silent'] as const;

export type LogThreshold = (typeof LOG_THRESHOLDS)[number];

/** The levels of MCP with the level of our logs for each, the least important first. */
const FROM_MCP = {
  debug: 'debug',
  info: 'info',
  notice: 'info',
  warning: 'warn',
  error: 'error',
  critical: 'fatal',
  alert: 'fatal',
  emergency: 'fatal',
} as const satisfies Readonly<Record<string, LogLevel>>;

export type McpLevel = keyof typeof FROM_MCP;

export const MCP_LEVELS = Object.keys(FROM_MCP) as readonly McpLevel[];

/** The level of a message that a server logged. */
export type ServerLogLevel = (typeof FROM_MCP)[McpLevel];

/** From which level on a server is asked to log, for a log of this level. */
const TO_MCP = {
  trace: 'debug',
  debug: 'debug',
  info: 'info',
  warn: 'warning',
  error: 'error',
  fatal: 'critical',
  silent: 'emergency',
} as const satisfies Readonly<Record<LogThreshold, McpLevel>>;

/** A level that no version of the protocol has counts as info. */
export function knownMcpLevel(level: unknown): McpLevel {
  return MCP_LEVELS.find((known) => known === level) ?? 'info';
}

export function levelOf(mcpLevel: unknown): ServerLogLevel {
  return FROM_MCP[knownMcpLevel(mcpLevel)];
}

export function wantedLevel(level: LogThreshold): McpLevel {
  return TO_MCP[level];
}

export function isAtLeast(level: LogLevel, least: LogLevel): boolean {
  return LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(least);
}

export function isMcpLevelAtLeast(level: McpLevel, least: McpLevel): boolean {
  return MCP_LEVELS.indexOf(level) >= MCP_LEVELS.indexOf(least);
}

/** The level that lets through what any of them lets through; undefined where all are. */
export function lowestMcpLevel(levels: Iterable<McpLevel | undefined>): McpLevel | undefined {
  const wanted = new Set(levels);
  return MCP_LEVELS.find((level) => wanted.has(level));
}
