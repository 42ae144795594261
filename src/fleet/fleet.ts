import type { BroadcastParams, CallContext, CallManyParams, CallParams, ManyContext } from './calls.js';
import type { FleetEvent, LogEntry, LogParams } from './events.js';
import type { Patience, PromptList, ResourceLists, ToolList } from './lists.js';
import type {
  AuthorizeParams,
  AuthorizeReport,
  LogoutReport,
  ReloadReport,
  Selection,
  ShutdownReport,
} from './orders.js';
import type { PinParams, PinReport } from './pins.js';
import type {
  ForwardHandle,
  ForwardSink,
  McpResult,
  PromptParams,
  RequestParams,
  ResourceParams,
  WatchParams,
} from './requests.js';
import type { ToolResult } from './results.js';
import type { FleetStatus, Inspection, ServerStatus } from './status.js';

export type * from './calls.js';
export type * from './events.js';
export type * from './lists.js';
export type * from './orders.js';
export type * from './pins.js';
export * from './requests.js';
export type * from './results.js';
export type * from './status.js';

/**
 * The one interface of the herd. The daemon serves it on the socket, and a client of the socket offers it again:
 * whoever holds a Fleet cannot tell which. Names are those of the wire (docs/PROTOCOL.md).
 */
export interface Fleet {
  status(servers?: readonly string[]): Promise<FleetStatus>;
  start(selection: Selection, wait?: boolean): Promise<ServerStatus[]>;
  stop(selection: Selection, wait?: boolean): Promise<ServerStatus[]>;
  restart(selection: Selection, wait?: boolean): Promise<ServerStatus[]>;
  reset(selection: Selection, wait?: boolean): Promise<ServerStatus[]>;
  /**
   * What the herd offers, or one server. `patience`: by default a request that names a server, or has all of them asked
   * again, waits for starts; a list of the whole herd waits for `daemon.list_wait`.
   */
  tools(server?: string, refresh?: boolean, patience?: Patience): Promise<ToolList>;
  prompts(server?: string, refresh?: boolean, patience?: Patience): Promise<PromptList>;
  resources(server?: string, refresh?: boolean, patience?: Patience): Promise<ResourceLists>;
  /** Rejects with a typed error when it cannot be had. */
  prompt(params: PromptParams, context?: CallContext): Promise<McpResult>;
  resource(params: ResourceParams, context?: CallContext): Promise<McpResult>;
  /** One request of MCP. Rejects with a typed error; `rpc` is there where it is the server's own, unchanged. */
  request(params: RequestParams, context?: CallContext): Promise<McpResult>;
  call(params: CallParams, context?: CallContext): Promise<ToolResult>;
  /** The results in the order of the calls. */
  callMany(params: CallManyParams, context?: ManyContext): Promise<ToolResult[]>;
  /** One result for each server that has the tool, in the order of the config. */
  broadcast(params: BroadcastParams, context?: ManyContext): Promise<ToolResult[]>;
  inspect(server: string): Promise<Inspection>;
  /** What tools were when they were pinned, and where they are something else now. */
  pins(params?: PinParams): Promise<PinReport>;
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

/** The herd in this process. What it has beside `Fleet` does not go over the socket. */
export interface LocalFleet extends Fleet {
  /** `request` without a promise, for callers that make ten thousand a second. */
  forward(params: RequestParams, sink: ForwardSink): ForwardHandle;
  /**
   * Calls `listen` whenever a resource changes, with the params of the server's notification. Resolves with a function
   * that ends it; rejects with a typed error where no server would notify. Over the socket MCP's own
   * `resources/subscribe` does this.
   */
  watch(params: WatchParams, listen: (params: Record<string, unknown>) => void): Promise<() => void>;
}
