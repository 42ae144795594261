import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Outcome } from '../../../src/shared/call-sink.js';
import { NOISE_MS } from '../../support/noise.js';
import { deferred, errorOf, open, remoteSpec, timed } from './support.js';
import {
  type Answer,
  answerJson,
  event,
  openStream,
  reply,
  saying,
  tinyHttp,
  tinySse,
  tinyWebsocket,
  unknown,
} from './tiny-server.js';

const MODERN = {
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: { listChanged: true } },
  resultType: 'complete',
};
const discover: Answer = ({ id }, response) => answerJson(response, reply(id, MODERN));

/** Answers every request with these bytes. */
async function parrot(answer: string): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).once('data', () => socket.write(answer));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as { port: number }).port}/mcp`;
}

describe.each(['http', 'sse'] as const)('a server over %s that answers', (transport) => {
  it('an answer with an unknown status is refused like any other', async () => {
    const url = await parrot('HTTP/1.1 999 Nope\r\ncontent-length: 0\r\n\r\n');
    const { ended } = open(remoteSpec(transport, url));
    expect(await ended).toMatchObject({ message: expect.stringContaining('HTTP 999') });
  });

  it('an answer in another protocol fails at once', async () => {
    const upgrade = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n';
    const { ended } = open(remoteSpec(transport, await parrot(upgrade)));
    const [ms, ending] = await timed(ended);
    expect(ending).toMatchObject({ kind: 'error', cause: 'lost' });
    expect(ms).toBeLessThan(1000 + NOISE_MS);
  });
});

describe('a hostile server', () => {
  it('cannot block the daemon with the text of its refusal', async () => {
    const tiny = await tinyHttp({
      on: { 'tools/call': (_message, response) => response.writeHead(500).end('<'.repeat(100_000)) },
    });
    const { tool } = open(remoteSpec('http', tiny.url));
    const [ms, error] = await timed(errorOf(tool('any')));
    expect(error).toMatchObject({ message: expect.stringContaining('HTTP 500') });
    expect(ms).toBeLessThan(1000 + NOISE_MS);
  });

  it('cannot fill the log with its refusals', async () => {
    const tiny = await tinyHttp({
      on: {
        'notifications/initialized': (_message, response) => response.writeHead(500).end('x'.repeat(1e6)),
      },
    });
    const { opened, logs, tool } = open(remoteSpec('http', tiny.url));
    await opened;
    await tool('any');
    const line = logs.find(({ text }) => text.includes('notifications/initialized'));
    expect(line?.text.length).toBeLessThan(500);
  });

  it.each([0, 3_000_000_000])('cannot make us open its stream without pause (retry: %i)', async (retry) => {
    let streams = 0;
    const tiny = await tinyHttp({
      on: {
        GET: (_message, response) => {
          streams += 1;
          openStream(response).end(`retry: ${retry}\n\n`);
        },
      },
    });
    const { opened } = open(remoteSpec('http', tiny.url));
    await opened;
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(streams).toBeLessThan(12);
  });

  it('that never ends the stream of an answered call does not keep its connection', async () => {
    const closed: Promise<unknown>[] = [];
    const tiny = await tinyHttp({
      on: {
        'tools/call': ({ id }, response) => {
          closed.push(once(response, 'close'));
          openStream(response).write(event(saying(id, 'there')));
        },
      },
    });
    const { tool } = open(remoteSpec('http', tiny.url));
    expect(await tool('any')).toBe('there');
    expect(await tool('any')).toBe('there');
    await Promise.all(closed);
  });

  it('that names an endpoint at another origin in the middle of a session loses the link', async () => {
    const tiny = await tinySse();
    const { opened, ended, tool } = open(remoteSpec('sse', tiny.url));
    await opened;
    await tool('any');
    tiny.stream?.write('event: endpoint\ndata: http://localhost:9/elsewhere\n\n');
    expect(await ended).toMatchObject({ kind: 'error', message: expect.stringContaining('another origin') });
  });

  it('that asks without end and takes no answer gets a bounded number of answers', async () => {
    let answers = 0;
    const tiny = await tinyHttp({ on: { POST: () => (answers += 1) } });
    const { opened, notified, tool } = open(remoteSpec('http', tiny.url));
    await opened;
    await tool('any');
    for (let id = 0; id < 1000; id += 1)
      tiny.stream?.write(event(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`));
    tiny.stream?.write(event('{"jsonrpc":"2.0","method":"notifications/over"}'));
    await notified('notifications/over');
    expect(await tool('any')).toBe('did any');
    expect(answers).toBeLessThanOrEqual(256);
  });

  it('that asks a thousand things at a time gets no answer', async () => {
    const inputRequests = Object.fromEntries(
      Array.from({ length: 1000 }, (_, nr) => [nr, { method: 'elicitation/create', params: {} }]),
    );
    const tiny = await tinyHttp({
      on: {
        'server/discover': discover,
        'subscriptions/listen': (_message, response) => openStream(response),
        'tools/call': ({ id }, response) =>
          answerJson(response, reply(id, { resultType: 'input_required', inputRequests })),
      },
    });
    const { opened, link } = open(remoteSpec('http', tiny.url));
    await opened;
    const asked: string[] = [];
    const outcome = deferred<Outcome>();
    const ask = async (method: string) => {
      asked.push(method);
      return { action: 'decline' };
    };
    const request = { method: 'tools/call', params: { name: 'any' } };
    link.session.send(request, { settle: outcome.resolve, ask });
    expect(await outcome.promise).toMatchObject({ ok: false, error: { type: 'MCPProtocolError' } });
    expect(asked).toEqual([]);
  });

  it('a WebSocket server whose pings are off cannot start them with a pong', async () => {
    const tiny = await tinyWebsocket();
    const { opened, tool } = open(
      remoteSpec('websocket', tiny.url, { ping: { intervalMs: 0, timeoutMs: 1000 } }),
    );
    await opened;
    let pings = 0;
    const [socket] = tiny.sockets;
    socket?.on('ping', () => (pings += 1)).pong();
    // each round trip gives a pong time to have an effect
    for (let round = 0; round < 20; round += 1) await tool('any');
    expect(pings).toBe(0);
  });

  it('that refuses a WebSocket with an endless body is still refused', async () => {
    const url = await parrot(`HTTP/1.1 403 No\r\ncontent-length: 99999999\r\n\r\n${'x'.repeat(400_000)}`);
    const { ended } = open(remoteSpec('websocket', url.replace('http', 'ws')));
    expect(await ended).toMatchObject({ cause: 'auth', message: expect.stringContaining('HTTP 403') });
  });

  it('cannot break a list with a schema that is too deep to search', async () => {
    const deep = `${'{"properties":{"a":'.repeat(20_000)}{}${'}}'.repeat(20_000)}`;
    const tools = `[{"name":"deep","inputSchema":${deep}},{"name":"flat","inputSchema":{}}]`;
    const tiny = await tinyHttp({
      on: {
        'server/discover': discover,
        'subscriptions/listen': (_message, response) => openStream(response),
        'tools/list': ({ id }, response) =>
          answerJson(response, `{"jsonrpc":"2.0","id":${id},"result":{"tools":${tools}}}`),
      },
    });
    const { opened, link } = open(remoteSpec('http', tiny.url, { requestTimeoutMs: 2000 }));
    await opened;
    expect(await link.list('tools/list')).toEqual([{ name: 'flat', inputSchema: {} }]);
  });
});

it('the stream of a call that is cancelled while it waits to be resumed is closed', async () => {
  const resumed: unknown[] = [];
  const left = deferred<void>();
  const tiny = await tinyHttp({
    on: {
      'tools/call': (_message, response) => {
        openStream(response).end('retry: 300\nid: event-1\ndata: \n\n');
        response.once('close', left.resolve);
      },
      GET: (_message, response, request) => {
        openStream(response);
        resumed.push(request.headers['last-event-id']);
      },
    },
  });
  const { opened, link } = open(remoteSpec('http', tiny.url));
  await opened;
  const stop = new AbortController();
  const call = errorOf(link.session.call('tools/call', { name: 'any' }, { signal: stop.signal }));
  await left.promise;
  await link.ping(1000);
  stop.abort();
  expect(await call).toMatchObject({ type: 'CancelledError' });
  await new Promise((resolve) => setTimeout(resolve, 600));
  expect(resumed).toEqual([undefined]);
  expect(link.session.state).toBe('open');
});

it('a call that is cancelled while its token is being fetched is never sent', async () => {
  const tiny = await tinyHttp();
  const fetching = deferred<void>();
  const fetched = deferred<void>();
  const { opened, link } = open(remoteSpec('http', tiny.url), {
    authorize: (send) => async (url, init) => {
      if (String(init?.body).includes('tools/call')) {
        fetching.resolve();
        await fetched.promise;
      }
      return send(url, init);
    },
  });
  await opened;
  const stop = new AbortController();
  const call = errorOf(link.session.call('tools/call', { name: 'any' }, { signal: stop.signal }));
  await fetching.promise;
  stop.abort();
  expect(await call).toMatchObject({ type: 'CancelledError' });
  fetched.resolve();
  await link.ping(1000);
  expect(tiny.methods()).not.toContain('tools/call');
});

it('an MCP 2026 server whose subscription stream is cut stays connected, and is subscribed to again', async () => {
  let listens = 0;
  const tiny = await tinyHttp({
    on: {
      'server/discover': discover,
      'subscriptions/listen': (_message, response) => {
        listens += 1;
        openStream(response).write(
          event('{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{}}'),
        );
        if (listens === 1) setTimeout(() => response.socket?.resetAndDestroy(), 100);
      },
      GET: ({ id }, response) => answerJson(response, unknown(id)),
    },
  });
  const { opened, notified, tool, endings } = open(remoteSpec('http', tiny.url));
  await opened;
  await notified('notifications/tools/list_changed');
  expect([await tool('any'), listens, endings]).toEqual(['did any', 2, []]);
});
