import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { HerdSpec, ServerSpec, Settings, StdioSpec } from '../config/fields/spec.js';
import type { Loaded } from '../config/load.js';
import { EmbeddedVectors } from '../embeddings/embedded-vectors.js';
import type {
  AuditPage,
  AuditParams,
  DaemonStatus,
  Inspection,
  LogParams,
  ReloadReport,
  ShutdownReport,
  ViewScope,
} from '../fleet/fleet.js';
import type { UiLink } from '../fleet/orders.js';
import { openHerd } from '../herds/herd-link.js';
import type { Callers } from '../ipc/server/callers.js';
import type { FleetProvider } from '../ipc/server/fleet-provider.js';
import { findSocketPath } from '../ipc/socket/socket-path.js';
import { Authorizations } from '../link/auth/authorizations.js';
import type { Link, LinkEvents, LinkLog } from '../link/link.js';
import { type LinkDeps, openLink } from '../link/open-link.js';
import { EraCache, type EraMemory } from '../link/protocol/negotiation/era-cache.js';
import { withheldVariables } from '../link/stdio/environment.js';
import { AuditFile } from '../log/audit-file.js';
import { readCalledTools } from '../log/called-tools.js';
import { Logs } from '../log/logs.js';
import type { LaunchEvents } from '../packages/entry.js';
import { type Clock, dateOf, systemClock } from '../shared/clock.js';
import { ToolherdError } from '../shared/errors.js';
import { lowestMcpLevel, wantedLevel } from '../shared/mcp/log-levels.js';
import { VERSION } from '../shared/version.js';
import { CatalogFiles } from '../supervisor/catalog/catalog-store.js';
import { JournalFile } from '../supervisor/events/journal-file.js';
import { printedLevel } from '../supervisor/events/message-tap.js';
import { Herd } from '../supervisor/herd/herd.js';
import type { HerdView } from '../supervisor/herd/herd-view.js';
import { PinFiles } from '../supervisor/pins/pin-files.js';
import { ResultFiles } from '../supervisor/routing/result-files.js';
import { nameOfKey } from '../supervisor/server/server-pool.js';
import { identityOf } from '../supervisor/spec-identity.js';
import { AgentViews } from './agent-views.js';
import { restartAuthorized } from './authorize.js';
import { ClusterNodes, type ClusterNodesOptions } from './cluster/cluster-nodes.js';
import { ConfigReloader } from './config-reloader.js';
import type { ConfigSource } from './config-source.js';
import { createFleet, type FleetBackend } from './create-fleet.js';
import { HerdPackages } from './herd-packages.js';
import { onProcessExit } from './on-process-exit.js';
import { OtherHerds } from './other-herds.js';
import { openProcesses, type Processes } from './processes.js';
import { readAudit } from './read-audit.js';
import { readServerLogs } from './read-server-logs.js';
import { RuntimeServers } from './runtime-servers.js';
import { Secrets } from './secrets.js';

export interface HerdRuntimeOptions extends ConfigSource {
  loaded: Loaded;
  /** What `status` says of the process that keeps the herd. */
  identity: Pick<DaemonStatus, 'pid' | 'started_at' | 'closing' | 'socket' | 'http'>;
  /** The clients of its connections. */
  callers?: Pick<Callers, 'of' | 'count' | 'list'>;
  /** Called with the settings of a config that was reloaded. */
  onSettings?: (settings: Settings) => Promise<void>;
  /** Every line of the logs is also written here. */
  echo?: { write(text: string): void } | undefined;
  /** Makes a link to the page, which only a daemon has. */
  ui?: () => Promise<UiLink>;
  /** Serves connections of other nodes of the cluster. Absent: the herd is no node. */
  acceptNode?: ClusterNodesOptions['accept'];
  clock?: Clock;
}

const GRACE_MS = 10_000;
const SESSIONS: EraMemory = {
  recall: () => 'mcp2025',
  keep: () => undefined,
  presume: () => undefined,
  forget: () => undefined,
};

/**
 * A herd with everything that it needs: config, processes, logs, audit file, authorisations and views. The daemon keeps
 * one, and so does each `openFleet`. The parts refer to each other, so they reach one another through the fields here.
 */
export class HerdRuntime {
  readonly logs: Logs;
  /** Gives every connection its fleet. */
  readonly fleets: FleetProvider;
  readonly #options: HerdRuntimeOptions;
  readonly #source: ConfigSource;
  readonly #clock: Clock;
  readonly #secrets: Secrets;
  readonly #processes: Processes;
  readonly #eras: EraCache;
  readonly #audit: AuditFile;
  readonly #journals: JournalFile;
  readonly #resultFiles: ResultFiles;
  readonly #authorizations: Authorizations;
  readonly #packages: HerdPackages;
  readonly #herd: Herd;
  readonly #otherHerds: OtherHerds;
  readonly #cluster: ClusterNodes;
  readonly #runtimeServers: RuntimeServers;
  readonly #agentViews: AgentViews;
  readonly #reloader: ConfigReloader;
  readonly #forgetProcessExit: () => void;
  /** Of `search.embeddings`. */
  #vectors: EmbeddedVectors | undefined;
  /** Of the config that was applied last. */
  #settings: Settings;
  #configWarnings: ReadonlySet<string> = new Set();
  /** Why the `cluster` of the config is not used. */
  #clusterProblem: { why: string; fix: string } | undefined;
  #stopping: Promise<ShutdownReport> | undefined;
  #stopHistory = () => {};

  /** Kills what an earlier daemon left, then makes the herd. No server starts before `begin`. */
  static async open(options: HerdRuntimeOptions): Promise<HerdRuntime> {
    const secrets = new Secrets();
    // before the first line is logged
    secrets.learn(options.loaded.redactor);
    const logs = openLogs(options, secrets);
    const { paths, environment, clock = systemClock } = options;
    const processes = await openProcesses(paths.ledgerFile, clock, environment, (text) =>
      logs.daemon.warn(text),
    );
    return new HerdRuntime(options, secrets, logs, processes);
  }

  private constructor(options: HerdRuntimeOptions, secrets: Secrets, logs: Logs, processes: Processes) {
    const { paths, loaded, clock = systemClock } = options;
    this.#options = options;
    this.#source = { ...options, isRequired: options.isRequired || loaded.hasConfigFile };
    this.#clock = clock;
    this.#secrets = secrets;
    this.#processes = processes;
    this.#settings = loaded.settings;
    this.logs = logs;
    this.#eras = new EraCache(join(paths.cacheFolder, 'eras.json'), clock);
    this.#journals = new JournalFile(paths.journalFile, clock);
    this.#audit = new AuditFile({
      path: paths.auditFile,
      maxBytes: loaded.settings.daemon.logMaxBytes,
      warn: this.#warn,
    });
    this.#resultFiles = new ResultFiles({
      folder: join(paths.stateFolder, 'results'),
      now: () => dateOf(clock),
      log: this.#warn,
    });
    void this.#resultFiles.tidy();
    this.#authorizations = this.#createAuthorizations();
    this.#packages = this.#createPackages();
    this.#vectors = this.#createVectors();
    this.#otherHerds = this.#createOtherHerds();
    this.#cluster = this.#createCluster();
    this.#herd = this.#createHerd();
    this.#runtimeServers = this.#createRuntimeServers();
    this.#agentViews = this.#createAgentViews();
    this.#reloader = this.#createReloader();
    this.fleets = this.#createFleets();
    this.#forgetProcessExit = onProcessExit(() => this.#writeRecords());
    this.#warnOfWithheldVariables();
  }

  /** The servers of the config begin their lives. */
  begin(): void {
    const { servers, profiles, warnings } = this.#options.loaded;
    this.#configureCluster(servers);
    this.#warnOfMisconfigured(this.#herd.apply(servers));
    this.#herd.view.useProfiles(profiles);
    this.#warnOfConfig(warnings);
    this.#packages.begin();
    this.#stopHistory = this.#herd.recordHistory();
  }

  /** The config file has changed. An error is kept for `status`, and the herd stays as it was. */
  reload(): Promise<void> {
    return this.#reloader.reloadChanged();
  }

  shutdown(graceMs = GRACE_MS): Promise<ShutdownReport> {
    // other nodes call this one no more, and get the answers to the calls that it has
    if (this.#stopping === undefined) void this.#cluster.drain();
    this.#stopping ??= this.#herd.shutdown(graceMs, () => this.#processes.table.killAll());
    return this.#stopping;
  }

  /** Shuts the herd down, and closes its files and processes; `logs` stay open. */
  async close(): Promise<void> {
    this.#authorizations.close();
    this.#stopHistory();
    await this.shutdown();
    await this.#cluster.close();
    this.#agentViews.close();
    await this.#vectors?.close();
    this.#eras.close();
    await this.#packages.close();
    await this.#processes.close();
    this.#writeRecords();
    this.#forgetProcessExit();
  }

  readonly #warn = (text: string): void => this.logs.daemon.warn(text);

  #createAuthorizations(): Authorizations {
    const authorizations = new Authorizations({
      file: this.#options.paths.authFile,
      clock: this.#clock,
      log: this.#warn,
      granted: (spec) => restartAuthorized([this.#herd.view, ...this.#agentViews.views], spec),
    });
    this.#secrets.useTokens((text) => authorizations.redact(text));
    return authorizations;
  }

  #createPackages(): HerdPackages {
    return new HerdPackages({
      cacheFolder: this.#options.paths.cacheFolder,
      table: this.#processes.table,
      clock: this.#clock,
      environment: this.#options.environment,
      settings: () => this.#settings,
      specs: () => this.#herd.specs,
      redact: (spec, text) => this.#secrets.redactLineOf(spec, text),
      log: (server, text) => this.logs.server(server).warn({ source: 'toolherd' }, text),
    });
  }

  #createVectors(): EmbeddedVectors | undefined {
    const { embeddings: service } = this.#settings.search;
    const folder = join(this.#options.paths.cacheFolder, 'embeddings');
    return service && new EmbeddedVectors({ service, folder, clock: this.#clock, warn: this.#warn });
  }

  #createOtherHerds(): OtherHerds {
    return new OtherHerds({
      clock: this.#clock,
      changed: () => this.#otherServersChanged(),
      opened: (names) => {
        // reads the lists again, and keeps the connection to each server open for its notifications
        for (const name of names) this.#herd.view.catalog.tools(name, true).catch(() => undefined);
      },
      emit: (event) => this.#herd.emitState(event),
    });
  }

  /** Another herd, or the cluster, has other servers than before. */
  #otherServersChanged(): void {
    if (this.#stopping !== undefined) return;
    const { specs } = this.#herd.view;
    const own = specs.filter(({ transport }) => transport !== 'herd' && transport !== 'cluster');
    this.#configureCluster(own);
    this.#herd.apply(this.#withOthers(own));
    this.#agentViews.serversChanged();
  }

  #createCluster(): ClusterNodes {
    const { acceptNode, file } = this.#options;
    return new ClusterNodes({
      clock: this.#clock,
      file,
      fleet: () => this.fleets.global({ caller: 'cluster' }).fleetForReading(),
      ownLogs: (params) => this.#readLogs(this.#herd.view, params, NO_NODES),
      ownOf: (name) => this.#herd.ownReplicas(name),
      onState: (listen) => this.#herd.view.events.subscribe(['state'], listen),
      changed: () => this.#otherServersChanged(),
      accept: acceptNode ?? noNode,
      log: this.#warn,
    });
  }

  /** `own`: the servers of this config, and those of its herds. */
  #configureCluster(own: readonly ServerSpec[]): void {
    const { cluster } = this.#settings;
    const isNode = this.#options.acceptNode !== undefined;
    this.#cluster.configure(isNode ? cluster : undefined, this.#otherHerds.with(own));
  }

  /** With the servers of other herds, and those of the cluster. */
  #withOthers(own: readonly ServerSpec[]): ServerSpec[] {
    return this.#cluster.with(this.#otherHerds.with(own));
  }

  #createHerd(): Herd {
    const { paths, agentFile, callers } = this.#options;
    const now = () => dateOf(this.#clock);
    const startedAt = now();
    const { daemon } = this.#settings;
    const herd = new Herd({
      agent: agentFile,
      clock: this.#clock,
      random: Math.random,
      maxStarting: daemon.maxStarting || availableParallelism() * 2,
      listWaitMs: () => this.#settings.daemon.listWaitMs,
      separator: () => this.#settings.daemon.surface.separator,
      redact: (value) => this.#secrets.redact(value),
      warn: this.#warn,
      callerOf: (caller) => callers?.of(caller),
      recorded: (caller) => callers?.count(caller),
      audit: (record) => this.#audit.add(record),
      catalogs: new CatalogFiles(join(paths.cacheFolder, 'catalogs'), now, this.#warn),
      journals: this.#journals,
      calledBefore: () => readCalledTools(paths.auditFile, startedAt),
      pins: {
        store: new PinFiles(join(paths.stateFolder, 'pins'), now),
        policy: () => this.#settings.security.pin,
        packageOf: (spec) => this.#packages.packageOf(spec),
      },
      keepText: (text, owner) => this.#resultFiles.keep(text, owner),
      runnerOf: (spec) => this.#packages.runnerOf(spec),
      vectors: () => this.#vectors,
      mirrorOf: (spec) => this.#otherHerds.mirrorOf(spec),
      peersOf: (spec) => this.#cluster.peersOf(spec),
      orderElsewhere: (order, specs, wait) => this.#otherHerds.order(order, specs, wait),
      redactFor: (spec, value) => this.#secrets.redactValueOf(spec, value),
      log: (key, text) =>
        this.logs.server(nameOfKey(key)).warn({ source: 'toolherd', of: this.#herd.logOwnerTag(key) }, text),
      logMessage: ({ key, incarnation, level, logger, text }) =>
        this.logs
          .server(nameOfKey(key))
          [level](
            { source: 'mcp', incarnation, ...(logger && { logger }), of: this.#herd.logOwnerTag(key) },
            text,
          ),
      open: (spec, incarnation, on, key) => this.#openLink(spec, incarnation, on, key),
    });
    herd.limitMemory(daemon.maxRss);
    return herd;
  }

  #openLink(spec: ServerSpec, incarnation: number, on: LinkEvents, key: string): Link {
    const of = this.#herd.logOwnerTag(key);
    const deps: LinkDeps = {
      clock: this.#clock,
      table: this.#processes.table,
      env: this.#options.environment,
      incarnation,
      clientInfo: { name: 'toolherd', version: VERSION },
      permissions: this.#settings.security,
      logLevel: () =>
        lowestMcpLevel([wantedLevel(this.#settings.daemon.logLevel), this.#herd.wantedLogLevel(key)]),
      redact: (text: string) => this.#secrets.redactLineOf(spec, text),
      authorize: this.#authorizations.layer(spec),
      // another toolherd speaks both: sessions cost it half the work of requests that stand alone
      era: spec.transport === 'herd' ? SESSIONS : this.#eras.of(identityOf(spec)),
      launch: (started: StdioSpec, events: LaunchEvents) => this.#packages.launch(started, events),
      herd: (server) => (server.isNode ? this.#cluster.portOf(server) : this.#otherHerds.portOf(server.herd)),
      openHerd: (herd: HerdSpec, events: LinkEvents) =>
        openHerd(
          herd,
          { ...deps, ...this.#otherHerds.linkPorts(herd), socketFolder: this.#socketFolder },
          events,
        ),
      // after the transition that led to it
      note: (text: string) => queueMicrotask(() => this.#herd.noteInJournal(key, incarnation, text)),
      log: (line: LinkLog) => {
        this.logs
          .server(spec.name)
          [printedLevel(line.source)]({ source: line.source, incarnation, of }, line.text);
        this.#herd.printed(key, incarnation, line);
      },
    };
    return openLink(spec, deps, on);
  }

  #createRuntimeServers(): RuntimeServers {
    return new RuntimeServers({
      herd: this.#herd,
      source: this.#source,
      settings: () => this.#settings,
      onAdded: (spec) => this.#agentViews.serverAdded(spec),
      onRemoved: () => this.#agentViews.serversChanged(),
      learn: (redactor) => this.#secrets.learn(redactor),
    });
  }

  #createAgentViews(): AgentViews {
    return new AgentViews({
      herd: this.#herd,
      source: this.#source,
      clock: this.#clock,
      log: this.#warn,
      surface: () => this.#settings.daemon.surface,
      learn: (redactor) => this.#secrets.learn(redactor),
      withRuntimeServers: (specs) => this.#withOthers(this.#runtimeServers.with(specs)),
    });
  }

  #createReloader(): ConfigReloader {
    return new ConfigReloader({
      source: this.#source,
      apply: (loaded, isDryRun) => this.#apply(loaded, isDryRun),
      applied: (report) => this.#applied(report),
      onFailure: (error) => this.logs.daemon.error({ error }, 'the changed config was not applied'),
    });
  }

  #createFleets(): FleetProvider {
    const backend = this.#createBackend();
    const toFleet = (view: HerdView) => createFleet(view, backend);
    return {
      global: (connection, profile) => this.#agentViews.global(connection, toFleet, profile),
      ofAgent: (connection, file, files, profile) =>
        this.#agentViews.ofAgent(connection, file, files, toFleet, profile),
    };
  }

  #createBackend(): FleetBackend {
    const { identity, file, callers } = this.#options;
    return {
      daemon: () => ({
        version: VERSION,
        closing: null,
        ...identity,
        config_file: file,
        config_error: this.#reloader.error,
        audit: { file: this.#audit.path, lost: this.#audit.lost },
        memory: this.#herd.memoryReport() ?? null,
        search: { embeddings: this.#vectors?.report() ?? null },
        cluster: this.#cluster.summary(),
      }),
      surface: () => this.#settings.daemon.surface,
      agents: (scope) => callers?.list(this.#herd.openCalls(), scope) ?? [],
      audit: (params, scope) => this.#readAudit(params, scope),
      authorizations: this.#authorizations,
      reload: (isDryRun) => this.#reloader.reload(isDryRun),
      cluster: () => (this.#cluster.isConfigured ? this.#cluster : undefined),
      clusterProblem: () => this.#clusterProblem,
      packages: this.#packages,
      inspect: (view, server) => this.#inspect(view, server),
      logs: (view, params) => this.#readLogs(view, params, this.#cluster),
      register: (document, folder) => this.#runtimeServers.add(document, folder),
      unregister: (name) => this.#runtimeServers.remove(name),
      keptText: (id, owner) => this.#resultFiles.read(id, owner),
      shutdown: (graceMs) => this.shutdown(graceMs),
      ui: this.#options.ui ?? noPage,
    };
  }

  /** `cluster`: the nodes that are asked, too. */
  #readLogs(view: HerdView, params: LogParams | undefined, cluster: Pick<ClusterNodes, 'logs'>) {
    const { logFolder: folder } = this.#options.paths;
    return readServerLogs({ view, folder, herds: this.#otherHerds, cluster }, params);
  }

  #readAudit(params: AuditParams | undefined, scope: ViewScope | undefined): Promise<AuditPage> {
    this.#herd.flushRecords();
    this.#audit.flush();
    return readAudit(this.#audit.path, params, scope);
  }

  #apply(loaded: Loaded, isDryRun: boolean): ReloadReport {
    const { servers, profiles, settings, redactor, warnings, hasConfigFile } = loaded;
    this.#secrets.learn(redactor);
    const own = this.#runtimeServers.with(servers);
    if (isDryRun) return this.#herd.apply(this.#withOthers(own), true);
    const isClusterOther = !isDeepStrictEqual(this.#settings.cluster, settings.cluster);
    if (isClusterOther) this.#settings = { ...this.#settings, cluster: settings.cluster };
    this.#configureCluster(own);
    const report = this.#herd.apply(this.#withOthers(own));
    this.#otherHerds.keep(servers);
    this.#herd.view.useProfiles(profiles);
    this.#source.isRequired ||= hasConfigFile;
    this.#warnOfConfig(warnings);
    this.#runtimeServers.yieldTo(servers);
    const isPinPolicyChanged = this.#settings.security.pin !== settings.security.pin;
    const isLevelChanged = this.#settings.daemon.logLevel !== settings.daemon.logLevel;
    const isSurfaceChanged = !isDeepStrictEqual(this.#settings.daemon.surface, settings.daemon.surface);
    const isSearchChanged = !isDeepStrictEqual(this.#settings.search, settings.search);
    this.#settings = settings;
    if (isSearchChanged) {
      void this.#vectors?.close();
      this.#vectors = this.#createVectors();
    }
    if (isLevelChanged) this.#levelChanged();
    if (isSurfaceChanged) this.#herd.renamed();
    if (isPinPolicyChanged) this.#herd.recheckPins();
    this.#herd.limitMemory(settings.daemon.maxRss);
    return report;
  }

  /** The daemon of another herd knows what happened to its servers. */
  async #inspect(view: HerdView, server: string): Promise<Inspection> {
    const own = view.inspect(server);
    const spec = view.specs.find(({ name }) => name === server);
    const told = spec?.transport === 'herd' ? await this.#otherHerds.inspect(spec) : undefined;
    return told === undefined ? own : { ...told, status: own.status };
  }

  get #socketFolder(): string {
    const { environment, paths } = this.#options;
    return join(dirname(findSocketPath({ environment, stateFolder: paths.stateFolder })), 'herds');
  }

  #levelChanged(): void {
    this.logs.setLevel(this.#settings.daemon.logLevel);
    this.#herd.renewLogLevels();
  }

  async #applied(report: ReloadReport): Promise<void> {
    await this.#options.onSettings?.(this.#settings);
    const { added, removed, changed } = report;
    this.logs.daemon.info({ added, removed, changed }, 'config applied');
    this.#warnOfMisconfigured(report);
    await this.#agentViews.reload();
  }

  /** Those that the version before did not have. */
  #warnOfConfig(warnings: Loaded['warnings']): void {
    const known = this.#configWarnings;
    const problem = warnings.find(({ path }) => path.startsWith('cluster'));
    this.#clusterProblem = problem && {
      why: `${problem.file}:${problem.line}: ${problem.message}`,
      fix: problem.fix,
    };
    this.#configWarnings = new Set(warnings.map(({ path, message }) => `${path} ${message}`));
    for (const { path, line, message } of warnings)
      if (!known.has(`${path} ${message}`)) this.logs.daemon.warn({ path, line }, message);
  }

  #warnOfMisconfigured({ misconfigured = [] }: ReloadReport): void {
    for (const { server, problems } of misconfigured)
      for (const { message, fix, file, line, column } of problems)
        this.logs.daemon.warn({ server, file, line, column, fix }, `${server} does not run: ${message}`);
  }

  #warnOfWithheldVariables(): void {
    for (const name of withheldVariables(this.#options.environment)) {
      this.#warn(
        `${name} is not passed on to servers: its url holds a user name or a password. Put that into the file of the program (~/.npmrc, ~/.netrc), or declare ${name} in 'env' of the servers that need it`,
      );
    }
  }

  #writeRecords(): void {
    this.#herd.flushRecords();
    this.#audit.close();
    this.#journals.close();
  }
}

/** A node that is asked for its log asks no other one: that one would ask it again. */
const NO_NODES: Pick<ClusterNodes, 'logs'> = { logs: async () => [] };

/** A herd of `openFleet` is no node of a cluster. */
function noNode(): never {
  throw new ToolherdError('this program is no node of a cluster');
}

async function noPage(): Promise<never> {
  throw new ToolherdError('a herd inside of a script has no page', { fix: 'start a daemon: toolherd up' });
}

function openLogs({ paths, loaded, echo }: HerdRuntimeOptions, secrets: Secrets): Logs {
  const { logLevel: level, logMaxBytes: maxBytes } = loaded.settings.daemon;
  const redact = (line: string) => secrets.redactLine(line);
  return new Logs({ folder: paths.logFolder, level, maxBytes, redact, echo });
}
