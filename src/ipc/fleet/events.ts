import type { Detail, ServerState } from './status.js';

/** A change worth telling: topic `state`. */
export interface StateEvent {
  topic: 'state';
  server: string;
  incarnation: number;
  state: ServerState;
  detail: Detail;
  /** What brought it there, in a sentence. */
  cause: string;
  /** ISO 8601. */
  at: string;
}

/** What a server offers is not what it was: topic `catalog`. Names are tools' and prompts' own, and resources' URIs. */
export interface CatalogEvent {
  topic: 'catalog';
  server: string;
  /** `resources`: these and their templates. */
  list: 'tools' | 'prompts' | 'resources';
  /** How many there are now. */
  count: number;
  added: string[];
  removed: string[];
  changed: string[];
  /** ISO 8601. */
  at: string;
}

/** A line of a server's log: topic `log`. */
export interface LogEvent {
  topic: 'log';
  server: string;
  incarnation: number;
  level: 'debug' | 'info' | 'warn' | 'error' | 'fatal';
  /** As the server names it; `stderr`, `stdout`: how else it came; `toolherd`: a note about it. */
  logger: string | null;
  /** Redacted, and cut where it is very long. */
  message: string;
  /** Of an MCP log message: its level there. */
  mcp_level?: string;
  /** Of an MCP log message whose data is no text: as it came, redacted. Absent where it is very long. */
  data?: unknown;
  /** ISO 8601. */
  at: string;
}

/** What a server said to nobody in particular, and what went wrong with it: topic `notification`. */
export interface NotificationEvent {
  topic: 'notification';
  server: string;
  incarnation: number;
  /** The server's own, or `toolherd/error` with `params` of `cause`, `message` and perhaps `fix`. */
  method: string;
  params: Record<string, unknown>;
  /** ISO 8601. */
  at: string;
}

/** A request to a server has ended: topic `call`. What was asked and answered is not in it. */
export interface CallEvent {
  topic: 'call';
  server: string;
  method: string;
  /** The tool's own name; null where it was no call of a tool. */
  tool: string | null;
  /** Who called: a name that no other connection has. */
  caller: string | null;
  duration_ms: number;
  ok: boolean;
  /** The type of the error, as in a tool result; null when it went well. */
  error: string | null;
  /** When it ended; ISO 8601. */
  at: string;
}

export type FleetEvent = StateEvent | CatalogEvent | LogEvent | NotificationEvent | CallEvent;
