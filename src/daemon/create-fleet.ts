import { noCluster } from '../fleet/cluster.js';
import type {
  AuditPage,
  AuditParams,
  ClusterStatus,
  ConnectedAgent,
  DaemonStatus,
  Inspection,
  LocalFleet,
  LogEntry,
  LogParams,
  ReloadReport,
  ServerStatus,
  ShutdownReport,
  ViewScope,
} from '../fleet/fleet.js';
import type { UiLink } from '../fleet/orders.js';
import type { Authorizations } from '../link/auth/authorizations.js';
import { ToolherdError } from '../shared/errors.js';
import type { Surface } from '../shared/mcp/surface.js';
import type { HerdView } from '../supervisor/herd/herd-view.js';
import { authorizing } from './authorize.js';
import type { HerdPackages } from './herd-packages.js';

/** This daemon as a node of its cluster. */
export interface ClusterNodePort {
  status(): ClusterStatus;
  drain(): Promise<void>;
  undrain(): Promise<void>;
}

/** What a fleet asks of the runtime and not of its view. */
export interface FleetBackend {
  daemon(): DaemonStatus;
  /** `daemon.surface` of the present config. */
  surface(): Surface;
  /** Undefined scope: all. */
  agents(scope?: ViewScope): ConnectedAgent[];
  audit(params?: AuditParams, scope?: ViewScope): Promise<AuditPage>;
  authorizations: Authorizations;
  reload(isDryRun?: boolean): Promise<ReloadReport>;
  inspect(view: HerdView, server: string): Promise<Inspection>;
  logs(view: HerdView, params?: LogParams): Promise<LogEntry[]>;
  register(document: Record<string, unknown>, folder?: string): Promise<ServerStatus[]>;
  unregister(name: string): Promise<ServerStatus[]>;
  /** Undefined: this daemon is in no cluster. */
  cluster(): ClusterNodePort | undefined;
  /** Why the `cluster` of the config is not used. */
  clusterProblem(): { why: string; fix: string } | undefined;
  packages: Pick<HerdPackages, 'outdated' | 'update'>;
  keptText: LocalFleet['keptText'];
  shutdown(graceMs?: number): Promise<ShutdownReport>;
  ui(): Promise<UiLink>;
}

/**
 * The implementation of `LocalFleet`: each verb is carried out by the view or by the backend, and this table says by
 * which. Every other `Fleet` (of a connection, of a client of the socket, of a script) leads to one of these.
 */
export function createFleet(view: HerdView, backend: FleetBackend): LocalFleet {
  return {
    status: async (names) => {
      const { mode, aboveTokens } = view.surface(backend.surface());
      const surface = { mode, above_tokens: aboveTokens };
      return { servers: view.status(names), daemon: { ...backend.daemon(), surface } };
    },
    history: async (params) => view.history(params),
    agents: async (scope) => backend.agents(scope),
    audit: (params, scope) => backend.audit(params, scope),
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
    profiles: () => view.profiles(backend.surface()),
    pins: async (params) => view.pins(params),
    ...authorizing(view, backend.authorizations),
    outdated: (names) => backend.packages.outdated(view, names),
    update: (selection, isDryRun) => backend.packages.update(view, selection, isDryRun),
    reload: async (isDryRun) => {
      view.checkWhole('reload the config');
      return backend.reload(isDryRun);
    },
    logs: (params) => backend.logs(view, params),
    register: async (document, folder) => {
      view.checkWhole('register a server');
      return backend.register(document, folder);
    },
    unregister: async (name) => {
      view.checkWhole('unregister a server');
      return backend.unregister(name);
    },
    cluster: async () => {
      view.checkWhole('see the cluster');
      return backend.cluster()?.status() ?? noCluster(backend.clusterProblem());
    },
    clusterDrain: async () => {
      view.checkWhole('drain this node');
      const cluster = clusterOf(backend);
      await cluster.drain();
      return cluster.status();
    },
    clusterUndrain: async () => {
      view.checkWhole('end the draining of this node');
      const cluster = clusterOf(backend);
      await cluster.undrain();
      return cluster.status();
    },
    ui: async () => {
      view.checkWhole('open the page');
      return backend.ui();
    },
    keptText: (id, owner) => backend.keptText(id, owner),
    instructions: (params) => view.instructions(params),
    toolsTokens: (server) => view.toolsTokens(server),
    prepareSearch: () => view.search.prepare(),
    subscribe: (...subscription) => view.events.subscribe(...subscription),
    shutdown: async (graceMs) => {
      view.checkWhole('stop the daemon');
      return backend.shutdown(graceMs);
    },
  };
}

function clusterOf(backend: FleetBackend): ClusterNodePort {
  const cluster = backend.cluster();
  if (cluster !== undefined) return cluster;
  throw new ToolherdError('this daemon is in no cluster', {
    ...(backend.clusterProblem() ?? { fix: "add 'cluster:' to the config: see docs/CLUSTER.md" }),
  });
}
