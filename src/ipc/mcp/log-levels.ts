/** The levels of MCP, the least important first. */
export const LOG_LEVELS = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
] as const;

export type McpLogLevel = (typeof LOG_LEVELS)[number];

/** One that no version of the protocol knows counts as info. */
export function knownLevel(level: string): McpLogLevel {
  return LOG_LEVELS.find((known) => known === level) ?? 'info';
}

export function isAtLeast(level: McpLogLevel, least: McpLogLevel): boolean {
  return LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(least);
}
