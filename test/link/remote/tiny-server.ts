import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect, createServer as createTcp, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';

export interface Request {
  jsonrpc: '2.0';
  id?: number;
  method: string;
  params?: Record<string, unknown>;
}

/** One HTTP request, as it came. */
export interface Seen {
  method: string;
  headers: IncomingMessage['headers'];
  message: Request | undefined;
}

export type Answer = (message: Request, response: ServerResponse, request: IncomingMessage) => unknown;

export interface TinyOptions {
  /** What happens to these methods (of the protocol, or of HTTP); the others are answered as they should be. */
  on?: Record<string, Answer>;
}

export interface Tiny {
  url: string;
  port: number;
  server: Server;
  seen: Seen[];
  /** The methods of the protocol, in the order in which they came. */
  methods(): (string | undefined)[];
  /** The open stream of notifications, when there is one. */
  stream: ServerResponse | undefined;
  /** Stops listening, and cuts every connection. */
  die(): Promise<void>;
  reborn(): Promise<void>;
}

export const reply = (id: unknown, result: unknown = {}) => JSON.stringify({ jsonrpc: '2.0', id, result });
export const saying = (id: unknown, text: string) => reply(id, { content: [{ type: 'text', text }] });
export const event = (data: string, id?: string) =>
  `${id === undefined ? '' : `id: ${id}\n`}event: message\ndata: ${data}\n\n`;

export function openStream(response: ServerResponse, headers: Record<string, string> = {}): ServerResponse {
  response.writeHead(200, { 'content-type': 'text/event-stream', ...headers });
  response.flushHeaders();
  return response;
}

export function answerJson(
  response: ServerResponse,
  body: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(body);
}

const TOOLS = [{ name: 'any', inputSchema: { type: 'object' } }];

export function initialized(version: unknown = '2025-11-25') {
  return {
    protocolVersion: version,
    serverInfo: { name: 'tiny', version: '1' },
    capabilities: { tools: {} },
  };
}

/** A streamable HTTP server: the test scripts its answers, the rest follows the specification. */
export async function tinyHttp({ on = {} }: TinyOptions = {}): Promise<Tiny> {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    const text = await textIn(request);
    const message = text === '' ? undefined : (JSON.parse(text) as Request);
    seen.push({ method: request.method ?? '', headers: request.headers, message });
    const own = on[message?.method ?? request.method ?? ''];
    if (own !== undefined) own(message as Request, response, request);
    else if (request.method === 'GET') tiny.stream = openStream(response);
    else if (message === undefined) response.writeHead(200).end();
    else usual(message, response);
  });
  await listen(server, 0);
  const { port } = server.address() as { port: number };
  const tiny: Tiny = {
    url: `http://127.0.0.1:${port}/mcp`,
    port,
    server,
    seen,
    methods: () => seen.map(({ message, method }) => message?.method ?? method),
    stream: undefined,
    die: () => shut(server),
    reborn: () => listen(server, port),
  };
  onTestFinished(() => shut(server));
  return tiny;
}

export function usual(message: Request, response: ServerResponse): void {
  const { id, method, params } = message;
  if (id === undefined) response.writeHead(202).end();
  else if (method === 'initialize')
    answerJson(response, reply(id, initialized()), { 'mcp-session-id': 'session-1' });
  else if (method === 'tools/call') answerJson(response, saying(id, `did ${params?.name}`));
  else if (method === 'ping') answerJson(response, reply(id));
  else if (method === 'tools/list') answerJson(response, reply(id, { tools: TOOLS }));
  else answerJson(response, unknown(id));
}

export const unknown = (id: unknown) =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } });

/** The older transport: replies to POSTs come on the stream. */
export async function tinySse({ on = {} }: TinyOptions = {}): Promise<Tiny> {
  const tiny: Tiny = await tinyHttp({
    on: {
      GET: (_message, response) => {
        tiny.stream = openStream(response);
        response.write('event: endpoint\ndata: /message?session=1\n\n');
      },
      ...Object.fromEntries(
        ['initialize', 'tools/list', 'tools/call', 'ping', 'server/discover'].map(
          (method): [string, Answer] => [
            method,
            (message, response) => {
              response.writeHead(202).end();
              const { id, params } = message;
              const answers: Record<string, () => string> = {
                initialize: () => reply(id, initialized()),
                'tools/call': () => saying(id, `did ${params?.name}`),
                'tools/list': () => reply(id, { tools: TOOLS }),
                ping: () => reply(id),
                'server/discover': () => unknown(id),
              };
              tiny.stream?.write(event(answers[method]?.() ?? ''));
            },
          ],
        ),
      ),
      ...on,
    },
  });
  return tiny;
}

export interface TinySocket {
  url: string;
  port: number;
  server: WebSocketServer;
  sockets: WebSocket[];
  headers: IncomingMessage['headers'][];
}

/** A WebSocket server. `on` takes the place of the usual answers. */
export async function tinyWebsocket(
  on: Record<string, (message: Request, socket: WebSocket) => unknown> = {},
  options: ConstructorParameters<typeof WebSocketServer>[0] = {},
): Promise<TinySocket> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', ...options });
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const tiny: TinySocket = { url: `ws://127.0.0.1:${port}/`, port, server, sockets: [], headers: [] };
  server.on('connection', (socket, request) => {
    tiny.sockets.push(socket);
    tiny.headers.push(request.headers);
    socket.on('message', (bytes: RawData) => {
      const message = JSON.parse(bytes.toString()) as Request;
      const { id, method, params } = message;
      const own = on[method];
      if (own !== undefined) own(message, socket);
      else if (id === undefined) return;
      else if (method === 'initialize') socket.send(reply(id, initialized()));
      else if (method === 'tools/call') socket.send(saying(id, `did ${params?.name}`));
      else if (method === 'ping') socket.send(reply(id));
      else socket.send(unknown(id));
    });
  });
  onTestFinished(async () => {
    for (const socket of server.clients) socket.terminate();
    await new Promise((resolve) => server.close(resolve));
  });
  return tiny;
}

/** Accepts every connection and sends nothing. */
export async function deafServer(): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createTcp((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).resume();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as { port: number }).port;
}

export interface Proxy {
  port: number;
  /** From now on nothing passes and no connection is closed, like a pulled cable. */
  pull(): void;
}

export async function tcpProxy(target: number): Promise<Proxy> {
  const sockets = new Set<Socket>();
  let isPulled = false;
  const server = createTcp({ allowHalfOpen: true }, (near) => {
    const far = connect({ port: target, host: '127.0.0.1', allowHalfOpen: true });
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('data', (chunk) => !isPulled && to.write(chunk));
      from.on('end', () => !isPulled && to.end());
      from.on('error', () => undefined);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const pull = () => {
    isPulled = true;
  };
  return { port: (server.address() as { port: number }).port, pull };
}

async function textIn(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

async function listen(server: Server, port: number): Promise<void> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
}

async function shut(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
