import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { Settings } from '../config/fields/spec.js';
import type { PageHerd } from '../dashboard/page-methods.js';
import type { FleetStatus } from '../fleet/fleet.js';
import type { UiLink } from '../fleet/orders.js';
import { guardPort } from '../ipc/http/guard.js';
import { HttpServer } from '../ipc/http/http-server.js';
import { TcpListener, type TcpListenerOptions, type TcpStatus } from '../ipc/http/tcp-listener.js';
import { readToken } from '../ipc/http/token-file.js';
import type { FleetServer } from '../ipc/server/fleet-server.js';
import { ProtocolDetection } from '../ipc/socket/protocol-detection.js';
import { systemClock } from '../shared/clock.js';
import { Page } from './page.js';

export interface HttpOptions {
  server: FleetServer;
  status(): Promise<FleetStatus>;
  stateFolder: string;
  log: TcpListenerOptions['log'];
  limitConnections: TcpListenerOptions['limitConnections'];
  herd: PageHerd;
  /** The files of the page. */
  pageFolder: string | undefined;
}

/** HTTP of the daemon: always on its socket, and on a TCP port where the config asks for one. */
export interface Http {
  /** Takes a connection of the socket, HTTP or JSON lines. */
  accept(socket: Socket): void;
  /** Applies the settings of a config. */
  configure(settings: Settings): Promise<void>;
  status(): TcpStatus;
  /** A new link to the page. */
  ui(): Promise<UiLink>;
  close(): Promise<void>;
}

const TOKEN_FILE = 'http-token';

export function openHttp(options: HttpOptions): Http {
  const { server, status, stateFolder, log, limitConnections, herd, pageFolder } = options;
  const report = (error: unknown, request: string) =>
    log.error({ error: String(error), request }, 'a fault in toolherd itself');
  const httpServer = new HttpServer({ server, status, report, page: () => page.requests });
  const tokenFile = join(stateFolder, TOKEN_FILE);
  const tcp = new TcpListener({
    ...{ httpServer, log, limitConnections },
    name: 'daemon.http',
    tokenFile,
    guard: (names, { token }) => guardPort(names, token === 'auto' ? readToken(tokenFile) : undefined),
  });
  const page = new Page({
    ...{ server, httpServer, log, limitConnections, herd },
    clock: systemClock,
    configured: () => tcp.status?.url ?? undefined,
    folder: pageFolder,
  });
  const detection = new ProtocolDetection({
    http: (socket) => httpServer.accept(socket),
    lines: (socket) => void server.accept(socket),
  });
  return {
    accept: (socket) => detection.accept(socket),
    configure: ({ daemon }) => tcp.open(daemon.http),
    status: () => tcp.status,
    ui: () => page.link(),
    async close() {
      detection.close();
      await page.close();
      await httpServer.close();
      await tcp.close();
    },
  };
}
