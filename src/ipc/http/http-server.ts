import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FleetStatus } from '../../fleet/fleet.js';
import { healthOf, METRICS_TYPE, toMetrics } from '../../fleet/metrics.js';
import { withTimeout } from '../../shared/async.js';
import { type Clock, systemClock } from '../../shared/clock.js';
import { CODE } from '../../shared/mcp/rpc-codes.js';
import type { AgentFiles } from '../server/fleet-provider.js';
import type { FleetServer } from '../server/fleet-server.js';
import { Endpoint } from './endpoint.js';
import { type Guard, guardSocket } from './guard.js';
import { isPagePath, type PageRequests, withoutUpgrade } from './page-requests.js';
import { type Refusal, refuse, sendText } from './refusal.js';
import { discard } from './request-body.js';
import { routeOf } from './routes.js';

export interface HttpServerOptions {
  server: Pick<FleetServer, 'accept'>;
  status(): Promise<FleetStatus>;
  clock?: Clock;
  /** What serves the page of the herd on TCP ports; undefined while no user asked for it. */
  page?: () => PageRequests | undefined;
  /** Called with bugs. */
  report?: (error: unknown, request: string) => void;
}

const LIMITS = {
  maxHeaderSize: 16_384,
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 5000,
  keepAliveTimeout: 60_000,
} as const;

/** What the requests of one listener are allowed. */
interface Access {
  guard: Guard;
  agentFiles: AgentFiles;
  /** What `Host` may be, on a TCP port. */
  names: readonly string[] | undefined;
}

/** How long responses may take when the daemon ends. */
const GRACE_MS = 500;

/** The herd over HTTP: MCP, `/health` and `/metrics`. Its connections come from the Unix socket and from `TcpListener`. */
export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #endpoint: Endpoint;
  readonly #sockets = new Set<Socket>();
  /** Serves the connections of the Unix socket. */
  readonly #socketServer: Server;
  /** Resolves when the newest response of a connection has ended. */
  readonly #lastResponse = new WeakMap<Socket, Promise<void>>();
  /** Requests whose response has not ended. */
  #answering = 0;
  #emptied: () => void = () => undefined;

  constructor(options: HttpServerOptions) {
    this.#options = options;
    this.#endpoint = new Endpoint({ server: options.server, clock: options.clock ?? systemClock });
    this.#socketServer = this.serve(guardSocket, 'trusted');
  }

  /** Open sessions of streamable HTTP. */
  get sessions(): number {
    return this.#endpoint.sessions.size;
  }

  /** Takes a connection of the Unix socket that turned out to be HTTP. */
  accept(socket: Socket): void {
    this.#socketServer.emit('connection', socket);
  }

  /** A Node server for the connections of another listener. It does not listen: it gets `connection` events. */
  serve(guard: Guard, agentFiles: AgentFiles, names?: readonly string[]): Server {
    const access = { guard, agentFiles, names };
    const server = createServer(LIMITS, (request, response) => void this.#inOrder(access, request, response));
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    if (names !== undefined) this.#takeUpgrades(server, names);
    // Node checks for requests that do not end only after `listening`
    server.emit('listening');
    return server;
  }

  /** Ends every session. Responses may end within the grace. */
  async close(): Promise<void> {
    this.#endpoint.sessions.closeAll();
    const emptied = new Promise<void>((resolve) => {
      this.#emptied = resolve;
    });
    if (this.#answering === 0) this.#emptied();
    await withTimeout(GRACE_MS, emptied, this.#options.clock ?? systemClock);
    for (const socket of this.#sockets) socket.destroy();
    this.#socketServer.close();
  }

  /** A WebSocket of the page. Any other request with the header Upgrade is read again without it. */
  #takeUpgrades(server: Server, names: readonly string[]): void {
    const upgraded = new Set<Duplex>();
    server.on('upgrade', (request, socket, head) => {
      const page = isPagePath(request.url) ? this.#options.page?.() : undefined;
      if (page === undefined) {
        socket.unshift(Buffer.concat([Buffer.from(withoutUpgrade(request), 'latin1'), head]));
        server.emit('connection', socket as Socket);
        return;
      }
      upgraded.add(socket);
      socket.on('close', () => upgraded.delete(socket));
      page.upgrade(request, socket, head, names);
    });
    server.on('close', () => {
      for (const socket of upgraded) socket.destroy();
    });
  }

  /**
   * A pipelined request waits for the response before it. Node emits `close` only for the first response of a connection,
   * so a later one would never be cleaned up after its client has left.
   */
  async #inOrder(access: Access, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = request;
    const ahead = this.#lastResponse.get(socket);
    this.#lastResponse.set(socket, new Promise((resolve) => response.on('close', resolve)));
    await ahead;
    if (!socket.destroyed) await this.#handle(access, request, response);
  }

  async #handle(
    { guard, agentFiles, names }: Access,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    this.#answering += 1;
    response.on('close', () => {
      this.#answering -= 1;
      if (this.#answering === 0) this.#emptied();
    });
    try {
      const page = names !== undefined && isPagePath(request.url) ? this.#options.page?.() : undefined;
      if (names !== undefined && page !== undefined) {
        discard(request);
        page.handle(request, response, names);
        return;
      }
      const refusal = guard(request);
      if (refusal !== undefined) refuseUnread(request, response, refusal);
      else await this.#route(agentFiles, request, response);
    } catch (error) {
      if (request.destroyed && !request.complete) return;
      const name = `${request.method} ${request.url?.split('?')[0]}`;
      this.#options.report?.(error, name);
      refuse(response, { status: 500, code: CODE.internal, message: 'Internal error; the log says why' });
    }
  }

  async #route(agentFiles: AgentFiles, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const route = routeOf(request.url ?? '', agentFiles);
    if (route === undefined) {
      const fix = 'there are /mcp, /s/SERVER/mcp, /p/PROFILE/mcp, /health and /metrics';
      refuseUnread(request, response, { status: 404, message: 'there is nothing at this path', fix });
    } else if (route.kind === 'mcp') {
      await this.#endpoint.handle(route.scope, request, response);
    } else if (request.method !== 'GET' && request.method !== 'HEAD') {
      const headers = { Allow: 'GET, HEAD' };
      refuseUnread(request, response, { status: 405, message: 'this can only be read', headers });
    } else {
      const status = await this.#options.status();
      if (route.kind === 'metrics') sendText(response, 200, METRICS_TYPE, toMetrics(status));
      else sendText(response, 200, 'application/json', `${JSON.stringify(healthOf(status))}\n`);
    }
  }
}

/** Refuses without reading the body, and closes the connection. */
function refuseUnread(request: IncomingMessage, response: ServerResponse, refusal: Refusal): void {
  discard(request);
  refuse(response, { ...refusal, headers: { ...refusal.headers, Connection: 'close' } });
}
