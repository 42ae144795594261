import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { Settings } from '../config/fields/spec.js';
import type { FleetStatus } from '../fleet/fleet.js';
import { HttpServer } from '../ipc/http/http-server.js';
import { TcpListener, type TcpListenerOptions, type TcpStatus } from '../ipc/http/tcp-listener.js';
import type { FleetServer } from '../ipc/server/fleet-server.js';
import { ProtocolDetection } from '../ipc/socket/protocol-detection.js';

export interface HttpOptions {
  server: FleetServer;
  status(): Promise<FleetStatus>;
  stateFolder: string;
  log: TcpListenerOptions['log'];
  limitConnections: TcpListenerOptions['limitConnections'];
}

/** HTTP of the daemon: always on its socket, and on a TCP port where the config asks for one. */
export interface Http {
  /** Takes a connection of the socket, HTTP or JSON lines. */
  accept(socket: Socket): void;
  /** Applies the settings of a config. */
  configure(settings: Settings): Promise<void>;
  status(): TcpStatus;
  close(): Promise<void>;
}

const TOKEN_FILE = 'http-token';

export function openHttp({ server, status, stateFolder, log, limitConnections }: HttpOptions): Http {
  const report = (error: unknown, request: string) =>
    log.error({ error: String(error), request }, 'a fault in toolherd itself');
  const httpServer = new HttpServer({ server, status, report });
  const tokenFile = join(stateFolder, TOKEN_FILE);
  const tcp = new TcpListener({ httpServer, tokenFile, log, limitConnections });
  const detection = new ProtocolDetection({
    http: (socket) => httpServer.accept(socket),
    lines: (socket) => void server.accept(socket),
  });
  return {
    accept: (socket) => detection.accept(socket),
    configure: ({ daemon }) => tcp.open(daemon.http),
    status: () => tcp.status,
    async close() {
      detection.close();
      await httpServer.close();
      await tcp.close();
    },
  };
}
