import type {
  CallContext,
  CallParams,
  Fleet,
  FleetEvent,
  ManyContext,
  ShutdownReport,
  ToolResult,
} from '../../fleet/fleet.js';
import type { Peer } from '../jsonrpc/peer.js';
import { type AnyVerb, fromVerbs } from '../verbs/verbs.js';
import { RemoteSubscriptions } from './remote-subscriptions.js';

/** The fleet of the daemon at the other end of a connection. Its answers are not checked: the daemon is the user's. */
export function remoteFleet(peer: Peer): Fleet {
  const subscriptions = new RemoteSubscriptions(peer);

  const ask = async ({ method, field }: AnyVerb, params: object, { signal, onProgress }: CallContext) => {
    const progress = onProgress && subscriptions.listenToProgress(onProgress);
    const _meta = progress && { progressToken: progress.token };
    try {
      const given = progress === undefined ? params : { ...params, _meta };
      const answer = await peer.request(method, given, { signal });
      return field === undefined ? answer : (answer as Record<string, unknown>)[field];
    } finally {
      progress?.end();
    }
  };

  const verbs = fromVerbs((verb) => (...args) => {
    const { context, toParams } = verb;
    if (context === undefined) return ask(verb, toParams(...args), {});
    const [params, given = {}] = args;
    return ask(
      verb,
      toParams(params),
      context === 'call' ? (given as CallContext) : toCallContext(given as ManyContext),
    );
  });

  return {
    ...verbs,
    async call(params, context = {}) {
      return context.signal?.aborted ? cancelledResult(params) : verbs.call(params, context);
    },
    async callMany(params, context = {}) {
      if (!context.signal?.aborted) return verbs.callMany(params, context);
      const results = params.calls.map(cancelledResult);
      for (const [index, result] of results.entries()) context.onResult?.(index, result, results.length);
      return results;
    },
    async broadcast(params, context = {}) {
      // which servers have the tool is not known here
      return context.signal?.aborted ? [] : verbs.broadcast(params, context);
    },
    subscribe: (topics, listen: (event: FleetEvent) => void) => subscriptions.listenToEvents(topics, listen),
    shutdown: (graceMs) => peer.request('fleet/shutdown', { grace_ms: graceMs }) as Promise<ShutdownReport>,
  };
}

/** Single results arrive as progress. */
function toCallContext({ signal, onResult }: ManyContext): CallContext {
  return {
    signal,
    onProgress:
      onResult &&
      (({ index, result, total }) => onResult(index as number, result as ToolResult, total as number)),
  };
}

/** The result of a call that was cancelled before it was sent to the daemon. */
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
