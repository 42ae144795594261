export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;

/** One line of a server's log, as it was written down. */
export interface LogEntry {
  /** ISO 8601. */
  time: string;
  level: (typeof LOG_LEVELS)[number];
  /** Null: the daemon's own log. */
  server: string | null;
  /** How it came: `stderr`, `stdout`, `toolherd`, or as the server names it. */
  source: string | null;
  text: string;
}

export interface LogParams {
  /** Absent: of all servers that are seen. */
  server?: string | undefined;
  /** How many at most, the newest; default 100, never more than 1000. */
  tail?: number | undefined;
  /** Nothing older than this; ISO 8601. */
  since?: string | undefined;
  /** Nothing below this level. */
  level?: LogEntry['level'] | undefined;
}
