import type { Socket } from 'node:net';
import type { Loaded } from '../config/load.js';
import { ConfigError } from '../config/parse/problem.js';
import { stampOf, watchConfig } from '../config/watch.js';
import type { StartFailure } from '../fleet/readiness.js';
import { replaceOwner } from '../ipc/client/replace-owner.js';
import { Callers } from '../ipc/server/callers.js';
import { FleetServer } from '../ipc/server/fleet-server.js';
import { Lifecycle } from '../ipc/server/lifecycle.js';
import { claimSocket, type SocketClaim, type SocketOwner } from '../ipc/socket/socket-owner.js';
import { systemClock } from '../shared/clock.js';
import { VERSION } from '../shared/version.js';
import { NODE_METHODS } from './cluster/node-fleet.js';
import { type ConfigSource, readHerdConfig, rereadHerdConfig } from './config-source.js';
import { limitConnections } from './connection-limit.js';
import { HerdRuntime } from './herd-runtime.js';
import { type Http, openHttp } from './http.js';
import { RefusedFiles } from './refused-files.js';

export interface DaemonOptions extends ConfigSource {
  socket: string;
  /** Asks the daemon that has the socket to end first. */
  replace: boolean;
  /** The files of the page. */
  pageFolder?: string | undefined;
  /** Every line of the logs is also written here. */
  echo?: { write(text: string): void } | undefined;
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
  const config = stampOf(options.file) === first.stamp ? first : await readAgain(options, first);
  return Daemon.open(options, config, claim);
}

interface Parts {
  process: { pid: number; started_at: string };
  callers: Callers;
  lifecycle: Lifecycle;
  runtime: HerdRuntime;
}

/** A daemon that serves. */
export class Daemon {
  /** How many servers its config has. */
  readonly servers: number;
  /** Resolves when it has ended, for whatever reason. */
  readonly ended: Promise<void>;
  readonly #runtime: HerdRuntime;
  readonly #server: FleetServer;
  readonly #http: Http;
  #owner: SocketOwner | undefined;
  #unwatch: () => void = () => undefined;
  #end: () => void = () => undefined;

  static async open(options: DaemonOptions, config: ReadConfig, claim: SocketClaim): Promise<Daemon> {
    const started = { pid: process.pid, started_at: new Date().toISOString() };
    const callers = new Callers();
    const lifecycle = new Lifecycle();
    // HTTP needs the runtime, and the runtime reports the status of HTTP
    let http: Http | undefined;
    const runtime = await HerdRuntime.open({
      ...options,
      loaded: config.loaded,
      identity: {
        ...started,
        socket: options.socket,
        get closing() {
          return lifecycle.why;
        },
        get http() {
          return http?.status() ?? null;
        },
      },
      callers,
      ui: () => daemon.#http.ui(),
      acceptNode: (stream, node, to) => {
        const restricted = { to, methods: NODE_METHODS };
        daemon.#server.accept(stream, { via: 'cluster', clientName: `node ${node}`, restricted });
      },
      onSettings: async (settings) => http?.configure(settings),
    });
    const daemon = new Daemon(options, config.loaded, { process: started, callers, lifecycle, runtime });
    http = daemon.#http;
    await daemon.#listen(options, config, claim);
    return daemon;
  }

  private constructor(
    options: DaemonOptions,
    loaded: Loaded,
    { process, callers, lifecycle, runtime }: Parts,
  ) {
    const { fleets, logs } = runtime;
    const log = logs.daemon;
    this.servers = loaded.servers.length;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.#runtime = runtime;
    const refused = new RefusedFiles();
    this.#server = new FleetServer(refused.watch(fleets), {
      identity: { version: VERSION, ...process, config_file: options.file },
      callers,
      lifecycle,
      onClosing: (why) => log.info(why, 'stopping'),
      onShutdown: () => void this.#close(),
      onDropped: (caller, reason) => log.warn({ caller }, `a client was dropped: ${reason}`),
      report: (error, method) => log.error({ error: String(error), method }, 'a fault in toolherd itself'),
    });
    const fleet = fleets.global({ caller: 'http' }).fleetForReading();
    this.#http = openHttp({
      server: this.#server,
      status: () => fleet.status(),
      stateFolder: options.paths.stateFolder,
      log,
      limitConnections: (accept) => this.#limit(accept, true),
      herd: { ...options, fleet, refusedFiles: () => refused.files },
      pageFolder: options.pageFolder,
    });
  }

  async reload(): Promise<void> {
    await this.#runtime.reload();
  }

  /** Shuts it down after a signal. */
  stop(signal: string): void {
    this.#log.info(
      { signal },
      'stopping; another signal (Ctrl-C) in a second or later ends the daemon at once, and its servers within seconds',
    );
    this.#server.announce({ reason: 'shutdown' });
    void this.#runtime.shutdown().then(() => this.#server.shutDown());
  }

  async #listen(
    { file, socket }: DaemonOptions,
    { loaded, stamp }: ReadConfig,
    claim: SocketClaim,
  ): Promise<void> {
    this.#runtime.begin();
    this.#unwatch = watchConfig(file, () => void this.reload(), stamp);
    this.#owner = await claim.listen({
      onConnection: this.#limit(this.#http.accept, false),
      onProblem: ({ kind, message }) => this.#log.warn({ kind }, message),
    });
    await this.#http.configure(loaded.settings);
    this.#log.info({ version: VERSION, socket, servers: this.servers }, 'serving');
  }

  async #close(): Promise<void> {
    this.#unwatch();
    await this.#http.close();
    this.#owner?.hide();
    await this.#server.close();
    // the claim is released last: the next daemon must not start while this one still has processes
    await this.#runtime.close();
    this.#owner?.close();
    this.#log.info('ended');
    this.#runtime.logs.close();
    this.#end();
  }

  get #log(): HerdRuntime['logs']['daemon'] {
    return this.#runtime.logs.daemon;
  }

  #limit(accept: (socket: Socket) => void, isPublic: boolean): (socket: Socket) => void {
    return limitConnections({ accept, isPublic, warn: (text) => this.#log.warn(text), clock: systemClock });
  }
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
  const isRequired = source.isRequired || first.loaded.hasConfigFile;
  return readStamped({ ...source, isRequired }, rereadHerdConfig).catch(() => first);
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
