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
  [more: string]: unknown;
}

export type ContentBlock =
  | { type: 'text'; text: string }
  | { type: 'image' | 'audio'; data: string; mime_type: string }
  | { type: 'binary'; data: string | null; mime_type: string | null; uri: string | null; name?: string }
  | { type: 'unknown'; original_type: string; raw: unknown };

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

export type FleetEvent = StateEvent;

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
  call(params: CallParams, context?: CallContext): Promise<ToolResult>;
  inspect(server: string): Promise<Inspection>;
  reload(dryRun?: boolean): Promise<ReloadReport>;
  /** Tells of every later event of these topics; answers with the way to end it. */
  subscribe(topics: readonly FleetEvent['topic'][], listen: (event: FleetEvent) => void): () => void;
  shutdown(graceMs?: number): Promise<ShutdownReport>;
}
