import type {
  CallContext,
  CallParams,
  Fleet,
  FleetEvent,
  FleetStatus,
  Inspection,
  ReloadReport,
  Selection,
  ServerStatus,
  ShutdownReport,
  ToolEntry,
  ToolResult,
} from './fleet.js';
import { Listeners } from './listeners.js';
import type { Peer } from './peer.js';

/** The herd of the daemon at the other end. Its answers are believed: it is the user's own. */
export function remoteFleet(peer: Peer): Fleet {
  const listeners = new Listeners(peer);

  const order = (verb: string) => async (selection: Selection, wait?: boolean) => {
    const answer = await peer.request(`fleet/${verb}`, { ...selection, wait });
    return (answer as { servers: ServerStatus[] }).servers;
  };

  return {
    status: (servers) => peer.request('fleet/status', { servers }) as Promise<FleetStatus>,
    start: order('start'),
    stop: order('stop'),
    restart: order('restart'),
    reset: order('reset'),
    async tools(server, refresh) {
      const answer = await peer.request('fleet/tools', { server, refresh });
      return (answer as { tools: ToolEntry[] }).tools;
    },
    async call(params, { signal, onProgress }: CallContext = {}) {
      if (signal?.aborted) return cancelledResult(params);
      const progress = onProgress && listeners.listenToProgress(onProgress);
      const _meta = progress && { progressToken: progress.token };
      try {
        return (await peer.request('fleet/call', { ...params, _meta }, { signal })) as ToolResult;
      } finally {
        progress?.end();
      }
    },
    inspect: (server) => peer.request('fleet/inspect', { server }) as Promise<Inspection>,
    reload: (dryRun) => peer.request('fleet/reload', { dry_run: dryRun }) as Promise<ReloadReport>,
    subscribe: (topics, listen: (event: FleetEvent) => void) => listeners.listenToEvents(topics, listen),
    shutdown: (graceMs) => peer.request('fleet/shutdown', { grace_ms: graceMs }) as Promise<ShutdownReport>,
  };
}

/** What the herd itself answers; the daemon need not hear of a call that was taken back before it was made. */
function cancelledResult({ server, tool, request_id }: CallParams): ToolResult {
  const message = `${server}.${tool}: cancelled before it was sent`;
  return {
    success: false,
    content: [],
    error: { type: 'CancelledError', message, retryable: false, sent: false },
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
