import type {
  AuthorizeReport,
  CallContext,
  CallParams,
  Fleet,
  FleetEvent,
  FleetStatus,
  Inspection,
  LogEntry,
  LogoutReport,
  ManyContext,
  McpResult,
  PinReport,
  PromptList,
  ReloadReport,
  ResourceLists,
  Selection,
  ServerStatus,
  ShutdownReport,
  ToolList,
  ToolResult,
} from '../../fleet/fleet.js';
import type { Peer } from '../jsonrpc/peer.js';
import { RemoteSubscriptions } from './remote-subscriptions.js';

/** The herd of the daemon at the other end. Its answers are believed: it is the user's own. */
export function remoteFleet(peer: Peer): Fleet {
  const listeners = new RemoteSubscriptions(peer);

  const order = (verb: string) => async (selection: Selection, wait?: boolean) => {
    const answer = await peer.request(`fleet/${verb}`, { ...selection, wait });
    return (answer as { servers: ServerStatus[] }).servers;
  };

  const ask = async (method: string, params: object, { signal, onProgress }: CallContext = {}) => {
    const progress = onProgress && listeners.listenToProgress(onProgress);
    const _meta = progress && { progressToken: progress.token };
    try {
      return await peer.request(method, { ...params, _meta }, { signal });
    } finally {
      progress?.end();
    }
  };

  const many = async (method: string, params: object, { signal, onResult }: ManyContext = {}) => {
    const onProgress =
      onResult &&
      ((told: Record<string, unknown>) =>
        onResult(told.index as number, told.result as ToolResult, told.total as number));
    const answer = await ask(method, params, { signal, onProgress });
    return (answer as { results: ToolResult[] }).results;
  };

  return {
    status: (servers) => peer.request('fleet/status', { servers }) as Promise<FleetStatus>,
    start: order('start'),
    stop: order('stop'),
    restart: order('restart'),
    reset: order('reset'),
    tools: (server, refresh) => peer.request('fleet/tools', { server, refresh }) as Promise<ToolList>,
    prompts: (server, refresh) => peer.request('fleet/prompts', { server, refresh }) as Promise<PromptList>,
    resources: (server, refresh) =>
      peer.request('fleet/resources', { server, refresh }) as Promise<ResourceLists>,
    prompt: (params, context) => ask('fleet/prompt', params, context) as Promise<McpResult>,
    resource: (params, context) => ask('fleet/resource', params, context) as Promise<McpResult>,
    request: (params, context) => ask('fleet/request', params, context) as Promise<McpResult>,
    async call(params, context = {}) {
      if (context.signal?.aborted) return cancelledResult(params);
      return (await ask('fleet/call', params, context)) as ToolResult;
    },
    async callMany(params, context = {}) {
      if (!context.signal?.aborted) return many('fleet/call_many', params, context);
      const results = params.calls.map(cancelledResult);
      for (const [index, result] of results.entries()) context.onResult?.(index, result, results.length);
      return results;
    },
    // whom it would have called, nobody has found out
    broadcast: async (params, context) =>
      context?.signal?.aborted ? [] : many('fleet/broadcast', params, context),
    inspect: (server) => peer.request('fleet/inspect', { server }) as Promise<Inspection>,
    pins: (params = {}) => peer.request('fleet/pins', params) as Promise<PinReport>,
    authorize: (params) => peer.request('fleet/authorize', params) as Promise<AuthorizeReport>,
    logout: (server) => peer.request('fleet/logout', { server }) as Promise<LogoutReport>,
    reload: (dryRun) => peer.request('fleet/reload', { dry_run: dryRun }) as Promise<ReloadReport>,
    async logs(params = {}) {
      const answer = await peer.request('fleet/logs', params);
      return (answer as { entries: LogEntry[] }).entries;
    },
    async register(document, folder) {
      const answer = await peer.request('fleet/register', { ...document, _meta: folder && { folder } });
      return (answer as { servers: ServerStatus[] }).servers;
    },
    async unregister(name) {
      const answer = await peer.request('fleet/unregister', { name });
      return (answer as { servers: ServerStatus[] }).servers;
    },
    subscribe: (topics, listen: (event: FleetEvent) => void) => listeners.listenToEvents(topics, listen),
    shutdown: (graceMs) => peer.request('fleet/shutdown', { grace_ms: graceMs }) as Promise<ShutdownReport>,
  };
}

/** What the herd itself answers; the daemon need not hear of a call that was taken back before it was made. */
function cancelledResult({ server, tool, request_id }: CallParams): ToolResult {
  const message = `${server}.${tool}: cancelled before it was sent`;
  const why = 'the call was not sent';
  const fix = 'call it again, if it is still wanted';
  return {
    success: false,
    content: [],
    error: { type: 'CancelledError', message, why, fix, retryable: false, sent: false },
    metadata: {
      server,
      tool,
      request_id: request_id ?? '',
      incarnation: null,
      execution_time_ms: 0,
      is_error: false,
    },
  };
}
