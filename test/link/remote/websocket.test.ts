import { describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { NOISE_MS } from '../../support/noise.js';
import { deferred, errorOf, open, remoteSpec, timed } from './support.js';
import { type Request, saying, tcpProxy, tinyHttp, tinyWebsocket } from './tiny-server.js';

type Changes = Parameters<typeof remoteSpec>[2];
type Answers = Parameters<typeof tinyWebsocket>[0];

async function connect(on: Answers = {}, changes: Changes = {}) {
  const tiny = await tinyWebsocket(on);
  const one = open(remoteSpec('websocket', tiny.url, changes));
  await one.opened;
  return { ...one, tiny };
}

/** Takes calls and does not answer them. */
function unanswered() {
  const called = deferred<WebSocket>();
  const on = { 'tools/call': (_message: Request, socket: WebSocket) => called.resolve(socket) };
  return { called: called.promise, on };
}

describe('a WebSocket is opened', () => {
  it('the headers are sent, and mcp is its subprotocol', async () => {
    const { tiny, tool } = await connect({}, { headers: { 'X-Key': 'k-123456' } });
    expect(await tool('any')).toBe('did any');
    expect(tiny.headers).toMatchObject([{ 'x-key': 'k-123456', 'sec-websocket-protocol': 'mcp' }]);
  });

  it('a server without subprotocols is connected too', async () => {
    const tiny = await tinyWebsocket({}, { handleProtocols: () => false });
    const { opened, tool } = open(remoteSpec('websocket', tiny.url));
    await opened;
    expect(await tool('any')).toBe('did any');
  });

  it('a refused WebSocket is reported with its reason', async () => {
    const { url } = await tinyHttp({
      on: { GET: (_message, response) => response.writeHead(401).end('who?') },
    });
    const headers = { Authorization: 'Bearer s3cret-value' };
    const { ended } = open(remoteSpec('websocket', url.replace('http', 'ws'), { headers }));
    const ending = await ended;
    expect(ending).toMatchObject({
      kind: 'error',
      cause: 'auth',
      fix: "check the credentials in 'headers' of far",
    });
    expect(JSON.stringify(ending)).toContain('answered HTTP 401: who?');
    expect(JSON.stringify(ending)).not.toContain('s3cret-value');
  });
});

describe('a WebSocket that the server closes', () => {
  it('a proper close without calls is a goodbye', async () => {
    const { tiny, ended } = await connect();
    tiny.sockets[0]?.close(1000);
    expect(await ended).toEqual({ kind: 'disconnected', reason: 'ended', killed: false });
  });

  it('a close with a call in flight is a loss', async () => {
    const { called, on } = unanswered();
    const { tool, ended } = await connect(on);
    const call = errorOf(tool('any'));
    (await called).close(1000, 'bye');
    expect(await call).toMatchObject({ type: 'MCPConnectionError', sent: true });
    const ending = await ended;
    expect(ending).toMatchObject({ kind: 'error', cause: 'lost' });
    expect(JSON.stringify(ending)).toContain('closed the WebSocket with code 1000: bye');
  });

  it('U6: a cut is a loss', async () => {
    const { called, on } = unanswered();
    const { tool, ended } = await connect(on);
    const call = errorOf(tool('any'));
    (await called).terminate();
    const [ms, error] = await timed(call);
    expect(ms).toBeLessThan(1000 + NOISE_MS);
    expect(error).toMatchObject({ type: 'MCPConnectionError', sent: true });
    expect(await ended).toMatchObject({ kind: 'error', cause: 'lost' });
  });

  it('U6: a server that vanished without a close is noticed by the ping, also during a call', async () => {
    const { called, on } = unanswered();
    const tiny = await tinyWebsocket(on);
    const proxy = await tcpProxy(tiny.port);
    const ping = { intervalMs: 300, timeoutMs: 300 };
    const { opened, tool, ended } = open(remoteSpec('websocket', `ws://127.0.0.1:${proxy.port}/`, { ping }));
    await opened;
    const call = errorOf(tool('any'));
    await called;
    proxy.pull();
    const [ms, error] = await timed(call);
    expect(ms).toBeLessThan(600 + NOISE_MS);
    expect(error).toMatchObject({ sent: true });
    const ending = await ended;
    expect(ending).toMatchObject({ kind: 'error', cause: 'hung' });
    expect(JSON.stringify(ending)).toContain('did not answer a WebSocket ping in 0.3 s');
  });
});

describe('messages over a WebSocket', () => {
  it('max_message_bytes: a reply that is somewhat too large fails its call; the server lives', async () => {
    const { tool, link } = await connect(
      { 'tools/call': ({ id, params }, socket) => socket.send(saying(id, 'x'.repeat(Number(params?.name)))) },
      { maxMessageBytes: 100_000 },
    );
    expect(await errorOf(tool('150000'))).toMatchObject({ type: 'ResultTooLargeError', sent: true });
    expect(await tool('90000')).toHaveLength(90_000);
    expect(link.session.state).toBe('open');
  });

  it('more than twice max_message_bytes ends the connection with the reason', async () => {
    const { tool, ended } = await connect(
      { 'tools/call': ({ id }, socket) => socket.send(saying(id, 'x'.repeat(300_000))) },
      { maxMessageBytes: 100_000 },
    );
    expect(await errorOf(tool('huge'))).toMatchObject({ sent: true });
    const ending = await ended;
    expect(ending).toMatchObject({ kind: 'error', cause: 'protocol', looksMisconfigured: false });
    expect(JSON.stringify(ending)).toContain('max_message_bytes');
  });

  it('a server that does not read gets bounded input: calls wait, and can be cancelled unsent', async () => {
    const { tiny, link, tool } = await connect();
    await tool('any');
    const [socket] = tiny.sockets;
    socket?.pause();
    const text = 'x'.repeat(2 ** 20);
    const calls = Array.from({ length: 30 }, () =>
      link.session.call('tools/call', { name: 'any', arguments: { text } }),
    );
    expect(link.session.waiting).toBeGreaterThan(0);
    const controller = new AbortController();
    const late = errorOf(link.session.call('tools/call', { name: 'late' }, { signal: controller.signal }));
    controller.abort(new Error('enough'));
    expect(await late).toMatchObject({ type: 'CancelledError', sent: false });
    socket?.resume();
    await Promise.all(calls);
    expect(link.session.waiting).toBe(0);
  });

  it('close ends the WebSocket with status 1000', async () => {
    const { tiny, link, ended } = await connect();
    const closed = new Promise((resolve) => tiny.sockets[0]?.once('close', resolve));
    link.close();
    expect(await closed).toBe(1000);
    expect(await ended).toEqual({ kind: 'disconnected', reason: 'stopped', killed: false });
  });

  it('a server that does not answer the close is closed in two seconds, or at once at the kill step', async () => {
    const pulled = async () => {
      const tiny = await tinyWebsocket();
      const proxy = await tcpProxy(tiny.port);
      const one = open(remoteSpec('websocket', `ws://127.0.0.1:${proxy.port}/`));
      await one.opened;
      proxy.pull();
      one.link.close();
      return one;
    };
    const slow = await pulled();
    const [ms] = await timed(slow.ended);
    expect(ms).toBeGreaterThan(1900);
    expect(ms).toBeLessThan(2000 + NOISE_MS);
    const hurried = await pulled();
    hurried.link.close('kill');
    expect((await timed(hurried.ended))[0]).toBeLessThan(1900);
  });
});
