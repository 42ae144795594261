import type { Fleet, FleetEvent, ManyContext, Order, Selection, ToolResult, Topic } from '../fleet/fleet.js';
import { toMetrics } from '../fleet/metrics.js';
import type {
  BroadcastOptions,
  EventOf,
  FleetHandle,
  ManyOptions,
  ManyResults,
  OrderOptions,
  ToolCall,
  Which,
} from './api.js';
import { manyResults } from './many-results.js';
import { OpenCalls } from './open-calls.js';
import { serverHandle } from './server-handle.js';
import { withText } from './tool-text.js';

/** The handle of scripts for any fleet. `end` runs when no call is open any more. */
export function fleetHandle(fleet: Fleet, end: () => Promise<void> | void): FleetHandle {
  const calls = new OpenCalls();
  const subscriptions = new Set<() => void>();
  let closing: Promise<void> | undefined;

  /** For requests without a signal. */
  const ask = <T>(work: () => Promise<T>): Promise<T> => calls.run(undefined, work);

  const order =
    (verb: Order) =>
    (which: Which, { wait = true }: OrderOptions = {}) =>
      ask(() => fleet[verb](selectionOf(which), wait));

  const many = (
    signal: AbortSignal | undefined,
    begin: (context: ManyContext) => Promise<ToolResult[]>,
  ): ManyResults =>
    manyResults((onResult, own) => calls.run(own, (running) => begin({ onResult, signal: running })), signal);

  const handle: FleetHandle = {
    status: (servers) => ask(() => fleet.status(servers)),
    history: (params) => ask(() => fleet.history(params)),
    agents: () => ask(() => fleet.agents()),
    audit: (params) => ask(() => fleet.audit(params)),
    call: (server, tool, args, { timeoutMs, requestId, signal, onProgress } = {}) =>
      calls.run(signal, async (own) => {
        const params = { server, tool, arguments: args, timeout_ms: timeoutMs, request_id: requestId };
        return withText(await fleet.call(params, { signal: own, onProgress }));
      }),
    callMany: (toolCalls, { timeoutMs, signal, ...options }: ManyOptions = {}) => {
      const params = { ...options, calls: toolCalls.map(toWire), timeout_ms: timeoutMs };
      return many(signal, (context) => fleet.callMany(params, context));
    },
    broadcast: (tool, args, { servers, timeoutMs, signal }: BroadcastOptions = {}) => {
      const params = { tool, arguments: args, servers: servers && [...servers], timeout_ms: timeoutMs };
      return many(signal, (context) => fleet.broadcast(params, context));
    },
    prompt: (server, name, args, { timeoutMs, signal, onProgress } = {}) =>
      calls.run(signal, (own) =>
        fleet.prompt({ server, name, arguments: args, timeout_ms: timeoutMs }, { signal: own, onProgress }),
      ),
    resource: (server, uri, { timeoutMs, signal, onProgress } = {}) =>
      calls.run(signal, (own) =>
        fleet.resource({ server, uri, timeout_ms: timeoutMs }, { signal: own, onProgress }),
      ),
    tools: (server, { refresh } = {}) => ask(async () => (await fleet.tools(server, refresh)).tools),
    prompts: (server, { refresh } = {}) => ask(async () => (await fleet.prompts(server, refresh)).prompts),
    resources: (server, { refresh } = {}) => ask(() => fleet.resources(server, refresh)),
    search: (query, options) => ask(() => fleet.search({ ...options, query })),
    profiles: () => ask(() => fleet.profiles()),
    server: (name) => serverHandle(handle, name),
    start: order('start'),
    stop: order('stop'),
    restart: order('restart'),
    reset: order('reset'),
    inspect: (server) => ask(() => fleet.inspect(server)),
    pins: (params) => ask(() => fleet.pins(params)),
    logs: (params) => ask(() => fleet.logs(params)),
    metrics: () => ask(async () => toMetrics(await fleet.status())),
    reload: ({ dryRun } = {}) => ask(() => fleet.reload(dryRun)),
    register: (document, folder) => ask(() => fleet.register(document, folder)),
    unregister: (name) => ask(() => fleet.unregister(name)),
    outdated: (servers) => ask(() => fleet.outdated(servers)),
    update: (which, { dryRun } = {}) => ask(() => fleet.update(selectionOf(which), dryRun)),
    authorize: (params) => ask(() => fleet.authorize(params)),
    logout: (server) => ask(() => fleet.logout(server)),
    cluster: () => ask(() => fleet.cluster()),
    clusterDrain: () => ask(() => fleet.clusterDrain()),
    clusterUndrain: () => ask(() => fleet.clusterUndrain()),
    ui: () => ask(() => fleet.ui()),
    on(topic, listener) {
      calls.check();
      const off = fleet.subscribe([topic], uncaught(topic, listener));
      subscriptions.add(off);
      return () => {
        if (subscriptions.delete(off)) off();
      };
    },
    close() {
      closing ??= (async () => {
        for (const off of subscriptions) off();
        subscriptions.clear();
        await calls.cancelAll();
        await end();
      })();
      return closing;
    },
    [Symbol.asyncDispose]: () => handle.close(),
  };
  return handle;
}

/** An exception of a listener becomes an uncaught exception, as with any event listener. */
function uncaught<T extends Topic>(topic: T, listener: (event: EventOf<T>) => void) {
  return (event: FleetEvent) => {
    if (event.topic !== topic) return;
    try {
      listener(event as EventOf<T>);
    } catch (error) {
      process.nextTick(() => {
        throw error;
      });
    }
  };
}

function selectionOf(which: Which): Selection {
  if (typeof which === 'string') return { servers: [which] };
  return 'all' in which ? which : { servers: [...which] };
}

function toWire({ timeoutMs, requestId, ...call }: ToolCall) {
  return { ...call, timeout_ms: timeoutMs, request_id: requestId };
}
