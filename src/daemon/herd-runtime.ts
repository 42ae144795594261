import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Loaded } from '../config/load.js';
import type { ServerSpec, Settings } from '../config/schema/spec.js';
import { Redactor } from '../config/variables/redactor.js';
import type { Caller, DaemonStatus, ReloadReport, ShutdownReport } from '../fleet/fleet.js';
import type { FleetProvider } from '../ipc/server/fleet-provider.js';
import { Authorizations } from '../link/auth/authorizations.js';
import type { LinkLog } from '../link/link.js';
import { openLink } from '../link/open-link.js';
import { EraCache } from '../link/protocol/negotiation/era-cache.js';
import { withheldVariables } from '../link/stdio/environment.js';
import { AuditFile } from '../log/audit-file.js';
import { Logs } from '../log/logs.js';
import { serialize } from '../shared/async.js';
import { systemClock } from '../shared/clock.js';
import { wantedLevel } from '../shared/log-levels.js';
import { VERSION } from '../shared/version.js';
import { ResultFiles } from '../supervisor/calls/result-files.js';
import { CatalogFiles } from '../supervisor/catalog/catalog-store.js';
import { Herd } from '../supervisor/herd/herd.js';
import { nameOfKey } from '../supervisor/herd/server-pool.js';
import { PinFiles } from '../supervisor/pins/pin-files.js';
import { identityOf } from '../supervisor/spec-identity.js';
import { AgentViews } from './agent-views.js';
import { restartAuthorized } from './authorize.js';
import { type ConfigSource, rereadHerdConfig } from './config-source.js';
import { createFleet, type FleetSource } from './create-fleet.js';
import { onProcessExit } from './on-process-exit.js';
import { openProcesses } from './processes.js';
import { readServerLogs } from './read-server-logs.js';
import { RuntimeServers } from './runtime-servers.js';

export interface HerdRuntimeOptions extends ConfigSource {
  loaded: Loaded;
  /** What `status` says of who keeps the herd. */
  identity: Pick<DaemonStatus, 'pid' | 'started_at' | 'closing' | 'socket' | 'http'>;
  /** Who is behind the name of a connection. */
  callerOf?: (caller: string) => Caller | undefined;
  /** Hears of settings that were changed. */
  onSettings?: (settings: Settings) => Promise<void>;
  /** The log also goes here. */
  echo?: { write(text: string): void } | undefined;
}

/** A herd with everything that it needs: what the daemon keeps. */
export interface HerdRuntime {
  views: FleetProvider;
  logs: Logs;
  /** The servers of the config begin their lives. */
  begin(): void;
  /** Takes the config as it is now; what is wrong with it is kept for `status`, and the herd stays as it was. */
  reload(): Promise<void>;
  shutdown(graceMs?: number): Promise<ShutdownReport>;
  /** After the shutdown: the files and processes of the herd. */
  close(): Promise<void>;
}

const GRACE_MS = 10_000;

export async function openHerdRuntime(options: HerdRuntimeOptions): Promise<HerdRuntime> {
  const clock = systemClock;
  const { paths, loaded } = options;
  let { settings } = loaded;
  // once a secret, always one: a server that nothing knows of any more still has its last words to say
  const secrets = new Redactor();
  const learn = (more: Redactor) => secrets.learn(more);
  learn(loaded.redactor);
  const redact = <T>(value: T): T => secrets.redactDeep(value);
  const clean = (text: string) => redact(authorizations.redact(text));
  const logs = openLogs(options, clean);
  const log = logs.daemon;
  const warn = (text: string) => log.warn(text);
  const { logMaxBytes: maxBytes } = settings.daemon;
  const audit = new AuditFile({ path: paths.auditFile, maxBytes, warn });
  const authorizations = new Authorizations({
    file: paths.authFile,
    clock,
    log: warn,
    granted: (spec) => restartAuthorized([herd.view, ...agents.views], spec),
  });
  const eras = new EraCache(join(paths.cacheFolder, 'eras.json'), clock);
  let configError: string | null = null;

  const resultFiles = new ResultFiles({
    folder: join(paths.stateFolder, 'results'),
    now: Date.now,
    log: warn,
  });
  void resultFiles.tidy();

  const herd: Herd = new Herd({
    agent: options.agentFile,
    clock,
    random: Math.random,
    maxStarting: settings.daemon.maxStarting || availableParallelism() * 2,
    listWaitMs: () => settings.daemon.listWaitMs,
    redact,
    warn,
    callerOf: (caller) => options.callerOf?.(caller),
    audit: (record) => audit.add(record),
    catalogs: new CatalogFiles(join(paths.cacheFolder, 'catalogs'), () => clock.now(), warn),
    pins: {
      store: new PinFiles(join(paths.stateFolder, 'pins'), () => clock.now()),
      policy: () => settings.security.pin,
    },
    keepText: (text) => resultFiles.keep(text),
    redactSaid: (spec, value) => redact(declaredIn(spec).redactDeep(value)),
    log: (key, text) =>
      logs.server(nameOfKey(key)).warn({ source: 'toolherd', of: herd.logMarkAt(key) }, text),
    said: ({ key, incarnation, level, logger, text }) =>
      logs
        .server(nameOfKey(key))
        [level]({ source: 'mcp', incarnation, ...(logger && { logger }), of: herd.logMarkAt(key) }, text),
    open(spec, incarnation, on, key) {
      const of = herd.logMarkAt(key);
      const deps = {
        clock,
        table: processes.table,
        env: options.environment,
        incarnation,
        clientInfo: { name: 'toolherd', version: VERSION },
        permissions: settings.security,
        logLevel: wantedLevel(settings.daemon.logLevel),
        redact: (text: string) => redact(declaredIn(spec).redact(authorizations.redact(text))),
        authorize: authorizations.layer(spec),
        era: eras.of(identityOf(spec)),
        log: (line: LinkLog) => {
          logs.server(spec.name).info({ source: line.source, incarnation, of }, line.text);
          herd.printed(key, incarnation, line);
        },
      };
      return openLink(spec, deps, on);
    },
  });
  herd.limitMemory(settings.daemon.maxRss);
  for (const name of withheldVariables(options.environment)) {
    warn(
      `${name} is not passed on to servers: its url holds a user name or a password. Put that into the file of the program (~/.npmrc, ~/.netrc), or declare ${name} in 'env' of the servers that need it`,
    );
  }
  const registered: RuntimeServers = new RuntimeServers({
    herd,
    place: options,
    settings: () => settings,
    came: (spec) => agents.serverAdded(spec),
    went: () => agents.serversChanged(),
    learn,
  });
  const withGuests = (specs: readonly ServerSpec[]) => registered.with(specs);
  const agents = new AgentViews({ herd, place: options, clock, log: warn, learn, withGuests });
  // last, since it has something to say where an earlier daemon left something, and all that is said is redacted
  const processes = await openProcesses(paths.ledgerFile, clock, options.environment, warn);

  const tellMisconfigured = ({ misconfigured = [] }: ReloadReport) => {
    for (const { server, problems } of misconfigured)
      for (const { message, fix, file, line, column } of problems)
        log.warn({ server, file, line, column, fix }, `${server} does not run: ${message}`);
  };
  const applyNow = async (isDryRun: boolean): Promise<ReloadReport> => {
    const next = await rereadHerdConfig(options);
    learn(next.redactor);
    const report = herd.apply(registered.with(next.servers), isDryRun);
    if (isDryRun) return report;
    registered.yieldTo(next.servers);
    const isPinChanged = settings.security.pin !== next.settings.security.pin;
    settings = next.settings;
    if (isPinChanged) herd.recheckPins();
    herd.limitMemory(settings.daemon.maxRss);
    configError = null;
    await options.onSettings?.(settings);
    log.info({ added: report.added, removed: report.removed, changed: report.changed }, 'config applied');
    tellMisconfigured(report);
    await agents.reload();
    return report;
  };
  const turn = serialize();
  const apply = (isDryRun = false) => turn(() => applyNow(isDryRun));
  const reload = async (): Promise<void> => {
    try {
      await apply();
    } catch (error) {
      configError = error instanceof Error ? error.message : String(error);
      log.error({ error: configError }, 'the changed config was not applied');
    }
  };

  let stopping: Promise<ShutdownReport> | undefined;
  const shutdown = (graceMs = GRACE_MS): Promise<ShutdownReport> => {
    stopping ??= herd.shutdown(graceMs, () => processes.table.killAll());
    return stopping;
  };

  const writeRecords = () => {
    herd.flushRecords();
    audit.close();
  };
  const forgetLastMoment = onProcessExit(writeRecords);

  const source: FleetSource = {
    daemon: () => ({
      version: VERSION,
      closing: null,
      ...options.identity,
      config_file: options.file,
      config_error: configError,
      audit: { file: audit.path, lost: audit.lost },
      memory: herd.memoryReport() ?? null,
    }),
    authorizations,
    reload: apply,
    logs: (view, params) => readServerLogs(view, paths.logFolder, params),
    register: (document, folder) => registered.add(document, folder),
    unregister: (name) => registered.remove(name),
    shutdown,
  };

  return {
    views: {
      own: (caller) => agents.own(caller, (view) => createFleet(view, source)),
      ofAgent: (caller, file, files) =>
        agents.ofAgent(caller, file, files, (view) => createFleet(view, source)),
    },
    logs,
    begin() {
      tellMisconfigured(herd.apply(loaded.servers));
      for (const { path, line, message } of loaded.warnings) log.warn({ path, line }, message);
    },
    reload,
    shutdown,
    async close() {
      authorizations.close();
      await shutdown();
      agents.close();
      eras.close();
      await processes.close();
      writeRecords();
      forgetLastMoment();
    },
  };
}

function openLogs({ paths, loaded, echo }: HerdRuntimeOptions, redact: (text: string) => string): Logs {
  const { logLevel: level, logMaxBytes: maxBytes } = loaded.settings.daemon;
  return new Logs({ folder: paths.logFolder, level, maxBytes, redact, echo });
}

/** One redactor for the life of a spec: making one takes longer than using it. */
const declared = new WeakMap<ServerSpec, Redactor>();

function declaredIn(spec: ServerSpec): Redactor {
  const known = declared.get(spec) ?? Redactor.of({ ...spec.env, ...('headers' in spec && spec.headers) });
  declared.set(spec, known);
  return known;
}
