import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { Connection, type LinkState } from '../../../src/page/live/connection.js';
import { until } from '../../support/until.js';

interface Request {
  id?: number;
  method: string;
  params?: Record<string, unknown>;
}

/** A daemon that answers what the test says. */
class Daemon {
  readonly received: Request[] = [];
  answer: (request: Request) => object | undefined = () => ({ result: {} });
  #server: WebSocketServer;

  private constructor(server: WebSocketServer) {
    this.#server = server;
    server.on('connection', (socket) => {
      socket.on('message', (data) => {
        const request = JSON.parse(String(data)) as Request;
        this.received.push(request);
        const reply = this.answer(request);
        if (reply !== undefined) socket.send(JSON.stringify({ jsonrpc: '2.0', id: request.id, ...reply }));
      });
    });
  }

  static async start(port = 0): Promise<Daemon> {
    const server = new WebSocketServer({ port, host: '127.0.0.1' });
    await new Promise((resolve) => server.once('listening', resolve));
    return new Daemon(server);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  send(message: object): void {
    for (const socket of this.#server.clients) socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }));
  }

  /** Ends as a daemon does that tells each page why. */
  async end(): Promise<void> {
    for (const socket of this.#server.clients) socket.close(1001, 'the daemon ends');
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async stop(): Promise<void> {
    for (const socket of this.#server.clients) socket.terminate();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function connected() {
  const daemon = await Daemon.start();
  ends.push(() => daemon.stop().catch(() => undefined));
  const states: (LinkState & { at: number })[] = [];
  const notifications: string[] = [];
  const { port } = daemon;
  const connection = new Connection({
    open: () => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}`);
      socket.on('error', () => undefined);
      return socket as never;
    },
    onState: (state) => states.push({ ...state, at: Date.now() }),
    onNotification: (method) => notifications.push(method),
  });
  ends.push(() => connection.close());
  await until(() => connection.state.kind === 'open');
  return { daemon, connection, states, notifications, port };
}

describe('the connection of the page', () => {
  it('each request gets the result with its id', async () => {
    const { daemon, connection } = await connected();
    daemon.answer = ({ method, params }) => ({ result: { method, params } });
    const answers = await Promise.all([connection.request('a', { x: 1 }), connection.request('b')]);
    expect(answers).toEqual([
      { method: 'a', params: { x: 1 } },
      { method: 'b', params: {} },
    ]);
  });

  it.each([
    { how: 'end', why: 'it was stopped' },
    { how: 'stop', why: 'the daemon closed the connection' },
  ] as const)('a connection that ends by $how says: $why', async ({ how, why }) => {
    const { daemon, connection } = await connected();
    await daemon[how]();
    await until(() => connection.state.kind === 'lost');
    expect(connection.state).toMatchObject({ why });
  });

  it('an error of the daemon keeps its type, cause and remedy', async () => {
    const { daemon, connection } = await connected();
    daemon.answer = () => ({
      error: { code: 1020, message: 'no such server', data: { type: 'ServerNotFoundError', fix: 'look' } },
    });
    await expect(connection.request('fleet/start')).rejects.toMatchObject({
      message: 'no such server',
      type: 'ServerNotFoundError',
      fix: 'look',
    });
  });

  it('progress reaches the request that asked for it', async () => {
    const { daemon, connection } = await connected();
    daemon.answer = ({ method, params }) => {
      if (method !== 'fleet/call') return { result: {} };
      const { progressToken } = params!._meta as { progressToken: number };
      daemon.send({ method: 'notifications/progress', params: { progressToken, progress: 1, total: 2 } });
      return { result: 'done' };
    };
    const progress: unknown[] = [];
    await connection.request('fleet/call', {}, { onProgress: (one) => progress.push(one) });
    expect(progress).toMatchObject([{ progress: 1, total: 2 }]);
  });

  it('an abort cancels the request at the daemon', async () => {
    const { daemon, connection } = await connected();
    daemon.answer = ({ method }) => (method === 'ping' ? { result: {} } : undefined);
    const abort = new AbortController();
    const call = connection.request('fleet/call', {}, { signal: abort.signal });
    const { id } = await until(() => daemon.received.find(({ method }) => method === 'fleet/call'));
    abort.abort();
    await expect(call).rejects.toMatchObject({ type: 'CancelledError' });
    const cancel = await until(() => daemon.received.find(({ method }) => method === '$/cancel'));
    expect(cancel.params).toEqual({ id });
  });

  it('a notification reaches the page', async () => {
    const { daemon, notifications } = await connected();
    daemon.send({ method: 'fleet/event', params: {} });
    await until(() => notifications.includes('fleet/event'));
  });

  it('a daemon that is silent is lost within 2 s, and back as soon as it answers', async () => {
    const { daemon, connection, states } = await connected();
    daemon.answer = () => undefined;
    const silentFrom = Date.now();
    await until(() => connection.state.kind === 'lost');
    expect(states.at(-1)!.at - silentFrom).toBeLessThan(2000);
    daemon.send({ method: 'fleet/event', params: {} });
    await until(() => connection.state.kind === 'open');
    expect(states.map(({ kind }) => kind)).toEqual(['open', 'lost', 'open']);
  });

  it('a quiet daemon that answers pings is not lost', async () => {
    const { daemon, states } = await connected();
    await until(() => daemon.received.filter(({ method }) => method === 'ping').length >= 4);
    expect(states.map(({ kind }) => kind)).toEqual(['open']);
  });

  it('a daemon that ends fails the open requests at once, and the page connects to the next one', async () => {
    const { daemon, connection, port } = await connected();
    daemon.answer = () => undefined;
    const call = connection.request('fleet/call');
    await until(() => daemon.received.length > 0);
    await daemon.stop();
    await expect(call).rejects.toMatchObject({ type: 'ConnectionLostError' });
    await expect(connection.request('fleet/status')).rejects.toMatchObject({
      type: 'DaemonUnreachableError',
    });
    const next = await Daemon.start(port);
    ends.push(() => next.stop());
    await until(() => connection.state.kind === 'open');
    await expect(connection.request('fleet/status')).resolves.toEqual({});
  });
});
