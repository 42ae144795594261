import type { Socket } from 'node:net';
import type { Loaded } from '../config/load.js';
import { ConfigError } from '../config/parse/problem.js';
import { stampOf, watchConfig } from '../config/watch.js';
import type { StartFailure } from '../fleet/readiness.js';
import { replaceOwner } from '../ipc/client/replace-owner.js';
import { Callers } from '../ipc/server/callers.js';
import { Lifecycle } from '../ipc/server/lifecycle.js';
import { serveFleet } from '../ipc/server/socket-server.js';
import { claimSocket } from '../ipc/socket/socket-owner.js';
import { systemClock } from '../shared/clock.js';
import { VERSION } from '../shared/version.js';
import { type ConfigSource, readHerdConfig, rereadHerdConfig } from './config-source.js';
import { limitConnections } from './connection-limit.js';
import { HerdRuntime } from './herd-runtime.js';
import { openHttp } from './http.js';

export interface DaemonOptions extends ConfigSource {
  socket: string;
  /** Asks the daemon that has the socket to end first. */
  replace: boolean;
  /** Every line of the logs is also written here. */
  echo?: { write(text: string): void } | undefined;
}

/** A daemon that serves. */
export interface Daemon {
  servers: number;
  reload(): Promise<void>;
  /** Shuts it down after a signal. */
  stop(signal: string): void;
  /** Resolves when it has ended, for whatever reason. */
  ended: Promise<void>;
}

/**
 * The composition root. The order matters. The config comes first, because a bad one must change nothing. Then the claim
 * on the socket: a second daemon ends here, before it touches a process, and with `replace` the old daemon has ended.
 * Then the config again, if it has changed meanwhile. Then the herd, which first kills what an earlier daemon left. The
 * socket comes last, when there is something to serve.
 */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const first = await readStamped(options, readHerdConfig);
  const claim = await (options.replace ? replaceOwner : claimSocket)(options.socket);
  // the daemon that is replaced may take a minute to end
  const { loaded, stamp } = stampOf(options.file) === first.stamp ? first : await readAgain(options, first);
  const identity = { pid: process.pid, started_at: new Date().toISOString() };
  const callers = new Callers();
  const lifecycle = new Lifecycle();
  const runtime = await HerdRuntime.open({
    ...options,
    loaded,
    identity: {
      ...identity,
      socket: options.socket,
      get closing() {
        return lifecycle.why;
      },
      get http() {
        return http.status();
      },
    },
    callerOf: (caller) => callers.of(caller),
    onSettings: (settings) => http.configure(settings),
  });
  const { logs } = runtime;
  const reload = () => runtime.reload();
  const log = logs.daemon;
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });

  const close = async (): Promise<void> => {
    unwatch();
    await http.close();
    await server.close();
    // the claim is released last: the next daemon must not start while this one still has processes
    await runtime.close();
    owner.close();
    log.info('ended');
    logs.close();
    end();
  };
  const server = serveFleet(runtime.fleets, {
    identity: { version: VERSION, ...identity },
    callers,
    lifecycle,
    onClosing: (why) => log.info(why, 'stopping'),
    onShutdown: () => void close(),
    onDropped: (caller, reason) => log.warn({ caller }, `a client was dropped: ${reason}`),
    report: (error, method) => log.error({ error: String(error), method }, 'a fault in toolherd itself'),
  });
  const fleet = runtime.fleets.global('http').fleetForReading();
  const { stateFolder } = options.paths;
  const limit = (accept: (socket: Socket) => void, isPublic: boolean) =>
    limitConnections({ accept, isPublic, warn: (text) => log.warn(text), clock: systemClock });
  const http = openHttp({
    server,
    status: () => fleet.status(),
    stateFolder,
    log,
    limitConnections: (accept) => limit(accept, true),
  });
  runtime.begin();
  const unwatch = watchConfig(options.file, () => void reload(), stamp);
  const owner = await claim.listen({
    onConnection: limit(http.accept, false),
    onProblem: ({ kind, message }) => log.warn({ kind }, message),
  });
  await http.configure(loaded.settings);
  log.info({ version: VERSION, socket: options.socket, servers: loaded.servers.length }, 'serving');
  const stop = (signal: string): void => {
    log.info(
      { signal },
      'stopping; another signal (Ctrl-C) in a second or later ends the daemon at once, and its servers within seconds',
    );
    server.announce({ reason: 'shutdown' });
    void runtime.shutdown().then(server.shutDown);
  };
  return { servers: loaded.servers.length, reload, stop, ended };
}

interface ReadConfig {
  loaded: Loaded;
  /** Of the file, taken before it was read. */
  stamp: string;
}

async function readStamped(
  source: ConfigSource,
  read: (source: ConfigSource) => Promise<Loaded>,
): Promise<ReadConfig> {
  const stamp = stampOf(source.file);
  return { loaded: await read(source), stamp };
}

/** Where it cannot be read now, the first one counts: the watch sees the change, and its reload reports the error. */
function readAgain(source: ConfigSource, first: ReadConfig): Promise<ReadConfig> {
  return readStamped(source, rereadHerdConfig).catch(() => first);
}

/** A failed start as data, for a pipe or a terminal. */
export function describeStartFailure(error: unknown): StartFailure {
  const {
    type = 'InternalError',
    message,
    why,
    fix,
  } = error as { type?: string; message: string; why?: string; fix?: string };
  return { type, message, why, fix, problems: error instanceof ConfigError ? error.problems : undefined };
}
