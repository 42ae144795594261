/**
 * The one interface of the herd. The daemon serves it on the socket, and a client of the socket offers it again:
 * whoever holds a Fleet cannot tell which. Names are those of the wire (docs/PROTOCOL.md).
 */
export type ServerState = 'created' | 'connecting' | 'connected' | 'error' | 'disconnected';

/** What the keeper is about, beside the state of the incarnation. */
export type Detail =
  | 'idle'
  | 'running'
  | 'waiting'
  | 'quarantined'
  | 'stopped'
  | 'disabled'
  | 'needs_auth'
  | 'not_allowed';

export interface WireError {
  type: string;
  message: string;
  why?: string | undefined;
  fix?: string | undefined;
  retryable: boolean;
  /** Whether the request had been written to the server: it may have run. */
  sent: boolean;
  /** The server's own JSON-RPC error, where that is what went wrong. */
  rpc?: { code: number; message: string; data?: unknown } | undefined;
  /** Of a config that is wrong: each problem with its place. */
  problems?: unknown;
  /** Of an agent's file that is not allowed: what it would run. */
  file?: unknown;
  would_run?: unknown;
}

export interface ServerStatus {
  name: string;
  agent: string | null;
  /** Of the newest incarnation; `created` if there was none. */
  state: ServerState;
  detail: Detail;
  transport: string;
  lifecycle: 'singleton' | 'transient';
  pids: number[];
  incarnation: number;
  /** Since the daemon started. */
  restarts: number;
  /** ISO 8601; null when there is no next try. */
  next_retry_at: string | null;
  last_error: { message: string; cause: string; fix?: string; at: string } | null;
  /** When it came into this state; ISO 8601. */
  since: string;
  in_flight: number;
  calls: number;
  failures: number;
  latency_ms: { p50: number | null; p99: number | null };
  tools: number;
  prompts: number;
  resources: number;
  protocol_version: string | null;
  server_info: Record<string, unknown> | null;
  /** Of the process groups; null where it cannot be told. */
  rss_bytes: number | null;
}

export interface DaemonStatus {
  version: string;
  pid: number;
  /** ISO 8601. */
  started_at: string;
  socket: string;
  config_file: string;
  /** The last problem with a changed config, which then was not applied. */
  config_error: string | null;
  /** HTTP on a port: where it is, or why it is not; null where the config asks for none. */
  http?: { url: string | null; error: string | null } | null;
}

export interface FleetStatus {
  servers: ServerStatus[];
  daemon: DaemonStatus;
}

export interface ToolEntry {
  server: string;
  name: string;
  exposed_name: string;
  description: string | null;
  input_schema: unknown;
  /** What is wrong with its definition. It is listed and can be called all the same. */
  problem?: string;
  /** True when this is what its server offered before the daemon began, and it has not run since. */
  cached?: boolean;
  [more: string]: unknown;
}

/** `problem` and `cached`: as those of a tool. */
export interface PromptEntry {
  server: string;
  name: string;
  exposed_name: string;
  description: string | null;
  /** As the server describes them: `name`, `description`, `required`. */
  arguments: unknown[];
  problem?: string;
  cached?: boolean;
  [more: string]: unknown;
}

export interface ResourceEntry {
  server: string;
  uri: string;
  name: string;
  description: string | null;
  mime_type: string | null;
  problem?: string;
  cached?: boolean;
  [more: string]: unknown;
}

/** Many resources at once: the names in braces are to be filled in. */
export interface TemplateEntry {
  server: string;
  uri_template: string;
  name: string;
  description: string | null;
  mime_type: string | null;
  problem?: string;
  cached?: boolean;
  [more: string]: unknown;
}

export interface ResourceLists {
  resources: ResourceEntry[];
  templates: TemplateEntry[];
}

export interface PromptParams {
  server: string;
  /** Its own name, or its exposed one. */
  name: string;
  arguments?: Record<string, unknown> | undefined;
  timeout_ms?: number | undefined;
}

export interface ResourceParams {
  server: string;
  uri: string;
  timeout_ms?: number | undefined;
}

/** The requests of MCP that go through to a server. */
export const REQUESTS = ['tools/call', 'prompts/get', 'resources/read', 'completion/complete'] as const;

export interface RequestParams {
  /** Absent: whoever has what is asked for, by its exposed name or its URI. */
  server?: string | undefined;
  method: (typeof REQUESTS)[number];
  /** As MCP has them; names are the server's own or exposed. */
  params: Record<string, unknown>;
  timeout_ms?: number | undefined;
}

export interface WatchParams {
  /** Absent: whoever has it. */
  server?: string | undefined;
  uri: string;
}

/** A result of MCP, as it came from the server. */
export type McpResult = Record<string, unknown>;

/** What a block holds beside its content, as it came. */
export interface BlockExtras {
  annotations?: unknown;
  /** Its `_meta`. */
  meta?: unknown;
  /** Every other field; `more.resource` has those of an embedded resource. */
  more?: Record<string, unknown>;
}

export type ContentBlock =
  | ({ type: 'text'; text: string } & BlockExtras)
  | ({ type: 'image' | 'audio'; data: string; mime_type: string } & BlockExtras)
  | ({
      type: 'binary';
      /** Base64, also of text; null for a link. */
      data: string | null;
      mime_type: string | null;
      uri: string | null;
      name?: string;
    } & BlockExtras)
  | { type: 'unknown'; original_type: string; raw: unknown };

/** Where `result_limit` was in the way. */
export interface Truncation {
  /** Characters of text that the tool gave, and how many of them are in `content`. */
  characters: number;
  given: number;
  /** The file that holds all of the text; null when it could not be written. */
  uri: string | null;
}

export interface ToolResult {
  success: boolean;
  content: ContentBlock[];
  error: WireError | null;
  metadata: {
    server: string;
    tool: string;
    request_id: string;
    incarnation: number | null;
    execution_time_ms: number;
    is_error: boolean;
    structured_content?: unknown;
    meta?: unknown;
    truncated?: Truncation;
  };
}

export interface CallParams {
  server: string;
  tool: string;
  arguments?: Record<string, unknown> | undefined;
  timeout_ms?: number | undefined;
  request_id?: string | undefined;
}

export interface CallContext {
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: Record<string, unknown>) => void) | undefined;
  /** Answers what the server asks for while it works on this call (sampling, elicitation). Absent: nobody can. */
  onRequest?: OnRequest | undefined;
  /** Told by `request`, in this process alone, which server was found to be meant. */
  onServer?: ((server: string) => void) | undefined;
  /** On whose behalf. Calls that do not say are taken for those of one caller. */
  caller?: string | undefined;
  /** Whoever asks only hands the result of MCP on, so that a large one may be a `RawJson`. */
  acceptsRaw?: boolean | undefined;
}

/** Resolves with the result, or rejects with the reason why not. The signal: the answer is not wanted any more. */
export type OnRequest = (
  method: string,
  params: Record<string, unknown> | undefined,
  signal: AbortSignal,
) => Promise<Record<string, unknown>>;

export interface CallManyParams {
  calls: CallParams[];
  /** How many are under way at once; default: all of them. */
  concurrency?: number | undefined;
  /** `first`: one success is enough; `quorum`: as many as `quorum` says. The rest is cancelled. Default `all`. */
  mode?: 'all' | 'first' | 'quorum' | undefined;
  quorum?: number | undefined;
  /** For all of them together. */
  timeout_ms?: number | undefined;
}

/** The same call to every server that has this tool. */
export interface BroadcastParams {
  tool: string;
  arguments?: Record<string, unknown> | undefined;
  /** Globs of names; default: all. */
  servers?: string[] | undefined;
  timeout_ms?: number | undefined;
}

export interface ManyContext {
  signal?: AbortSignal | undefined;
  caller?: string | undefined;
  /** Each result as it comes; `total`: of how many calls. */
  onResult?: ((index: number, result: ToolResult, total: number) => void) | undefined;
}

/** Which servers an order is for. */
export type Selection = { servers: string[] } | { all: true };

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

/** One line of a server's story. */
export interface JournalEntry {
  at: string;
  incarnation: number;
  /** `server`: the incarnation's statechart. `keeper`: the one above it. */
  chart: 'server' | 'keeper';
  from: string;
  to: string;
  /** What brought it there, in a sentence, redacted. */
  cause: string;
}

export interface Inspection {
  server: string;
  status: ServerStatus;
  /** As resolved, secrets taken out. */
  spec: Record<string, unknown>;
  /** The full state of both charts, e.g. `connected.serving` and `running.up`. */
  snapshot: { server: string; keeper: string };
  journal: JournalEntry[];
}

export interface AuthorizeParams {
  server: string;
  /** Answers when a person has authorised it, instead of where that is done. */
  wait?: boolean | undefined;
  /** A client that was registered by hand, or the https address of a client metadata document. */
  client_id?: string | undefined;
  client_secret?: string | undefined;
}

export interface AuthorizeReport {
  server: string;
  /** `authorized`: nothing is missing, as far as is known. */
  state: 'waiting' | 'authorized';
  /** What a person has to open; it leads back to the daemon. */
  authorization_url: string | null;
}

export interface LogoutReport {
  server: string;
  /** False when nothing was known. */
  forgotten: boolean;
}

export interface ShutdownReport {
  /** Servers that went by themselves. */
  stopped: string[];
  /** Servers that had to be killed. */
  killed: string[];
}

export interface ReloadReport {
  added: string[];
  removed: string[];
  changed: string[];
  unchanged: string[];
}

export interface Fleet {
  status(servers?: readonly string[]): Promise<FleetStatus>;
  start(selection: Selection, wait?: boolean): Promise<ServerStatus[]>;
  stop(selection: Selection, wait?: boolean): Promise<ServerStatus[]>;
  restart(selection: Selection, wait?: boolean): Promise<ServerStatus[]>;
  reset(selection: Selection, wait?: boolean): Promise<ServerStatus[]>;
  tools(server?: string, refresh?: boolean): Promise<ToolEntry[]>;
  prompts(server?: string, refresh?: boolean): Promise<PromptEntry[]>;
  resources(server?: string, refresh?: boolean): Promise<ResourceLists>;
  /** Rejects with a typed error when it cannot be had. */
  prompt(params: PromptParams, context?: CallContext): Promise<McpResult>;
  resource(params: ResourceParams, context?: CallContext): Promise<McpResult>;
  /** One request of MCP. Rejects with a typed error; `rpc` is there where it is the server's own, unchanged. */
  request(params: RequestParams, context?: CallContext): Promise<McpResult>;
  /**
   * Tells whenever a resource changes, in the words of its server (`uri`, and perhaps more). Resolves with the way to
   * end it; rejects with a typed error where nobody would tell. Absent at the other end of a socket: there MCP's own
   * `resources/subscribe` does it.
   */
  watch?(params: WatchParams, listen: (params: Record<string, unknown>) => void): Promise<() => void>;
  call(params: CallParams, context?: CallContext): Promise<ToolResult>;
  /** The results in the order of the calls. */
  callMany(params: CallManyParams, context?: ManyContext): Promise<ToolResult[]>;
  /** One result for each server that has the tool, in the order of the config. */
  broadcast(params: BroadcastParams, context?: ManyContext): Promise<ToolResult[]>;
  inspect(server: string): Promise<Inspection>;
  /** Asks for an authorisation at a remote server that wants one. */
  authorize(params: AuthorizeParams): Promise<AuthorizeReport>;
  /** Forgets everything that the authorisation of a server left here. */
  logout(server: string): Promise<LogoutReport>;
  reload(dryRun?: boolean): Promise<ReloadReport>;
  /** What servers wrote and what was noted about them, the newest last. */
  logs(params?: LogParams): Promise<LogEntry[]>;
  /**
   * Adds a server to the global herd, until it is unregistered or the herd ends: an entry or a source document.
   * `folder`: what its paths are relative to; default: the folder of the global config.
   */
  register(document: Record<string, unknown>, folder?: string): Promise<ServerStatus[]>;
  /** Answers with how it was when it went. */
  unregister(name: string): Promise<ServerStatus[]>;
  /** Tells of every later event of these topics; answers with the way to end it. */
  subscribe(topics: readonly FleetEvent['topic'][], listen: (event: FleetEvent) => void): () => void;
  shutdown(graceMs?: number): Promise<ShutdownReport>;
}
