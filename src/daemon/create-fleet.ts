import type {
  DaemonStatus,
  Inspection,
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
import type { HerdPackages } from './herd-packages.js';

/** What a fleet asks of the runtime and not of its view. */
export interface FleetBackend {
  daemon(): DaemonStatus;
  authorizations: Authorizations;
  reload(isDryRun?: boolean): Promise<ReloadReport>;
  inspect(view: HerdView, server: string): Promise<Inspection>;
  logs(view: HerdView, params?: LogParams): Promise<LogEntry[]>;
  register(document: Record<string, unknown>, folder?: string): Promise<ServerStatus[]>;
  unregister(name: string): Promise<ServerStatus[]>;
  packages: Pick<HerdPackages, 'outdated' | 'update'>;
  keptText: LocalFleet['keptText'];
  shutdown(graceMs?: number): Promise<ShutdownReport>;
}

/**
 * The implementation of `LocalFleet`: each verb is carried out by the view or by the backend, and this table says by
 * which. Every other `Fleet` (of a connection, of a client of the socket, of a script) leads to one of these.
 */
export function createFleet(view: HerdView, backend: FleetBackend): LocalFleet {
  return {
    status: async (names) => ({ servers: view.status(names), daemon: backend.daemon() }),
    start: (selection, wait) => view.order('start', selection, wait),
    stop: (selection, wait) => view.order('stop', selection, wait),
    restart: (selection, wait) => view.order('restart', selection, wait),
    reset: (selection, wait) => view.order('reset', selection, wait),
    tools: (...asked) => view.catalog.tools(...asked),
    prompts: (...asked) => view.catalog.prompts(...asked),
    resources: (...asked) => view.catalog.resources(...asked),
    search: (...asked) => view.search.search(...asked),
    prompt: (params, context) => view.requests.prompt(params, context),
    resource: (params, context) => view.requests.resource(params, context),
    request: (params, context) => view.requests.request(params, context),
    forward: view.requests.forward,
    watch: (params, listen) => view.watches.watch(params, listen),
    call: (params, context) => view.calls.call(params, context),
    callMany: (params, context) => view.calls.many(params, context),
    broadcast: (params, context) => view.calls.broadcast(params, context),
    inspect: (server) => backend.inspect(view, server),
    profiles: () => view.profiles(),
    pins: async (params) => view.pins(params),
    ...authorizing(view, backend.authorizations),
    outdated: (names) => backend.packages.outdated(view, names),
    update: (selection, isDryRun) => backend.packages.update(view, selection, isDryRun),
    reload: (isDryRun) => backend.reload(isDryRun),
    logs: (params) => backend.logs(view, params),
    register: async (document, folder) => {
      view.checkWhole('register a server');
      return backend.register(document, folder);
    },
    unregister: async (name) => {
      view.checkWhole('unregister a server');
      return backend.unregister(name);
    },
    keptText: (id, owner) => backend.keptText(id, owner),
    instructions: (params) => view.instructions(params),
    toolsTokens: (server) => view.toolsTokens(server),
    subscribe: (...subscription) => view.events.subscribe(...subscription),
    shutdown: async (graceMs) => {
      view.checkWhole('stop the daemon');
      return backend.shutdown(graceMs);
    },
  };
}
