import type {
  AuditPage,
  AuditParams,
  AuthorizeParams,
  AuthorizeReport,
  ClusterStatus,
  ConnectedAgent,
  FleetEvent,
  FleetHistory,
  FleetStatus,
  HistoryParams,
  Inspection,
  LogEntry,
  LogoutReport,
  LogParams,
  McpResult,
  OutdatedReport,
  PinParams,
  PinReport,
  ProfileReport,
  PromptEntry,
  ReloadReport,
  ResourceLists,
  SearchParams,
  SearchResult,
  ServerStatus,
  ToolEntry,
  Topic,
  UiLink,
  UpdateReport,
} from '../fleet/fleet.js';
import type { TextResult } from './tool-text.js';

/** The API of scripts. It is the same for a herd in this process and for one at the other end of the socket. */
export type Arguments = Record<string, unknown>;
export type EventOf<T extends Topic> = Extract<FleetEvent, { topic: T }>;

export interface CallOptions {
  /** Default: what the config of the server says. */
  timeoutMs?: number | undefined;
  /** Cancels the call, also at the server. */
  signal?: AbortSignal | undefined;
  /** Asks the server for progress, which also extends the timeout. */
  onProgress?: ((progress: Record<string, unknown>) => void) | undefined;
}

export interface ToolCallOptions extends CallOptions {
  /** Comes back in the metadata of the result. */
  requestId?: string | undefined;
}

/** One of many calls. */
export interface ToolCall {
  server: string;
  tool: string;
  arguments?: Arguments | undefined;
  timeoutMs?: number | undefined;
  requestId?: string | undefined;
}

export interface ManyOptions {
  /** How many run at once; default: all of them. */
  concurrency?: number | undefined;
  /** `first`: one success is enough; `quorum`: as many as `quorum` says. The rest is cancelled. Default `all`. */
  mode?: 'all' | 'first' | 'quorum' | undefined;
  quorum?: number | undefined;
  /** For all of them together. */
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

export interface BroadcastOptions {
  /** Globs of names; default: all. */
  servers?: readonly string[] | undefined;
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** One of many results, when it arrives. */
export interface Arrival {
  /** Which call it belongs to. */
  index: number;
  result: TextResult;
}

/**
 * Awaited: all results, in the order of the calls. With `for await`: each result when it arrives. A script that leaves the
 * loop cancels the calls that are still running.
 */
export type ManyResults = Promise<TextResult[]> & AsyncIterable<Arrival>;

/** Names of servers, one or many, or all of them. */
export type Which = string | readonly string[] | { all: true };

export interface OrderOptions {
  /** Whether to wait for the outcome; default true. */
  wait?: boolean | undefined;
}

export interface ListOptions {
  /** Starts an idle server, instead of answering with its last list. */
  refresh?: boolean | undefined;
}

/** One server of the herd. */
export interface ServerHandle {
  readonly name: string;
  /** Starts it and waits. Rejects with a typed error when it does not come up. */
  connect(): Promise<ServerStatus>;
  /** Stops it and waits until it is gone. It stays stopped, also when called. */
  disconnect(): Promise<ServerStatus>;
  status(): Promise<ServerStatus>;
  callTool(tool: string, args?: Arguments, options?: ToolCallOptions): Promise<TextResult>;
  getPrompt(name: string, args?: Arguments, options?: CallOptions): Promise<McpResult>;
  readResource(uri: string, options?: CallOptions): Promise<McpResult>;
  listTools(options?: ListOptions): Promise<ToolEntry[]>;
  listPrompts(options?: ListOptions): Promise<PromptEntry[]>;
  listResources(options?: ListOptions): Promise<ResourceLists>;
}

export interface FleetHandle extends AsyncDisposable {
  /** The herd, or some servers of it. */
  status(servers?: readonly string[]): Promise<FleetStatus>;
  /** Calls, failures, restarts and memory of each server by the minute, for 24 hours. */
  history(params?: HistoryParams): Promise<FleetHistory>;
  /** Who is connected to the daemon, and what they call at this moment. A herd in this process has no connections. */
  agents(): Promise<ConnectedAgent[]>;
  /** The calls in the audit file, the newest first, with the slowest and the most failing tools. */
  audit(params?: AuditParams): Promise<AuditPage>;
  /** A failure of the server is a result with `success: false`. */
  call(server: string, tool: string, args?: Arguments, options?: ToolCallOptions): Promise<TextResult>;
  callMany(calls: readonly ToolCall[], options?: ManyOptions): ManyResults;
  /** The same call to every server that has this tool. */
  broadcast(tool: string, args?: Arguments, options?: BroadcastOptions): ManyResults;
  prompt(server: string, name: string, args?: Arguments, options?: CallOptions): Promise<McpResult>;
  resource(server: string, uri: string, options?: CallOptions): Promise<McpResult>;
  /**
   * A list of the herd waits at most `daemon.list_wait` for servers whose list is not known, one of a server for its
   * start. What is missing, and why, is in `status()` under `lists`.
   */
  tools(server?: string, options?: ListOptions): Promise<ToolEntry[]>;
  prompts(server?: string, options?: ListOptions): Promise<PromptEntry[]>;
  resources(server?: string, options?: ListOptions): Promise<ResourceLists>;
  /** Finds tools by what they do: the best first, or why there are none. */
  search(query: string, options?: Omit<SearchParams, 'query'>): Promise<SearchResult>;
  /** What each profile of the config offers and costs. */
  profiles(): Promise<ProfileReport[]>;
  server(name: string): ServerHandle;
  start(which: Which, options?: OrderOptions): Promise<ServerStatus[]>;
  stop(which: Which, options?: OrderOptions): Promise<ServerStatus[]>;
  restart(which: Which, options?: OrderOptions): Promise<ServerStatus[]>;
  /** Forgets failures: quarantined servers try again. */
  reset(which: Which, options?: OrderOptions): Promise<ServerStatus[]>;
  /** Everything about one server: its spec without secrets, its state, its journal. */
  inspect(server: string): Promise<Inspection>;
  /** Compares tools with their pinned definitions, and accepts changes. */
  pins(params?: PinParams): Promise<PinReport>;
  logs(params?: LogParams): Promise<LogEntry[]>;
  /** The herd in the text format of Prometheus. */
  metrics(): Promise<string>;
  /** Reads the config again; only servers that it changes are touched. */
  reload(options?: { dryRun?: boolean | undefined }): Promise<ReloadReport>;
  /** Adds a server, by an entry or a source document, until it is unregistered or the herd ends. */
  register(document: Record<string, unknown>, folder?: string): Promise<ServerStatus[]>;
  unregister(name: string): Promise<ServerStatus[]>;
  /** Asks npm for the newest versions of the packages of npx entries. */
  outdated(servers?: readonly string[]): Promise<OutdatedReport>;
  /** Installs the newest versions, and restarts the servers that run and have no call in flight. */
  update(which: Which, options?: { dryRun?: boolean | undefined }): Promise<UpdateReport>;
  /** Begins the authorisation at a remote server that asks for one. */
  authorize(params: AuthorizeParams): Promise<AuthorizeReport>;
  logout(server: string): Promise<LogoutReport>;
  /** The cluster that the daemon is a node of. `state` is `off` where the config has none. */
  cluster(): Promise<ClusterStatus>;
  /** Ends the work of this node for others: calls in flight end, new ones go to other nodes. */
  clusterDrain(): Promise<ClusterStatus>;
  clusterUndrain(): Promise<ClusterStatus>;
  /** A link to the page of the daemon, for one browser and one minute. */
  ui(): Promise<UiLink>;
  /** Listens to later events; returns a function that ends it. An exception of the listener is uncaught. */
  on<T extends Topic>(topic: T, listener: (event: EventOf<T>) => void): () => void;
  /** Cancels open calls. A herd in this process is stopped, and leaves nothing behind; a daemon keeps running. */
  close(): Promise<void>;
}
