import type { McpLevel } from '../shared/mcp/log-levels.js';
import type { Separator } from '../shared/mcp/separators.js';
import type { ConnectedAgent, ViewScope } from './agents.js';
import type { AuditPage, AuditParams } from './audit.js';
import type { BroadcastParams, CallContext, CallManyParams, CallParams, ManyContext } from './calls.js';
import type { ClusterStatus } from './cluster.js';
import type { FleetEvent, LogEntry, LogParams } from './events.js';
import type { FleetHistory, HistoryParams } from './history.js';
import type { InstructionsParams } from './instructions.js';
import type { Patience, PromptList, ResourceLists, ToolList } from './lists.js';
import type {
  AuthorizeParams,
  AuthorizeReport,
  LogoutReport,
  ReloadReport,
  Selection,
  ShutdownReport,
  UiLink,
} from './orders.js';
import type { OutdatedReport, UpdateReport } from './packages.js';
import type { PinParams, PinReport } from './pins.js';
import type { ProfileReport } from './profiles.js';
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
import type { SearchParams, SearchResult } from './search.js';
import type { FleetStatus, Inspection, ServerStatus } from './status.js';

export type * from './agents.js';
export type * from './audit.js';
export type * from './calls.js';
export * from './cluster.js';
export type * from './events.js';
export type * from './history.js';
export type * from './instructions.js';
export type * from './lists.js';
export type * from './orders.js';
export type * from './packages.js';
export type * from './pins.js';
export type * from './profiles.js';
export * from './requests.js';
export type * from './results.js';
export type * from './search.js';
export type * from './status.js';

/**
 * The one interface of the herd. The daemon serves it on the socket, and a client of the socket implements it again, so
 * callers need not know which one they have. Names are those of the wire (docs/PROTOCOL.md).
 */
export interface Fleet {
  status(servers?: readonly string[]): Promise<FleetStatus>;
  /** Calls, failures, restarts and memory by the minute, for 24 hours. */
  history(params?: HistoryParams): Promise<FleetHistory>;
  /** Who is connected, and what they call at this moment. */
  agents(): Promise<ConnectedAgent[]>;
  /** The calls in the audit file, the newest first. */
  audit(params?: AuditParams): Promise<AuditPage>;
  start(selection: Selection, wait?: boolean): Promise<ServerStatus[]>;
  stop(selection: Selection, wait?: boolean): Promise<ServerStatus[]>;
  restart(selection: Selection, wait?: boolean): Promise<ServerStatus[]>;
  reset(selection: Selection, wait?: boolean): Promise<ServerStatus[]>;
  /**
   * The tools of the herd, or of one server. `patience`: by default a request that names a server, or refreshes all of
   * them, waits for starts; a list of the whole herd waits for `daemon.list_wait`. `separator`: in public names; default:
   * that of the config. Over the socket `patience` is the default, and `fleet/hello` chooses the separator.
   */
  tools(server?: string, refresh?: boolean, patience?: Patience, separator?: Separator): Promise<ToolList>;
  prompts(
    server?: string,
    refresh?: boolean,
    patience?: Patience,
    separator?: Separator,
  ): Promise<PromptList>;
  resources(server?: string, refresh?: boolean, patience?: Patience): Promise<ResourceLists>;
  /** Finds tools by what they do. It waits as `tools` does for servers whose list is not known. */
  search(params: SearchParams, separator?: Separator): Promise<SearchResult>;
  /** Rejects with a typed error. */
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
  /** What each profile offers and costs. It waits as `tools` does for servers whose list is not known. */
  profiles(): Promise<ProfileReport[]>;
  /** Compares tools with their pinned definitions. */
  pins(params?: PinParams): Promise<PinReport>;
  /** Asks npm for the newest versions of the packages of npx entries; default: of every server of the view. */
  outdated(servers?: readonly string[]): Promise<OutdatedReport>;
  /** Installs the newest versions, and restarts the servers that run and have no call in flight. */
  update(selection: Selection, dryRun?: boolean): Promise<UpdateReport>;
  /** Begins the authorisation at a remote server that asks for one. */
  authorize(params: AuthorizeParams): Promise<AuthorizeReport>;
  /** Deletes the stored authorisation of a server. */
  logout(server: string): Promise<LogoutReport>;
  reload(dryRun?: boolean): Promise<ReloadReport>;
  /** The log lines of servers and our notes about them, the newest last. */
  logs(params?: LogParams): Promise<LogEntry[]>;
  /**
   * Adds a server to the global herd, until it is unregistered or the herd ends: an entry or a source document.
   * `folder`: what its paths are relative to; default: the folder of the global config.
   */
  register(document: Record<string, unknown>, folder?: string): Promise<ServerStatus[]>;
  /** Answers with its last status. */
  unregister(name: string): Promise<ServerStatus[]>;
  /** The cluster that this daemon is a node of: its nodes, and what they share. */
  cluster(): Promise<ClusterStatus>;
  /** Ends the work of this node for others: calls in flight end, new ones go to other nodes. */
  clusterDrain(): Promise<ClusterStatus>;
  /** Lets other nodes call this one again. */
  clusterUndrain(): Promise<ClusterStatus>;
  /** A link to the page of the daemon, for one browser and one minute. Opens the port of the page where it is closed. */
  ui(): Promise<UiLink>;
  /** Listens to later events of these topics; returns a function that ends it. */
  subscribe(topics: readonly FleetEvent['topic'][], listen: (event: FleetEvent) => void): () => void;
  shutdown(graceMs?: number): Promise<ShutdownReport>;
}

/** The lowest level of log messages that a subscriber wants of this server; undefined: none. */
export type LevelFor = (server: string) => McpLevel | undefined;

/** The herd in this process. The methods that `Fleet` does not have are not on the socket. */
export interface LocalFleet extends Fleet {
  /** `scope`: of the connection that asks; default: all. */
  agents(scope?: ViewScope): Promise<ConnectedAgent[]>;
  audit(params?: AuditParams, scope?: ViewScope): Promise<AuditPage>;
  /** `request` without a promise, for callers that make ten thousand a second. */
  forward(params: RequestParams, sink: ForwardSink): ForwardHandle;
  /** `levelFor`: servers are asked for log messages from this level on, for as long as the subscription lasts. */
  subscribe(
    topics: readonly FleetEvent['topic'][],
    listen: (event: FleetEvent) => void,
    levelFor?: LevelFor,
  ): () => void;
  /**
   * Calls `listen` whenever a resource changes, with the params of the server's notification. Resolves with a function
   * that ends it; rejects with a typed error where no server would notify. Over the socket MCP's own
   * `resources/subscribe` does this.
   */
  watch(params: WatchParams, listen: (params: Record<string, unknown>) => void): Promise<() => void>;
  /** The whole text of a result that was cut for this owner; undefined where there is none of this id, for this owner. */
  keptText(id: string, owner: string): Promise<string | undefined>;
  /** What servers say of their use, for the model; undefined where no server says anything. */
  instructions(params: InstructionsParams): string | undefined;
  /** About how many tokens the definitions of all tools have that are known now, or of one server's. */
  toolsTokens(server?: string): number;
  /** An agent will search: the index of tools is made in the background. */
  prepareSearch(): void;
}
