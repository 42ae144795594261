import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { Settings } from '../config/schema/spec.js';
import type { FleetStatus } from '../fleet/fleet.js';
import { HttpServer } from '../ipc/http/http-server.js';
import { TcpListener, type TcpListenerOptions, type TcpStatus } from '../ipc/http/tcp-listener.js';
import type { FleetServer } from '../ipc/server/socket-server.js';
import { ProtocolDetection } from '../ipc/socket/protocol-detection.js';

export interface HttpOptions {
  server: FleetServer;
  status(): Promise<FleetStatus>;
  stateFolder: string;
  log: TcpListenerOptions['log'];
  guardDoor: TcpListenerOptions['guardDoor'];
}

/** HTTP as the daemon offers it: on its socket always, on a port where the config asks for it. */
export interface Http {
  /** Takes every connection of the socket, be it HTTP or not. */
  enter(socket: Socket): void;
  /** What the config says now. */
  configure(settings: Settings): Promise<void>;
  status(): TcpStatus;
  close(): Promise<void>;
}

export const TOKEN_FILE = 'http-token';

export function openHttp({ server, status, stateFolder, log, guardDoor }: HttpOptions): Http {
  const report = (error: unknown, request: string) =>
    log.error({ error: String(error), request }, 'a fault in toolherd itself');
  const face = new HttpServer({ server, status, report });
  const port = new TcpListener({ face, tokenFile: join(stateFolder, TOKEN_FILE), log, guardDoor });
  const door = new ProtocolDetection({
    http: (socket) => face.accept(socket),
    lines: (socket) => void server.accept(socket),
  });
  return {
    enter: (socket) => door.enter(socket),
    configure: ({ daemon }) => port.open(daemon.http),
    status: () => port.status,
    async close() {
      door.close();
      await face.close();
      await port.close();
    },
  };
}
