import type {
  DaemonStatus,
  LocalFleet,
  LogEntry,
  LogParams,
  ReloadReport,
  ServerStatus,
  ShutdownReport,
} from '../fleet/fleet.js';
import type { Authorizations } from '../link/auth/authorizations.js';
import type { HerdView } from '../supervisor/herd/herd-view.js';
import { authorizing } from './authorize.js';

/** What a fleet has beside its servers. */
export interface FleetSource {
  daemon(): DaemonStatus;
  authorizations: Authorizations;
  reload(isDryRun?: boolean): Promise<ReloadReport>;
  logs(view: HerdView, params?: LogParams): Promise<LogEntry[]>;
  register(document: Record<string, unknown>, folder?: string): Promise<ServerStatus[]>;
  unregister(name: string): Promise<ServerStatus[]>;
  shutdown(graceMs?: number): Promise<ShutdownReport>;
}

/** The fleet of a view. */
export function createFleet(view: HerdView, source: FleetSource): LocalFleet {
  return {
    status: async (names) => ({ servers: view.status(names), daemon: source.daemon() }),
    start: (selection, wait) => view.order('start', selection, wait),
    stop: (selection, wait) => view.order('stop', selection, wait),
    restart: (selection, wait) => view.order('restart', selection, wait),
    reset: (selection, wait) => view.order('reset', selection, wait),
    tools: (...asked) => view.catalog.tools(...asked),
    prompts: (...asked) => view.catalog.prompts(...asked),
    resources: (...asked) => view.catalog.resources(...asked),
    prompt: (params, context) => view.requests.prompt(params, context),
    resource: (params, context) => view.requests.resource(params, context),
    request: (params, context) => view.requests.request(params, context),
    forward: (params, sink) => view.requests.forward(params, sink),
    watch: (params, listen) => view.watches.watch(params, listen),
    call: (params, context) => view.calls.call(params, context),
    callMany: (params, context) => view.calls.many(params, context),
    broadcast: (params, context) => view.calls.broadcast(params, context),
    inspect: async (server) => view.inspect(server),
    pins: async (params) => view.pins(params),
    ...authorizing(view, source.authorizations),
    reload: (isDryRun) => source.reload(isDryRun),
    logs: (params) => source.logs(view, params),
    register: (document, folder) => source.register(document, folder),
    unregister: (name) => source.unregister(name),
    subscribe: (topics, listen) => view.events.subscribe(topics, listen),
    shutdown: (graceMs) => source.shutdown(graceMs),
  };
}
