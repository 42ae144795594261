import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Loaded } from '../config/load.js';
import { ConfigError } from '../config/problem.js';
import { Redactor } from '../config/redactor.js';
import type { ServerSpec } from '../config/spec.js';
import { watchConfig } from '../config/watch.js';
import type { Fleet, ReloadReport, ShutdownReport } from '../ipc/fleet.js';
import { claimSocket } from '../ipc/socket-owner.js';
import { serveFleet } from '../ipc/socket-server.js';
import { Authorizations } from '../link/auth/authorizations.js';
import { systemClock } from '../link/clock.js';
import { Verdicts } from '../link/era/verdicts.js';
import type { LinkLog } from '../link/link.js';
import { wantedLevel } from '../link/log-level.js';
import { openLink } from '../link/open-link.js';
import { Logs } from '../log/logs.js';
import { CatalogFiles } from '../supervisor/catalog-store.js';
import { Herd } from '../supervisor/herd.js';
import { ResultFiles } from '../supervisor/result-files.js';
import { identityOf } from '../supervisor/spec-view.js';
import { VERSION } from '../version.js';
import { authorizing, letIn } from './authorize.js';
import { type ConfigPlace, readHerdConfig, rereadHerdConfig } from './config-source.js';
import { openProcesses } from './processes.js';

export interface DaemonOptions extends ConfigPlace {
  socket: string;
  /** The log also goes here. */
  echo?: { write(text: string): void } | undefined;
}

/** A daemon that serves. */
export interface Daemon {
  servers: number;
  reload(): Promise<void>;
  stop(): Promise<void>;
  /** Resolves when it has ended, whoever ended it. */
  ended: Promise<void>;
}

const GRACE_MS = 10_000;

/**
 * The composition root. The order matters: the config first, because a bad one must leave everything as it was; then
 * the claim on the socket, so that a second daemon ends before it touches a process; then what an earlier daemon left
 * is ended; then the herd; and the socket last, when there is something to serve.
 */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const clock = systemClock;
  const loaded = await readHerdConfig(options);
  const claim = await claimSocket(options.socket);
  let { redactor, settings } = loaded;
  const logs = openLogs(options, loaded, (text) => redactor.redact(authorizations.redact(text)));
  const log = logs.daemon;
  const authorizations = new Authorizations({
    file: options.paths.authFile,
    clock,
    log: (text) => log.warn(text),
    granted: (name) => letIn(herd, name),
  });
  const { ledgerFile } = options.paths;
  const processes = await openProcesses(ledgerFile, clock, options.environment, (text) => log.warn(text));
  const startedAt = new Date(clock.now()).toISOString();
  const eras = new Verdicts(join(options.paths.cacheFolder, 'eras.json'), clock);
  let configError: string | null = null;

  const resultFiles = new ResultFiles({
    folder: join(options.paths.stateFolder, 'results'),
    now: Date.now,
    log: (text) => log.warn(text),
  });
  void resultFiles.tidy();

  const herd = new Herd({
    clock,
    random: Math.random,
    maxStarting: loaded.settings.daemon.maxStarting || availableParallelism() * 2,
    redact: (value) => redactor.redactDeep(value),
    catalogs: new CatalogFiles(join(options.paths.cacheFolder, 'catalogs'), () => clock.now()),
    keepText: (text) => resultFiles.keep(text),
    redactSaid: (spec, value) => redactor.redactDeep(declaredIn(spec).redactDeep(value)),
    log: (server, text) => logs.server(server).warn({ source: 'toolherd' }, text),
    said: ({ server, incarnation, level, logger, text }) =>
      logs.server(server)[level]({ source: 'mcp', incarnation, ...(logger && { logger }) }, text),
    open(spec, incarnation, on) {
      const deps = {
        clock,
        table: processes.table,
        env: options.environment,
        incarnation,
        clientInfo: { name: 'toolherd', version: VERSION },
        permissions: settings.security,
        logLevel: wantedLevel(settings.daemon.logLevel),
        redact: (text: string) => redactor.redact(declaredIn(spec).redact(authorizations.redact(text))),
        authorize: authorizations.layer(spec),
        era: eras.of(identityOf(spec)),
        log: (line: LinkLog) => {
          logs.server(spec.name).info({ source: line.source, incarnation }, line.text);
          herd.printed(spec.name, incarnation, line);
        },
      };
      return openLink(spec, deps, on);
    },
  });

  const apply = async (isDryRun = false): Promise<ReloadReport> => {
    const next = await rereadHerdConfig(options);
    const report = herd.apply(next.servers, isDryRun);
    if (isDryRun) return report;
    redactor = next.redactor;
    settings = next.settings;
    configError = null;
    log.info({ added: report.added, removed: report.removed, changed: report.changed }, 'config applied');
    return report;
  };
  /** For changes that nobody waits for: what is wrong is kept for `status`, and the herd stays as it was. */
  const reload = async (): Promise<void> => {
    try {
      await apply();
    } catch (error) {
      configError = error instanceof Error ? error.message : String(error);
      log.error({ error: configError }, 'the changed config was not applied');
    }
  };

  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  let stopping: Promise<ShutdownReport> | undefined;
  const shutdown = (graceMs = GRACE_MS): Promise<ShutdownReport> => {
    stopping ??= herd.shutdown(graceMs, () => processes.table.killAll());
    return stopping;
  };

  const fleet: Fleet = {
    status: async (names) => ({
      servers: herd.status(names),
      daemon: {
        version: VERSION,
        pid: process.pid,
        started_at: startedAt,
        socket: options.socket,
        config_file: options.file,
        config_error: configError,
      },
    }),
    start: (selection, wait) => herd.order('start', selection, wait),
    stop: (selection, wait) => herd.order('stop', selection, wait),
    restart: (selection, wait) => herd.order('restart', selection, wait),
    reset: (selection, wait) => herd.order('reset', selection, wait),
    tools: (server, refresh) => herd.tools(server, refresh),
    prompts: (server, refresh) => herd.prompts(server, refresh),
    resources: (server, refresh) => herd.resources(server, refresh),
    prompt: (params, context) => herd.prompt(params, context),
    resource: (params, context) => herd.resource(params, context),
    request: (params, context) => herd.request(params, context),
    call: (params, context) => herd.call(params, context),
    callMany: (params, context) => herd.callMany(params, context),
    broadcast: (params, context) => herd.broadcast(params, context),
    inspect: async (server) => herd.inspect(server),
    ...authorizing(herd, authorizations),
    reload: apply,
    subscribe: (topics, listen) => herd.subscribe(topics, listen),
    shutdown,
  };

  const close = async (): Promise<void> => {
    authorizations.close();
    await shutdown();
    eras.close();
    unwatch();
    await server.close();
    // The claim goes last: the next daemon must not begin while this one still has processes.
    await processes.close();
    owner.close();
    log.info('ended');
    logs.close();
    end();
  };
  const server = serveFleet(fleet, {
    identity: { version: VERSION, pid: process.pid, started_at: startedAt },
    onShutdown: () => void close(),
    report: (error, method) => log.error({ error: String(error), method }, 'a fault in toolherd itself'),
  });
  herd.apply(loaded.servers);
  const owner = await claim.listen({
    onConnection: (socket) => void server.accept(socket),
    onTrouble: ({ kind, message }) => log.warn({ kind }, message),
  });
  const unwatch = watchConfig(options.file, () => void reload());
  for (const warning of loaded.warnings)
    log.warn({ path: warning.path, line: warning.line }, warning.message);
  log.info({ version: VERSION, socket: options.socket, servers: loaded.servers.length }, 'serving');
  return { servers: loaded.servers.length, reload, stop: close, ended };
}

function openLogs(options: DaemonOptions, { settings }: Loaded, redact: (text: string) => string): Logs {
  const { logLevel: level, logMaxBytes: maxBytes } = settings.daemon;
  return new Logs({ folder: options.paths.logFolder, level, maxBytes, redact, echo: options.echo });
}

/** One redactor for the life of a spec: making one takes longer than using it. */
const declared = new WeakMap<ServerSpec, Redactor>();

function declaredIn(spec: ServerSpec): Redactor {
  const known = declared.get(spec) ?? Redactor.of({ ...spec.env, ...('headers' in spec && spec.headers) });
  declared.set(spec, known);
  return known;
}

/** What can be told of a failed start, over a pipe or on a terminal. */
export function describeStartFailure(error: unknown) {
  const {
    type = 'InternalError',
    message,
    why,
    fix,
  } = error as { type?: string; message: string; why?: string; fix?: string };
  return { type, message, why, fix, ...(error instanceof ConfigError ? { problems: error.problems } : {}) };
}
