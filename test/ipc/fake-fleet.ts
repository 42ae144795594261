import type {
  AuditPage,
  AuditParams,
  AuthorizeParams,
  BroadcastParams,
  CallContext,
  CallManyParams,
  CallParams,
  ConnectedAgent,
  FleetEvent,
  FleetHistory,
  ForwardHandle,
  ForwardSink,
  HistoryParams,
  LocalFleet,
  LogEntry,
  LogParams,
  ManyContext,
  McpResult,
  OutdatedReport,
  PinParams,
  PinReport,
  PromptParams,
  RequestParams,
  ResourceParams,
  SearchParams,
  Selection,
  ServerStatus,
  ToolResult,
  UpdateReport,
  ViewScope,
} from '../../src/fleet/fleet.js';
import { noCluster } from '../../src/fleet/fleet.js';
import { RpcError } from '../../src/ipc/jsonrpc/rpc-error.js';
import type { MCPError } from '../../src/shared/call-errors.js';
import { CODE } from '../../src/shared/mcp/rpc-codes.js';

export function status(name: string): ServerStatus {
  return {
    name,
    agent: null,
    state: 'created',
    detail: 'idle',
    transport: 'stdio',
    lifecycle: 'singleton',
    pids: [],
    incarnation: 0,
    restarts: 0,
    next_retry_at: null,
    last_error: null,
    since: '2026-01-01T00:00:00.000Z',
    in_flight: 0,
    calls: 0,
    failures: 0,
    latency_ms: { p50: null, p99: null },
    tools: 0,
    prompts: 0,
    resources: 0,
    protocol_version: null,
    server_info: null,
    rss_bytes: null,
  };
}

export function resultOf({ server, tool, request_id = '' }: CallParams, text: string): ToolResult {
  return {
    success: true,
    content: [{ type: 'text', text }],
    error: null,
    metadata: { server, tool, request_id, incarnation: 1, execution_time_ms: 1, is_error: false },
  };
}

export function stateEvent(server: string): FleetEvent {
  const at = '2026-01-01T00:00:00.000Z';
  return { topic: 'state', server, incarnation: 1, state: 'connected', detail: 'running', cause: 'test', at };
}

/** A fleet of two servers that only records its calls. */
export class FakeFleet implements LocalFleet {
  readonly heard: unknown[][] = [];
  readonly #listeners = new Set<(event: FleetEvent) => void>();
  /** What a call does; tests put their own here. */
  onCall: (params: CallParams, context: CallContext) => Promise<ToolResult> = async (params) =>
    resultOf(params, 'done');

  get listeners(): number {
    return this.#listeners.size;
  }

  tell(event: FleetEvent): void {
    for (const listen of this.#listeners) listen(event);
  }

  /** By way of `request`. */
  forward(params: RequestParams, sink: ForwardSink): ForwardHandle {
    const { caller, progress: onProgress, ask: onRequest } = sink;
    const controller = new AbortController();
    const context = { caller, onProgress, onRequest, signal: controller.signal };
    const request: LocalFleet['request'] = (...asked) => this.request(...(asked as [RequestParams]));
    request(params, context).then(
      (result) => sink.settle({ ok: true, result }),
      (error: MCPError) => sink.settle({ ok: false, error }),
    );
    return { cancel: (reason) => controller.abort(new Error(reason)) };
  }

  async watch(): Promise<() => void> {
    return Promise.reject(new RpcError(CODE.methodNotFound, 'resources cannot be subscribed to here'));
  }

  async keptText(): Promise<string | undefined> {
    return undefined;
  }

  instructions(): string | undefined {
    return undefined;
  }

  toolsTokens(): number {
    return 0;
  }

  prepareSearch(): void {}

  async status(servers?: readonly string[]) {
    this.heard.push(['status', servers]);
    const daemon = {
      version: '0',
      pid: 1,
      started_at: '2026-01-01T00:00:00.000Z',
      socket: '/s',
      config_file: '/c',
      config_error: null,
    };
    return { servers: (servers ?? ['a', 'b']).map(status), daemon };
  }

  async history(params: HistoryParams = {}): Promise<FleetHistory> {
    this.heard.push(['history', params]);
    const at = '2026-01-01T00:00:00.000Z';
    return { since: at, from: at, minute_ms: 60_000, servers: [] };
  }

  async agents(scope?: ViewScope): Promise<ConnectedAgent[]> {
    this.heard.push(['agents', scope]);
    return [];
  }

  async audit(params: AuditParams = {}, scope?: ViewScope): Promise<AuditPage> {
    this.heard.push(['audit', params, scope]);
    const searched = { from: null, records: 0, complete: true };
    return { calls: [], next: null, searched, slowest: [], failing: [] };
  }

  async callMany({ calls }: CallManyParams, { onResult, ...context }: ManyContext = {}) {
    this.heard.push(['callMany', calls.length, context.caller !== undefined]);
    const results = await Promise.all(calls.map((call) => this.onCall(call, context)));
    for (const [index, result] of results.entries()) onResult?.(index, result, results.length);
    return results;
  }

  async broadcast({ tool, servers = ['a', 'b'] }: BroadcastParams, context: ManyContext = {}) {
    return this.callMany({ calls: servers.map((server) => ({ server, tool })) }, context);
  }

  start = this.#order('start');
  stop = this.#order('stop');
  restart = this.#order('restart');
  reset = this.#order('reset');

  async tools(server?: string, refresh?: boolean) {
    this.heard.push(['tools', server, refresh]);
    const tool = { server: 'a', name: 't', exposed_name: 'a__t', description: null, input_schema: {} };
    return { tools: [tool], missing: [] };
  }

  async prompts(server?: string, refresh?: boolean) {
    this.heard.push(['prompts', server, refresh]);
    const prompt = { server: 'a', name: 'p', exposed_name: 'a__p', description: null, arguments: [] };
    return { prompts: [prompt], missing: [] };
  }

  async resources(server?: string, refresh?: boolean) {
    this.heard.push(['resources', server, refresh]);
    const resource = { server: 'a', name: 'r', description: null, mime_type: null };
    return {
      resources: [{ ...resource, uri: 'file:///r' }],
      templates: [{ ...resource, uri_template: 'file:///{r}' }],
      missing: [],
    };
  }

  async search(params: SearchParams) {
    this.heard.push(['search', params]);
    return { tools: [], missing: [], hints: ['nothing'] };
  }

  async profiles() {
    this.heard.push(['profiles']);
    return [];
  }

  async prompt(params: PromptParams) {
    this.heard.push(['prompt', params]);
    return { messages: [] };
  }

  async resource(params: ResourceParams) {
    this.heard.push(['resource', params]);
    return { contents: [] };
  }

  async request(params: RequestParams): Promise<McpResult> {
    this.heard.push(['request', params]);
    return { raw: true };
  }

  call(params: CallParams, context: CallContext = {}) {
    this.heard.push(['call', params]);
    return this.onCall(params, context);
  }

  async pins(params: PinParams = {}): Promise<PinReport> {
    this.heard.push(['pins', params]);
    return { policy: 'warn', servers: [], accepted: [] };
  }

  async inspect(server: string) {
    this.heard.push(['inspect', server]);
    return {
      server,
      status: status(server),
      spec: {},
      snapshot: { server: 'created', keeper: 'idle' },
      journal: [],
    };
  }

  async authorize({ server, wait }: AuthorizeParams) {
    this.heard.push(['authorize', server, wait]);
    return { server, state: 'authorized' as const, authorization_url: null };
  }

  async outdated(servers?: readonly string[]): Promise<OutdatedReport> {
    this.heard.push(['outdated', servers]);
    return { packages: [] };
  }

  async update(selection: Selection, dryRun?: boolean): Promise<UpdateReport> {
    this.heard.push(['update', selection, dryRun]);
    return { packages: [] };
  }

  async cluster() {
    this.heard.push(['cluster']);
    return noCluster();
  }

  async clusterDrain() {
    this.heard.push(['clusterDrain']);
    return noCluster();
  }

  async clusterUndrain() {
    this.heard.push(['clusterUndrain']);
    return noCluster();
  }

  async ui() {
    this.heard.push(['ui']);
    return { url: 'http://127.0.0.1:1/ui/open?key=k', expires_at: '2026-01-01T00:01:00.000Z' };
  }

  async logout(server: string) {
    this.heard.push(['logout', server]);
    return { server, forgotten: false };
  }

  async reload(dryRun?: boolean) {
    this.heard.push(['reload', dryRun]);
    return { added: ['x'], removed: [], changed: [], unchanged: ['a'] };
  }

  async logs(params?: LogParams): Promise<LogEntry[]> {
    this.heard.push(['logs', params ?? {}]);
    const time = '2026-01-01T00:00:00.000Z';
    return [{ time, level: 'info', server: 'a', source: 'stderr', text: 'hello' }];
  }

  async register(document: Record<string, unknown>, folder?: string) {
    this.heard.push(['register', document, folder]);
    return [status('new')];
  }

  async unregister(name: string) {
    this.heard.push(['unregister', name]);
    return [status(name)];
  }

  subscribe(topics: readonly FleetEvent['topic'][], listen: (event: FleetEvent) => void) {
    this.heard.push(['subscribe', topics]);
    const own = (event: FleetEvent) => listen(event);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  async shutdown(graceMs?: number) {
    this.heard.push(['shutdown', graceMs]);
    return { stopped: ['a'], killed: ['b'] };
  }

  #order(verb: string): LocalFleet['start'] {
    return async (selection, wait) => {
      this.heard.push([verb, selection, wait]);
      return ('servers' in selection ? selection.servers : ['a', 'b']).map(status);
    };
  }
}
