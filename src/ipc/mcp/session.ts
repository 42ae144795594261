import type {
  CallContext,
  ListName,
  LocalFleet,
  McpResult,
  RequestParams,
  ResultCut,
} from '../../fleet/fleet.js';
import { type Clock, systemClock } from '../../shared/clock.js';
import { MCP_LEVELS } from '../../shared/mcp/log-levels.js';
import { RESOURCE_UPDATED } from '../../shared/mcp/mcp-names.js';
import { CODE } from '../../shared/mcp/rpc-codes.js';
import type { Separator } from '../../shared/mcp/separators.js';
import { DEFAULT_SURFACE, type Surface } from '../../shared/mcp/surface.js';
import type { RequestContext } from '../jsonrpc/incoming-request.js';
import type { Params } from '../jsonrpc/params.js';
import type { Peer } from '../jsonrpc/peer.js';
import { progressTo } from '../jsonrpc/progress.js';
import { untilCancelled } from '../jsonrpc/until-cancelled.js';
import { AgentSurface, type AgentSurfaceOptions } from './agent-surface.js';
import { askClient } from './client-questions.js';
import { ConnectionResourceWatches } from './connection-resource-watches.js';
import { toRpcError, toTypedError } from './failures.js';
import type { SuspendableCall } from './mcp-2026/suspendable-call.js';
import { McpNotifications } from './notifications.js';
import { McpReplySink } from './reply-sink.js';
import { CAPABILITIES, negotiate, SERVER_INFO } from './server-info.js';
import { SuspendedCalls } from './suspended-calls.js';

export interface McpSessionOptions {
  fleet: LocalFleet;
  peer: Peer;
  /** The name of the connection, which no other one has. */
  caller: string;
  /** Of a connection that serves one request: the turn that it shares with other requests of its client. */
  turn?: (() => string) | undefined;
  /** In the public names that the connection lists; default: that of the config. */
  separator?: () => Separator | undefined;
  /** What the tools look like to the agent. Default: as without a config. */
  surface?: () => Surface;
  /** Whose cut results are kept: the connection or the client, in its present view. Default: the connection. */
  owner?: () => string;
  /** See `AgentSurfaceOptions`. */
  searching?: AgentSurfaceOptions['searching'];
  /** Called with the name and version that the client gives. */
  introduce?: (client: unknown) => void;
  clock?: Clock;
  /** Holds suspended calls of a connection that serves one request. Default: they end with the connection. */
  suspended?: SuspendedCalls<SuspendableCall> | undefined;
}

/** One connection as an MCP client: its capabilities, its scope and its subscriptions. */
export class McpSession {
  readonly #options: McpSessionOptions;
  readonly #notifications: McpNotifications;
  readonly #resources: ConnectionResourceWatches;
  readonly clock: Clock;
  /** Its tools, as it lists and calls them. */
  readonly surface: AgentSurface;
  readonly suspended: SuspendedCalls<SuspendableCall>;
  readonly #keptCalls = new Set<SuspendableCall>();
  #onRequest: CallContext['onRequest'];
  #server: string | undefined;

  constructor(options: McpSessionOptions) {
    this.#options = options;
    const { fleet, peer, clock = systemClock, suspended } = options;
    this.clock = clock;
    this.suspended = suspended ?? new SuspendedCalls(clock);
    const { isShown, isAlone, isFollowed } = this;
    this.surface = new AgentSurface({
      fleet,
      surface: options.surface ?? (() => DEFAULT_SURFACE),
      server: () => this.#server,
      owner: options.owner ?? (() => options.caller),
      searching: options.searching,
    });
    this.#notifications = new McpNotifications({ fleet, peer, clock, isShown, isFollowed, isAlone });
    this.#resources = new ConnectionResourceWatches((update) => peer.notify(RESOURCE_UPDATED, update));
  }

  /** Whether this connection sees the server. */
  readonly isShown = (server: string) => this.#server === undefined || this.#server === server;

  /** Whether a change of this list changes what the client lists. */
  readonly isFollowed = (list: ListName) => list !== 'tools' || this.surface.followsTools;

  readonly isAlone = () => this.#server !== undefined;

  notify(method: string, params?: Record<string, unknown>): void {
    this.#options.peer.notify(method, params);
  }

  /** The name of the connection. */
  get caller(): string {
    return this.#options.caller;
  }

  get turn(): string | undefined {
    return this.#options.turn?.();
  }

  get separator(): Separator | undefined {
    return this.#options.separator?.();
  }

  get fleet(): LocalFleet {
    return this.#options.fleet;
  }

  /** The one server that the client sees, under its own names; undefined: the whole herd. */
  get server(): string | undefined {
    return this.#server;
  }

  show(server: string | undefined): void {
    this.#server = server;
  }

  /** Failed calls are answered with typed JSON-RPC errors, for a daemon; else with results, for a model. */
  hasTypedErrors = false;

  /** The error of a failed request, as this client reads it. */
  toRpcError(error: unknown): unknown {
    return this.hasTypedErrors ? toTypedError(error) : toRpcError(error);
  }

  /** The client gives its name and version. */
  introduce(client: unknown): void {
    this.#options.introduce?.(client);
  }

  /** May come again: a bridge repeats it to the next daemon. */
  initialize(params: Params): McpResult {
    this.#onRequest = askClient(this.#options.peer, params.optionalRecord('capabilities') ?? {});
    const instructions = this.surface.instructions();
    return {
      protocolVersion: negotiate(params.optionalText('protocolVersion')),
      capabilities: CAPABILITIES,
      serverInfo: SERVER_INFO,
      ...(instructions !== undefined && { instructions }),
    };
  }

  initialized(): void {
    this.#notifications.beginLists();
  }

  setLevel(params: Params): McpResult {
    this.#notifications.beginLog(params.choice('level', MCP_LEVELS));
    return {};
  }

  /** From now on the client gets a notification when this resource changes. */
  async subscribe(uri: string): Promise<McpResult> {
    try {
      await this.#resources.begin(this.fleet, uri, this.#server);
      return {};
    } catch (error) {
      throw this.toRpcError(error);
    }
  }

  unsubscribe(uri: string): McpResult {
    this.#resources.end(uri);
    return {};
  }

  /** Keeps a call that may outlive the connection. */
  keep(call: SuspendableCall): SuspendableCall {
    this.#keptCalls.add(call);
    void call.whenOver().then(() => this.#keptCalls.delete(call));
    return call;
  }

  /** The newest call with an open request whose client answers questions. */
  get attended(): SuspendableCall | undefined {
    return [...this.#keptCalls].findLast(({ isAttended }) => isAttended);
  }

  /** Resolves when no server works on a call of this connection. */
  async end(): Promise<void> {
    this.#notifications.end();
    this.#resources.endAll();
    if (this.#options.suspended === undefined) this.suspended.close();
    await Promise.all([...this.#keptCalls].map((call) => call.whenOver()));
  }

  /** Replies to a `tools/call` of this client. */
  replySink(params: Params, context: RequestContext, cut: ResultCut | undefined): McpReplySink {
    return new McpReplySink(
      context,
      this.caller,
      this.separator,
      progressTo(this.#options.peer, params, context),
      this.#onRequest,
      cut,
      this.hasTypedErrors,
    );
  }

  async request(
    method: RequestParams['method'],
    raw: unknown,
    params: Params,
    context: RequestContext,
  ): Promise<McpResult> {
    try {
      return await this.#send(method, raw, params, context);
    } catch (error) {
      throw this.toRpcError(error);
    }
  }

  /** Empty where the server completes nothing. */
  async complete(raw: unknown, params: Params, context: RequestContext): Promise<McpResult> {
    return emptyIfUnsupported(this.request('completion/complete', raw, params, context));
  }

  #send(
    method: RequestParams['method'],
    raw: unknown,
    params: Params,
    context: RequestContext,
  ): Promise<McpResult> {
    const { fleet } = this.#options;
    const request = { server: this.#server, method, params: recordOf(raw) };
    return untilCancelled(context.signal, fleet.request(request, this.#callContext(params, context)));
  }

  #callContext(params: Params, context: RequestContext): CallContext {
    const { caller, peer } = this.#options;
    return {
      caller,
      separator: this.separator,
      signal: context.signal,
      onProgress: progressTo(peer, params, context),
      onRequest: this.#onRequest,
      // results are passed on unread
      acceptsRaw: true,
    };
  }
}

/** The params of a request as they came. */
export function recordOf(raw: unknown): Record<string, unknown> {
  return (raw ?? {}) as Record<string, unknown>;
}

/** The result of `completion/complete`; an empty one where the server completes nothing. */
export async function emptyIfUnsupported(completing: Promise<McpResult>): Promise<McpResult> {
  try {
    return await completing;
  } catch (error) {
    if ((error as { code?: unknown }).code !== CODE.methodNotFound) throw error;
    return { completion: { values: [], total: 0, hasMore: false } };
  }
}
