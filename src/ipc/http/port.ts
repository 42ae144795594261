import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { HttpFace } from './face.js';
import { guardPort } from './guard.js';
import { readToken } from './token-file.js';

/** What the config says about TCP. */
export interface PortSettings {
  host: string;
  port: number;
  token: 'auto' | 'none';
}

export interface PortOptions {
  face: HttpFace;
  tokenFile: string;
  log: { info(fields: object, text: string): void; error(fields: object, text: string): void };
}

/** How it went; null where the config asks for nothing. */
export type PortStatus = { url: string | null; error: string | null } | null;

const MAX_CONNECTIONS = 1024;

/** The herd on loopback TCP, while the config asks for it. What goes wrong here is told, and harms nothing else. */
export class Port {
  readonly #options: PortOptions;
  #settings: PortSettings | undefined;
  #server: Server | undefined;
  #status: PortStatus = null;
  /** One after the other: a config may change while a port is being opened. */
  #turn: Promise<void> = Promise.resolve();

  constructor(options: PortOptions) {
    this.#options = options;
  }

  get status(): PortStatus {
    return this.#status;
  }

  /** May be called again with what a changed config says. */
  open(settings: PortSettings | undefined): Promise<void> {
    this.#turn = this.#turn.then(() => this.#open(settings));
    return this.#turn;
  }

  close(): Promise<void> {
    return this.open(undefined);
  }

  async #open(settings: PortSettings | undefined): Promise<void> {
    if (this.#server !== undefined && isSame(settings, this.#settings)) return;
    this.#server?.close();
    this.#server?.closeAllConnections();
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

  async #listen({ host, port, token }: PortSettings): Promise<string> {
    const secret = token === 'auto' ? readToken(this.#options.tokenFile) : undefined;
    const names: string[] = [];
    const server = this.#options.face.serve(guardPort(names, secret));
    server.maxConnections = MAX_CONNECTIONS;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, resolve);
    });
    server.removeAllListeners('error').on('error', () => undefined);
    this.#server = server;
    const bound = `${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`;
    names.push(bound.toLowerCase(), `localhost:${(server.address() as AddressInfo).port}`);
    return `http://${bound}`;
  }
}

function reasonOf(error: unknown, { host, port }: PortSettings): string {
  const { code, message, fix } = error as { code?: string; message: string; fix?: string };
  if (code === 'EADDRINUSE') return `port ${port} of ${host} is taken; choose another one, or 0 for any`;
  return [message, fix].filter(Boolean).join('; ');
}

function isSame(one: PortSettings | undefined, other: PortSettings | undefined): boolean {
  return one?.host === other?.host && one?.port === other?.port && one?.token === other?.token;
}
