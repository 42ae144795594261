import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FleetStatus } from '../../fleet/fleet.js';
import { METRICS_TYPE, toMetrics } from '../../fleet/metrics.js';
import { type Clock, systemClock } from '../../shared/clock.js';
import type { AgentFiles } from '../server/fleet-provider.js';
import type { FleetServer } from '../server/socket-server.js';
import { Endpoint } from './endpoint.js';
import { type Guard, guardSocket } from './guard.js';
import { healthOf } from './health.js';
import { type Refusal, refuse, sendText } from './refusal.js';
import { discard } from './request-body.js';
import { routeOf } from './routes.js';

export interface HttpServerOptions {
  server: Pick<FleetServer, 'accept'>;
  status(): Promise<FleetStatus>;
  clock?: Clock;
  /** Hears of bugs. */
  report?: (error: unknown, request: string) => void;
}

const LIMITS = {
  maxHeaderSize: 16_384,
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 5000,
  keepAliveTimeout: 60_000,
} as const;

/** Where requests come in: who may, and which agent files they may name. */
interface Door {
  guard: Guard;
  agentFiles: AgentFiles;
}

/** For responses on their way when the daemon ends. */
const GRACE_MS = 500;

/** The herd over HTTP: MCP, `/health` and `/metrics`. Where its connections come from is not its business. */
export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #endpoint: Endpoint;
  readonly #sockets = new Set<Socket>();
  readonly #own: Server;
  /** When the newest response of a connection is over. */
  readonly #over = new WeakMap<Socket, Promise<void>>();
  /** Requests without the end of their response. */
  #answering = 0;
  #emptied: () => void = () => undefined;

  constructor(options: HttpServerOptions) {
    this.#options = options;
    this.#endpoint = new Endpoint({ server: options.server, clock: options.clock ?? systemClock });
    this.#own = this.serve(guardSocket, 'trusted');
  }

  /** Open sessions of streamable HTTP. */
  get sessions(): number {
    return this.#endpoint.sessions.size;
  }

  /** Takes a connection of the Unix socket that turned out to be HTTP. */
  accept(socket: Socket): void {
    this.#own.emit('connection', socket);
  }

  /** A server with the same offer behind another door. It never listens: whoever does hands it its connections. */
  serve(guard: Guard, agentFiles: AgentFiles): Server {
    const door = { guard, agentFiles };
    const server = createServer(LIMITS, (request, response) => void this.#inTurn(door, request, response));
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    // Node looks for requests that do not end only where it believes that it listens
    server.emit('listening');
    return server;
  }

  /** Ends every session; responses have a moment to get out. */
  async close(): Promise<void> {
    this.#endpoint.sessions.closeAll();
    const clock = this.#options.clock ?? systemClock;
    await new Promise<void>((resolve) => {
      const timer = clock.setTimeout(resolve, GRACE_MS);
      this.#emptied = () => {
        clock.clearTimeout(timer);
        resolve();
      };
      if (this.#answering === 0) this.#emptied();
    });
    for (const socket of this.#sockets) socket.destroy();
    this.#own.close();
  }

  /**
   * A request that came before the one ahead of it was answered waits: Node does not tell a response that is not at the
   * head of its connection when its client leaves, and what belongs to it would be there for ever.
   */
  async #inTurn(door: Door, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = request;
    const ahead = this.#over.get(socket);
    this.#over.set(socket, new Promise((resolve) => response.on('close', resolve)));
    await ahead;
    if (!socket.destroyed) await this.#handle(door, request, response);
  }

  async #handle(
    { guard, agentFiles }: Door,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    this.#answering += 1;
    response.on('close', () => {
      this.#answering -= 1;
      if (this.#answering === 0) this.#emptied();
    });
    try {
      const refusal = guard(request);
      if (refusal !== undefined) turnAway(request, response, refusal);
      else await this.#route(agentFiles, request, response);
    } catch (error) {
      if (request.destroyed && !request.complete) return;
      const name = `${request.method} ${request.url?.split('?')[0]}`;
      this.#options.report?.(error, name);
      refuse(response, { status: 500, code: -32_603, message: 'Internal error; the log says why' });
    }
  }

  async #route(agentFiles: AgentFiles, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const route = routeOf(request.url ?? '', agentFiles);
    if (route === undefined) {
      const fix = 'there are /mcp, /s/SERVER/mcp, /health and /metrics';
      turnAway(request, response, { status: 404, message: 'there is nothing at this path', fix });
    } else if (route.kind === 'mcp') {
      await this.#endpoint.handle(route.place, request, response);
    } else if (request.method !== 'GET' && request.method !== 'HEAD') {
      const headers = { Allow: 'GET, HEAD' };
      turnAway(request, response, { status: 405, message: 'this can only be read', headers });
    } else {
      const status = await this.#options.status();
      if (route.kind === 'metrics') sendText(response, 200, METRICS_TYPE, toMetrics(status));
      else sendText(response, 200, 'application/json', `${JSON.stringify(healthOf(status))}\n`);
    }
  }
}

/** Without looking at the body; the connection ends, so that nobody has to. */
function turnAway(request: IncomingMessage, response: ServerResponse, refusal: Refusal): void {
  discard(request);
  refuse(response, { ...refusal, headers: { ...refusal.headers, Connection: 'close' } });
}
