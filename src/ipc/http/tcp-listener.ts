import type { Server as NodeHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { serialize } from '../../shared/async.js';
import { Descriptors } from '../socket/descriptors.js';
import type { Guard } from './guard.js';
import type { HttpServer } from './http-server.js';
import { PortConnections } from './port-connections.js';

/** What the config says about TCP. */
export interface TcpSettings {
  host: string;
  port: number;
  token: 'auto' | 'none';
}

export interface TcpListenerOptions {
  httpServer: HttpServer;
  /** What errors call it. */
  name: string;
  /** Where the token is; the log says it. */
  tokenFile?: string;
  /** Checks the requests of a port. `names` is filled when the port is open. */
  guard(names: readonly string[], settings: TcpSettings): Guard;
  log: { info(fields: object, text: string): void; error(fields: object, text: string): void };
  /** Wraps the listener for connections, and refuses some of them. */
  limitConnections(accept: (socket: Socket) => void): (socket: Socket) => void;
}

/** Where it listens, or why it does not; null where the config asks for no port. */
export type TcpStatus = { url: string | null; error: string | null } | null;

const MAX_CONNECTIONS = 1024;
/** At most this part of all file descriptors: every user of this machine can connect to a port, even without the token. */
const MOST_FILES = 1 / 4;

/** Serves the herd on loopback TCP while the config asks for it. Errors are logged and stop nothing else. */
export class TcpListener {
  readonly #options: TcpListenerOptions;
  #settings: TcpSettings | undefined;
  #server: { listener: Server; http: NodeHttpServer } | undefined;
  #status: TcpStatus = null;
  /** A config may change while a port is being opened. */
  readonly #serialized = serialize();

  constructor(options: TcpListenerOptions) {
    this.#options = options;
  }

  get status(): TcpStatus {
    return this.#status;
  }

  /** May be called again after the config has changed. */
  open(settings: TcpSettings | undefined): Promise<void> {
    return this.#serialized(() => this.#open(settings));
  }

  close(): Promise<void> {
    return this.open(undefined);
  }

  async #open(settings: TcpSettings | undefined): Promise<void> {
    if (this.#server !== undefined && isSame(settings, this.#settings)) return;
    this.#server?.listener.close();
    this.#server?.http.close();
    this.#server?.http.closeAllConnections();
    this.#server = undefined;
    this.#status = null;
    this.#settings = settings;
    if (settings === undefined) return;
    const { log, name, tokenFile = null } = this.#options;
    try {
      const url = await this.#listen(settings);
      this.#status = { url, error: null };
      log.info({ url, token_file: settings.token === 'auto' ? tokenFile : null }, `serving ${name}`);
    } catch (error) {
      const message = `${name}: ${reasonOf(error, settings)}`;
      this.#status = { url: null, error: message };
      log.error({ error: message }, 'HTTP is not served on TCP; the socket is');
    }
  }

  async #listen(settings: TcpSettings): Promise<string> {
    const { host, port } = settings;
    const names: string[] = [];
    const http = this.#options.httpServer.serve(this.#options.guard(names, settings), 'allowed', names);
    const most = Math.min(MAX_CONNECTIONS, Math.floor(new Descriptors().limit * MOST_FILES));
    const connections = new PortConnections(most);
    http.on('request', ({ socket }) => connections.heard(socket));
    const accept = this.#options.limitConnections((socket) => {
      if (connections.add(socket)) http.emit('connection', socket);
    });
    // the options of a Node HTTP server
    const listener = createServer({ allowHalfOpen: true, noDelay: true }, accept);
    await new Promise<void>((resolve, reject) => {
      listener.once('error', (error) => {
        http.close();
        reject(error);
      });
      listener.listen(port, host, resolve);
    });
    listener.removeAllListeners('error').on('error', () => undefined);
    this.#server = { listener, http };
    const { port: own } = listener.address() as AddressInfo;
    const bound = `${host.includes(':') ? `[${host}]` : host}:${own}`;
    names.push(bound.toLowerCase(), `localhost:${own}`);
    return `http://${bound}`;
  }
}

function reasonOf(error: unknown, { host, port }: TcpSettings): string {
  const { code, message, fix } = error as { code?: string; message: string; fix?: string };
  if (code === 'EADDRINUSE') return `port ${port} of ${host} is taken; choose another one, or 0 for any`;
  return [message, fix].filter(Boolean).join('; ');
}

function isSame(one: TcpSettings | undefined, other: TcpSettings | undefined): boolean {
  return one?.host === other?.host && one?.port === other?.port && one?.token === other?.token;
}
