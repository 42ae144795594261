import { availableParallelism } from 'node:os';
import type { Loaded } from '../config/load.js';
import { ConfigError } from '../config/problem.js';
import { Redactor } from '../config/redactor.js';
import { watchConfig } from '../config/watch.js';
import type { Fleet, ReloadReport, ShutdownReport } from '../ipc/fleet.js';
import { claimSocket } from '../ipc/socket-owner.js';
import { serveFleet } from '../ipc/socket-server.js';
import { systemClock } from '../link/clock.js';
import type { LinkLog } from '../link/link.js';
import { openLink } from '../link/open-link.js';
import { Logs } from '../log/logs.js';
import { Herd } from '../supervisor/herd.js';
import { VERSION } from '../version.js';
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
  let redactor: Redactor = loaded.redactor;
  const logs = openLogs(options, loaded, (text) => redactor.redact(text));
  const log = logs.daemon;
  const { ledgerFile } = options.paths;
  const processes = await openProcesses(ledgerFile, clock, options.environment, (text) => log.warn(text));
  const startedAt = new Date(clock.now()).toISOString();
  let configError: string | null = null;

  const herd = new Herd({
    clock,
    random: Math.random,
    maxStarting: loaded.settings.daemon.maxStarting || availableParallelism() * 2,
    redact: (value) => redactor.redactDeep(value),
    log: (server, text) => logs.server(server).warn({ source: 'toolherd' }, text),
    open(spec, incarnation, on) {
      const declared = Redactor.of(spec.env);
      const deps = {
        clock,
        table: processes.table,
        env: options.environment,
        incarnation,
        clientInfo: { name: 'toolherd', version: VERSION },
        redact: (text: string) => redactor.redact(declared.redact(text)),
        log: ({ source, text }: LinkLog) => logs.server(spec.name).info({ source, incarnation }, text),
      };
      return openLink(spec, deps, on);
    },
  });

  const apply = async (isDryRun = false): Promise<ReloadReport> => {
    const next = await rereadHerdConfig(options);
    const report = herd.apply(next.servers, isDryRun);
    if (isDryRun) return report;
    redactor = next.redactor;
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
    call: (params, context) => herd.call(params, context),
    inspect: async (server) => herd.inspect(server),
    reload: apply,
    subscribe: (_topics, listen) => herd.subscribe(listen),
    shutdown,
  };

  const close = async (): Promise<void> => {
    await shutdown();
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
