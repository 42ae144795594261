import type { Server as NodeHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { Descriptors } from '../socket/descriptors.js';
import { guardPort } from './guard.js';
import type { HttpServer } from './http-server.js';
import { readToken } from './token-file.js';

/** What the config says about TCP. */
export interface TcpSettings {
  host: string;
  port: number;
  token: 'auto' | 'none';
}

export interface TcpListenerOptions {
  face: HttpServer;
  tokenFile: string;
  log: { info(fields: object, text: string): void; error(fields: object, text: string): void };
  /** Who stands at the door: lets connections in, or turns them away. */
  guardDoor(enter: (socket: Socket) => void): (socket: Socket) => void;
}

/** How it went; null where the config asks for nothing. */
export type TcpStatus = { url: string | null; error: string | null } | null;

const MAX_CONNECTIONS = 1024;
/** Nor more than this part of all files: anybody on this machine can connect to a port, with the token or without. */
const MOST_FILES = 1 / 4;

/** The herd on loopback TCP, while the config asks for it. What goes wrong here is told, and harms nothing else. */
export class TcpListener {
  readonly #options: TcpListenerOptions;
  #settings: TcpSettings | undefined;
  #server: { door: Server; http: NodeHttpServer } | undefined;
  #status: TcpStatus = null;
  /** One after the other: a config may change while a port is being opened. */
  #turn: Promise<void> = Promise.resolve();

  constructor(options: TcpListenerOptions) {
    this.#options = options;
  }

  get status(): TcpStatus {
    return this.#status;
  }

  /** May be called again with what a changed config says. */
  open(settings: TcpSettings | undefined): Promise<void> {
    this.#turn = this.#turn.then(() => this.#open(settings));
    return this.#turn;
  }

  close(): Promise<void> {
    return this.open(undefined);
  }

  async #open(settings: TcpSettings | undefined): Promise<void> {
    if (this.#server !== undefined && isSame(settings, this.#settings)) return;
    this.#server?.door.close();
    this.#server?.http.close();
    this.#server?.http.closeAllConnections();
    this.#server = undefined;
    this.#status = null;
    this.#settings = settings;
    if (settings === undefined) return;
    const { log, tokenFile } = this.#options;
    try {
      const url = await this.#listen(settings);
      this.#status = { url, error: null };
      log.info({ url, token_file: settings.token === 'auto' ? tokenFile : null }, 'serving HTTP');
    } catch (error) {
      const message = `daemon.http: ${reasonOf(error, settings)}`;
      this.#status = { url: null, error: message };
      log.error({ error: message }, 'HTTP is not served on TCP; the socket is');
    }
  }

  async #listen({ host, port, token }: TcpSettings): Promise<string> {
    const secret = token === 'auto' ? readToken(this.#options.tokenFile) : undefined;
    const names: string[] = [];
    const http = this.#options.face.serve(guardPort(names, secret), 'allowed');
    const enter = this.#options.guardDoor((socket) => http.emit('connection', socket));
    // as Node has it for HTTP
    const door = createServer({ allowHalfOpen: true, noDelay: true }, enter);
    door.maxConnections = Math.min(MAX_CONNECTIONS, Math.floor(new Descriptors().limit * MOST_FILES));
    await new Promise<void>((resolve, reject) => {
      door.once('error', (error) => {
        http.close();
        reject(error);
      });
      door.listen(port, host, resolve);
    });
    door.removeAllListeners('error').on('error', () => undefined);
    this.#server = { door, http };
    const { port: own } = door.address() as AddressInfo;
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
