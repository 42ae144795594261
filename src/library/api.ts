import type {
  AuthorizeParams,
  AuthorizeReport,
  FleetEvent,
  FleetStatus,
  Inspection,
  LogEntry,
  LogoutReport,
  LogParams,
  McpResult,
  PinParams,
  PinReport,
  PromptEntry,
  ReloadReport,
  ResourceLists,
  ServerStatus,
  ToolEntry,
} from '../fleet/fleet.js';
import type { TextResult } from '../fleet/tool-text.js';

/** What scripts hold: the herd, in this process or at the other end of the socket. They cannot tell which. */
export type Arguments = Record<string, unknown>;
export type Topic = FleetEvent['topic'];
export type EventOf<T extends Topic> = Extract<FleetEvent, { topic: T }>;

export interface CallOptions {
  /** Default: what the config of the server says. */
  timeoutMs?: number | undefined;
  /** Takes the call back, also at the server. */
  signal?: AbortSignal | undefined;
  /** Where it is given the server is asked for progress, and progress extends the timeout. */
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
  /** How many are under way at once; default: all of them. */
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

/** One of many results, when it came. */
export interface Arrival {
  /** Which call it belongs to. */
  index: number;
  result: TextResult;
}

/**
 * Awaited: all results, in the order of the calls. With `for await`: each as it comes. Who leaves such a loop wants no
 * more: what is still under way is cancelled.
 */
export type ManyResults = Promise<TextResult[]> & AsyncIterable<Arrival>;

/** Names of servers, one or many, or all of them. */
export type Which = string | readonly string[] | { all: true };

export interface OrderOptions {
  /** Whether to wait until it is known how it went; default true. */
  wait?: boolean | undefined;
}

export interface ListOptions {
  /** Starts a server that rests, instead of answering what it last offered. */
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
  /** Whatever goes wrong with the server is a result with `success: false`. */
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
  server(name: string): ServerHandle;
  start(which: Which, options?: OrderOptions): Promise<ServerStatus[]>;
  stop(which: Which, options?: OrderOptions): Promise<ServerStatus[]>;
  restart(which: Which, options?: OrderOptions): Promise<ServerStatus[]>;
  /** Forgets failures: quarantined servers try again. */
  reset(which: Which, options?: OrderOptions): Promise<ServerStatus[]>;
  /** Everything about one server: its spec without secrets, its state, its journal. */
  inspect(server: string): Promise<Inspection>;
  /** What tools were when they were pinned, where they are something else now; accepts that. */
  pins(params?: PinParams): Promise<PinReport>;
  logs(params?: LogParams): Promise<LogEntry[]>;
  /** The herd in the text format of Prometheus. */
  metrics(): Promise<string>;
  /** Reads the config again; only servers that it changes are touched. */
  reload(options?: { dryRun?: boolean | undefined }): Promise<ReloadReport>;
  /** Adds a server, by an entry or a source document, until it is unregistered or the herd ends. */
  register(document: Record<string, unknown>, folder?: string): Promise<ServerStatus[]>;
  unregister(name: string): Promise<ServerStatus[]>;
  /** Asks for an authorisation at a remote server that wants one. */
  authorize(params: AuthorizeParams): Promise<AuthorizeReport>;
  logout(server: string): Promise<LogoutReport>;
  /** Tells of every later event; answers with the way to end it. What the listener throws is uncaught. */
  on<T extends Topic>(topic: T, listener: (event: EventOf<T>) => void): () => void;
  /** Takes back what is in flight. A herd in this process is stopped, and nothing of it is left; a daemon goes on. */
  close(): Promise<void>;
}
