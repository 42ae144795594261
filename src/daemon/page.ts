import type { Socket } from 'node:net';
import type { Dashboard, DashboardOptions } from '../dashboard/dashboard.js';
import type { PageHerd } from '../dashboard/page-methods.js';
import type { UiLink } from '../fleet/orders.js';
import { guardPageOnly } from '../ipc/http/guard.js';
import type { HttpServer } from '../ipc/http/http-server.js';
import type { PageRequests } from '../ipc/http/page-requests.js';
import { TcpListener, type TcpListenerOptions } from '../ipc/http/tcp-listener.js';
import { RpcError } from '../ipc/jsonrpc/rpc-error.js';
import type { FleetServer } from '../ipc/server/fleet-server.js';
import { serialize } from '../shared/async.js';
import type { Clock } from '../shared/clock.js';
import { ToolherdError } from '../shared/errors.js';

export interface PageOptions {
  server: FleetServer;
  httpServer: HttpServer;
  clock: Clock;
  log: TcpListenerOptions['log'];
  limitConnections(accept: (socket: Socket) => void): (socket: Socket) => void;
  /** The address of the port of `daemon.http`; undefined where the config asks for none. */
  configured(): string | undefined;
  herd: PageHerd;
  userOf?: DashboardOptions['userOf'];
  /** The files of the page; undefined where the daemon runs without them. */
  folder: string | undefined;
}

const LOOPBACK = { host: '127.0.0.1', port: 0, token: 'none' } as const;

/**
 * The page of this daemon. Its code and its port are there from the first `fleet/ui` until no page was open for an hour.
 */
export class Page {
  readonly #options: PageOptions;
  readonly #port: TcpListener;
  readonly #serialized = serialize();
  #dashboard: Dashboard | undefined;

  constructor(options: PageOptions) {
    this.#options = options;
    const { httpServer, log, limitConnections } = options;
    this.#port = new TcpListener({
      ...{ httpServer, log, limitConnections },
      name: 'the page',
      guard: () => guardPageOnly,
    });
  }

  /** Undefined while no link was asked for. */
  get requests(): PageRequests | undefined {
    return this.#dashboard;
  }

  link(): Promise<UiLink> {
    return this.#serialized(() => this.#link());
  }

  close(): Promise<void> {
    return this.#serialized(async () => {
      const dashboard = this.#dashboard;
      this.#dashboard = undefined;
      await dashboard?.close();
      await this.#port.close();
    });
  }

  async #link(): Promise<UiLink> {
    this.#dashboard ??= await this.#load();
    const base = this.#options.configured() ?? (await this.#openPort());
    return this.#dashboard.link(base);
  }

  async #load(): Promise<Dashboard> {
    const { server, clock, folder, herd, userOf } = this.#options;
    if (folder === undefined)
      throw new ToolherdError('this daemon has no page', { fix: 'use "toolherd up"' });
    const { Dashboard } = await import('../dashboard/dashboard.js');
    return new Dashboard({
      ...{ server, clock, folder, herd, ...(userOf && { userOf }) },
      toError: ({ code, message, data }) => new RpcError(code, message, data),
      onIdle: () => void this.close(),
    });
  }

  async #openPort(): Promise<string> {
    await this.#port.open(LOOPBACK);
    const url = this.#port.status?.url;
    if (url) return url;
    throw new ToolherdError('the page cannot be served', { why: this.#port.status?.error ?? undefined });
  }
}
