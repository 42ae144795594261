import type { LogLevel, ServerLogLevel } from '../shared/mcp/log-levels.js';
import type { Caller } from './calls.js';
import type { Detail, ListName, ServerState } from './status.js';

/** A server changed its state: topic `state`. */
export interface StateEvent {
  topic: 'state';
  server: string;
  incarnation: number;
  state: ServerState;
  detail: Detail;
  /** The cause of the change, in a sentence. */
  cause: string;
  /** ISO 8601. */
  at: string;
}

/** A list of a server changed: topic `catalog`. Entries are the server's own names of tools and prompts, or URIs. */
export interface CatalogEvent {
  topic: 'catalog';
  server: string;
  /** `resources`: these and their templates. */
  list: ListName;
  /** How many there are now. */
  count: number;
  added: string[];
  removed: string[];
  changed: string[];
  /** Tools that differ from their pins, each once per change. Absent when there are none. */
  unaccepted?: string[];
  /** ISO 8601. */
  at: string;
}

/** A line of a server's log: topic `log`. */
export interface LogEvent {
  topic: 'log';
  server: string;
  incarnation: number;
  level: ServerLogLevel;
  /** The logger that the server names; `stderr`, `stdout`: a line of output; `toolherd`: a note about the server. */
  logger: string | null;
  /** Redacted, and cut where it is very long. */
  message: string;
  /** Of an MCP log message: its level there. */
  mcp_level?: string;
  /** Of an MCP log message whose data is no text: as it came, redacted. Absent where it is very long. */
  data?: unknown;
  /** The node of the cluster whose replica said it. Absent: this one. */
  node?: string;
  /** ISO 8601. */
  at: string;
}

/** A notification that belongs to no call, or an error of the server: topic `notification`. */
export interface NotificationEvent {
  topic: 'notification';
  server: string;
  incarnation: number;
  /** The server's own, or `toolherd/error` with `params` of `cause`, `message` and perhaps `fix`. */
  method: string;
  params: Record<string, unknown>;
  /** The node of the cluster whose replica sent it. Absent: this one. */
  node?: string;
  /** ISO 8601. */
  at: string;
}

/** Of arguments the names and types, never a value: `{path: 'string', tags: ['string']}`. `*`: names that may be data. */
export type Shape = string | Shape[] | { [name: string]: Shape };

/** A request to a server has ended, or was refused: topic `call`. The lines of the audit file are these events. */
export interface CallEvent {
  topic: 'call';
  /** As the caller named it where there is no such server; empty where it named none and none was found. */
  server: string;
  method: string;
  /** The tool's own name; null where it was no call of a tool. */
  tool: string | null;
  /** The name by which the caller called it. Only with a profile, where it is not the tool's own name. */
  called_as?: string | null;
  /** Of a tool or a prompt; null where there were none. */
  arguments: Shape | null;
  /** The name of the connection, which no other one of this daemon has. */
  caller: string | null;
  /** The process that keeps the herd. */
  daemon_pid: number;
  via: Caller['via'];
  client: Caller['client'];
  /** The agent's file; null: the global herd. */
  agent: string | null;
  /** Of the connection. Absent: none. */
  profile?: string | null;
  /** Of `fleet/call`; null for other requests. */
  request_id: string | null;
  /** The incarnation that got it; null: none. */
  incarnation: number | null;
  /** Whether the server may have seen it. */
  sent: boolean;
  duration_ms: number;
  ok: boolean;
  /** The type of the error, as in a tool result; null when it went well. */
  error: string | null;
  /** The code of the server's JSON-RPC error; null where it answered with none. */
  code: number | null;
  /** The size of the server's reply; null where there was none. */
  bytes: number | null;
  /** When it ended; ISO 8601. */
  at: string;
}

export type FleetEvent = StateEvent | CatalogEvent | LogEvent | NotificationEvent | CallEvent;

export type Topic = FleetEvent['topic'];

/** An event that is missing here does not compile. */
const EACH_TOPIC: Readonly<Record<Topic, true>> = {
  state: true,
  log: true,
  catalog: true,
  call: true,
  notification: true,
};

export const TOPICS = Object.keys(EACH_TOPIC) as readonly Topic[];

/** One line of a server's log. */
export interface LogEntry {
  /** ISO 8601. */
  time: string;
  level: LogLevel;
  /** Null: the daemon's own log. */
  server: string | null;
  /** `stderr`, `stdout`, `toolherd`, or the logger that the server names. */
  source: string | null;
  text: string;
  /** The node of the cluster that logged it. Absent: this one. */
  node?: string;
}

export interface LogParams {
  /** Absent: all servers of the view. */
  server?: string | undefined;
  /** How many at most, the newest; default 100, never more than 1000. */
  tail?: number | undefined;
  /** Nothing older than this; ISO 8601. */
  since?: string | undefined;
  /** Nothing below this level. */
  level?: LogEntry['level'] | undefined;
}

/** Why a daemon ends. `successor`: the pid of the daemon that takes its place. */
export type Closing = { reason: 'shutdown' } | { reason: 'replaced'; successor: number };

/** Sent to connections whose `fleet/hello` has `closing_notice`. */
export const CLOSING = 'fleet/closing';
