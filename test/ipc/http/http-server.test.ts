import { describe, expect, it } from 'vitest';

import { MAX_BODY_BYTES } from '../../../src/ipc/http/request-body.js';
import { until } from '../../support/until.js';

import { RawClient } from '../support.js';
import { serveHttp } from './served.js';
import { ask, BOTH, begin, Events, HttpClient, type Json } from './support.js';

const PING = { jsonrpc: '2.0', id: 7, method: 'ping' };
const CALL = { name: 'a__t', arguments: {} };

async function open(version?: string) {
  const served = await serveHttp();
  const client = new HttpClient(served.at);
  await client.initialize(version);
  return { ...served, client };
}

describe('HTTP on the socket', () => {
  it('/health and /metrics answer a GET and a HEAD', async () => {
    const { at } = await serveHttp();
    const health = await ask(at, '/health');
    expect([health.status, health.headers['content-type']]).toEqual([200, 'application/json']);
    expect(health.json()).toMatchObject({ status: 'ok', servers: { total: 2, idle: 2, quarantined: 0 } });
    const metrics = await ask(at, '/metrics?x=1');
    expect(metrics.headers['content-type']).toContain('version=0.0.4');
    expect(metrics.text).toContain('\ntoolherd_up 1\n');
    expect((await ask(at, '/health', { method: 'HEAD' })).text).toBe('');
  });

  it.each([
    ['GET', '/', 404],
    ['GET', '/s/a', 404],
    ['GET', '/s/%zz/mcp', 404],
    ['POST', '/health', 405],
    ['DELETE', '/metrics', 405],
    ['OPTIONS', '/mcp', 405],
    ['PUT', '/mcp', 405],
    ['PATCH', '/s/a/mcp', 405],
  ])('%s %s is %i without CORS headers', async (method, path, status) => {
    const { at } = await serveHttp();
    const answer = await ask(at, path, { method, headers: { 'Access-Control-Request-Method': 'POST' } });
    expect([answer.status, answer.json().jsonrpc]).toEqual([status, '2.0']);
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  it('a request with an Origin header is refused', async () => {
    const { at } = await serveHttp();
    const answer = await ask(at, '/health', { headers: { Origin: 'http://localhost' } });
    expect([answer.status, answer.json().error.message]).toEqual([403, expect.stringContaining('Origin')]);
  });

  it.each<[string, Json, Record<string, string>, number, number]>([
    ['no JSON', '{', {}, 400, -32700],
    ['no message', '{"a":1}', {}, 400, -32600],
    ['an empty batch', '[]', {}, 400, -32600],
    ['the id null', { ...PING, id: null }, {}, 400, -32600],
    ['a method of the herd', { ...PING, method: 'fleet/shutdown' }, {}, 404, -32601],
    ['no session', PING, {}, 400, -32000],
    ['an unknown session', PING, { 'Mcp-Session-Id': 'x' }, 404, -32001],
    ['an unknown version', PING, { 'MCP-Protocol-Version': '1999-01-01' }, 400, -32000],
    ['a form', PING, { 'Content-Type': 'application/x-www-form-urlencoded' }, 415, -32000],
    ['text', PING, { 'Content-Type': 'text/plain' }, 415, -32000],
    ['an Accept header without events', PING, { Accept: 'application/json' }, 406, -32000],
    ['an Accept header without JSON', PING, { Accept: 'text/event-stream' }, 406, -32000],
  ])('a POST with %s is refused', async (_, body, headers, status, code) => {
    const { at, fleet, httpServer } = await serveHttp();
    const answer = await new HttpClient(at).post(body, headers);
    expect([answer.status, answer.json().error.code]).toEqual([status, code]);
    expect([fleet.heard, httpServer.sessions]).toEqual([[], 0]);
  });

  it('a body over the limit is refused, with and without Content-Length, and the next request is served', async () => {
    const { at } = await serveHttp();
    const client = new HttpClient(at);
    const huge = JSON.stringify({ ...PING, params: { x: 'x'.repeat(MAX_BODY_BYTES) } });
    expect((await client.post(huge)).status).toBe(413);
    expect((await client.post(huge, { 'Transfer-Encoding': 'chunked' })).status).toBe(413);
    expect((await client.initialize()).status).toBe(200);
  });

  it('a body may have several lines, and ids of any size return unchanged', async () => {
    const { client } = await open();
    const id = '1763276400123456789';
    const text = `{\r\n  "jsonrpc": "2.0",\n  "id": ${id},\n  "method": "ping"\n}\n`;
    expect((await client.post(text)).text).toBe(`{"jsonrpc":"2.0","id":${id},"result":{}}`);
  });

  it('a GET needs a session and Accept: text/event-stream, and only one stream is open at a time', async () => {
    const { at, client } = await open();
    const get = (headers: Record<string, string>) => ask(at, '/mcp', { headers });
    const session = { 'Mcp-Session-Id': client.session ?? '' };
    expect((await get({ Accept: 'text/event-stream' })).status).toBe(400);
    expect((await get({ Accept: 'application/json', ...session })).status).toBe(406);
    expect((await get({ Accept: BOTH, 'Mcp-Session-Id': 'x' })).status).toBe(404);
    const first = await client.listen();
    expect(first.response.statusCode).toBe(200);
    expect((await client.listen()).response.statusCode).toBe(409);
  });

  it('a session is known only at the path that created it', async () => {
    const { at, client } = await open();
    const elsewhere = new HttpClient(at, '/s/a/mcp', { 'Mcp-Session-Id': client.session });
    expect((await elsewhere.post(PING)).status).toBe(404);
    expect((await elsewhere.end()).status).toBe(404);
    expect((await client.post(PING)).status).toBe(200);
  });

  it('a failed initialize creates no session', async () => {
    const { at, httpServer, server } = await serveHttp();
    const client = new HttpClient(at);
    const answer = await client.post({ ...PING, method: 'initialize', params: { protocolVersion: 7 } });
    expect(answer.json().error.code).toBe(-32602);
    expect(answer.headers['mcp-session-id']).toBeUndefined();
    await until(() => httpServer.sessions === 0 && server.connections.size === 0);
  });

  it('a session for an agent file or one server is refused with 503 while the daemon ends', async () => {
    const { at, server } = await serveHttp();
    server.announce({ reason: 'shutdown' });
    for (const path of ['/mcp?agent=%2Fa%2Fagent.yaml', '/s/a/mcp', '/s/absent/mcp']) {
      const client = new HttpClient(at, path);
      const { status, text } = await client.initialize();
      expect({ path, status, session: client.session }).toEqual({ path, status: 503, session: undefined });
      expect(text).toContain('the daemon ends');
    }
    expect((await new HttpClient(at).initialize()).status).toBe(200);
  });

  it('a second request with an id in use is refused, and the first is served', async () => {
    const { client, fleet } = await open();
    const first = client.request('tools/call', CALL, 'same');
    await until(() => fleet.held.length === 1);
    const second = await client.post({ jsonrpc: '2.0', id: 'same', method: 'ping' });
    expect([second.status, second.json().error.code]).toEqual([400, -32600]);
    fleet.held[0]?.answer({ content: [] });
    expect(await first).toMatchObject({ id: 'same', result: { content: [] } });
  });

  it.each([
    ['2025-03-26', 200],
    ['2025-11-25', 400],
  ])('a batch of a client of %s gets %i', async (version, status) => {
    const { client } = await open(version);
    const batch = JSON.stringify([PING, { ...PING, id: 8 }, { jsonrpc: '2.0', method: 'notifications/x' }]);
    const response = await begin(client.address, client.path, client.posting(batch));
    expect(response.statusCode).toBe(status);
    if (status !== 200) return;
    const events = new Events(response);
    await events.ended;
    expect(events.messages).toEqual([7, 8].map((id) => ({ jsonrpc: '2.0', id, result: {} })));
  });

  it('messages of a request arrive on its stream, all others on the stream of the GET', async () => {
    const { client, fleet } = await open();
    const general = await client.listen();
    const params = (token: unknown) => ({ ...CALL, _meta: { progressToken: token } });
    const streams = [client.stream('tools/call', params('t')), client.stream('tools/call', params(1))];
    await until(() => fleet.held.length === 2);
    const ofToken = (token: unknown) =>
      fleet.held.find(({ params }) => (params.params._meta as Json).progressToken === token);
    ofToken(1)?.context.onProgress?.({ progress: 5 });
    ofToken('t')?.context.onProgress?.({ progress: 6 });
    const [text, number] = await Promise.all(streams);
    const at = new Date(0).toISOString();
    fleet.tell({
      topic: 'catalog',
      server: 'a',
      list: 'tools',
      count: 1,
      added: [],
      removed: [],
      changed: [],
      at,
    });
    for (const held of fleet.held) held.answer({ content: [] });
    await Promise.all([text?.ended, number?.ended]);
    const seen = (events: Events | undefined) =>
      events?.messages.map(({ method, params }) => params?.progress ?? method ?? 'reply');
    expect([seen(text), seen(number)]).toEqual([
      [6, 'reply'],
      [5, 'reply'],
    ]);
    await until(() => general.messages.length === 1);
    expect(general.messages).toEqual([{ jsonrpc: '2.0', method: 'notifications/tools/list_changed' }]);
  });

  it('a question of a server arrives on the stream of its call, and the client posts the answer', async () => {
    const { at, fleet } = await serveHttp();
    const client = new HttpClient(at);
    await client.initialize('2025-11-25', { sampling: {} });
    const general = await client.listen();
    const call = client.stream('tools/call', CALL, 'c');
    await until(() => fleet.held.length === 1);
    const { context, answer } = fleet.held[0]!;
    const asked = context.onRequest?.(
      'sampling/createMessage',
      { maxTokens: 1 },
      new AbortController().signal,
    );
    const events = await call;
    await until(() => events.messages.length === 1);
    const [{ id, method }] = events.messages as [Json];
    expect(method).toBe('sampling/createMessage');
    expect((await client.post({ jsonrpc: '2.0', id, result: { model: 'm' } })).status).toBe(202);
    expect(await asked).toEqual({ model: 'm' });
    answer({ content: [] });
    await events.ended;
    expect([events.messages.at(-1).id, general.messages]).toEqual(['c', []]);
  });

  it('messages without an open stream are sent on the next one, once', async () => {
    const { client, fleet } = await open();
    const at = new Date(0).toISOString();
    fleet.tell({
      topic: 'catalog',
      server: 'a',
      list: 'tools',
      count: 1,
      added: [],
      removed: [],
      changed: [],
      at,
    });
    await client.request('ping');
    const first = await client.listen();
    await until(() => first.messages.length === 1);
    first.response.destroy();
    const again = await client.listen();
    await client.request('ping');
    expect(again.messages).toEqual([]);
  });

  it("two sessions with the same ids and tokens never get each other's messages", async () => {
    const { at, client: one, fleet } = await open();
    const other = new HttpClient(at);
    await other.initialize();
    expect(other.session).not.toBe(one.session);
    const params = (name: string) => ({ name, _meta: { progressToken: 0 } });
    const streams = [
      one.stream('tools/call', params('a__one'), 1),
      other.stream('tools/call', params('a__other'), 1),
    ];
    await until(() => fleet.held.length === 2);
    for (const { params, context, answer } of fleet.held) {
      context.onProgress?.({ progress: 1, message: params.params.name });
      answer({ content: [], name: params.params.name });
    }
    for (const [index, name] of ['a__one', 'a__other'].entries()) {
      const events = await streams[index];
      await events?.ended;
      expect(events?.messages).toEqual([
        {
          jsonrpc: '2.0',
          method: 'notifications/progress',
          params: { progress: 1, message: name, progressToken: 0 },
        },
        { jsonrpc: '2.0', id: 1, result: { content: [], name } },
      ]);
    }
  });

  it('DELETE ends a session: its calls are cancelled, its streams end, and its id is unknown', async () => {
    const { client, fleet, httpServer, server } = await open();
    const general = await client.listen();
    const call = client.stream('tools/call', CALL);
    await until(() => fleet.held.length === 1);
    expect((await client.end()).status).toBe(204);
    expect(fleet.held[0]?.context.signal?.aborted).toBe(true);
    await Promise.all([general.ended, (await call).ended]);
    expect((await client.post(PING)).status).toBe(404);
    expect([httpServer.sessions, server.connections.size, fleet.listeners]).toEqual([0, 0, 0]);
  });

  it('a cancelled request gets no reply, and its response ends', async () => {
    const { client, fleet } = await open();
    const call = client.stream('tools/call', CALL, 'c');
    await until(() => fleet.held.length === 1);
    const params = { requestId: 'c' };
    const answer = await client.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
    expect(answer.status).toBe(202);
    const events = await call;
    await events.ended;
    expect([events.messages, fleet.held[0]?.context.signal?.aborted]).toEqual([[], true]);
  });

  it('a client that reconnects gets the rest of its stream, and nothing twice', async () => {
    const { client, fleet } = await open();
    const call = client.stream('tools/call', { ...CALL, _meta: { progressToken: 1 } }, 'c');
    await until(() => fleet.held.length === 1);
    const { context, answer } = fleet.held[0]!;
    context.onProgress?.({ progress: 1 });
    const events = await call;
    await until(() => events.messages.length === 1);
    const last = events.all.at(-1)?.id;
    events.response.destroy();
    await events.ended;
    context.onProgress?.({ progress: 2 });
    const resumed = await client.listen(last);
    await until(() => resumed.messages.length === 1);
    expect(context.signal?.aborted).toBe(false);
    answer({ content: [] });
    await resumed.ended;
    expect(resumed.messages).toMatchObject([{ params: { progress: 2 } }, { id: 'c', result: {} }]);
    const again = await client.listen(last);
    await again.ended;
    expect(again.messages).toEqual(resumed.messages);
    const after = await client.listen(resumed.all.at(-1)?.id);
    expect(after.response.statusCode).toBe(400);
    expect((await client.listen('nonsense')).response.statusCode).toBe(400);
    expect((await client.listen('99-1')).response.statusCode).toBe(400);
  });

  it('a call is cancelled when its client leaves before the stream could be resumed', async () => {
    const { path, client, fleet, httpServer } = await open();
    const raw = await RawClient.open(path);
    const { headers = {}, body = '' } = client.posting({ ...PING, method: 'tools/call', params: CALL });
    const lines = Object.entries({ Host: 'x', ...headers, 'Content-Length': body.length });
    raw.socket.write(
      `POST /mcp HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`,
    );
    await until(() => fleet.held.length === 1);
    raw.socket.destroy();
    await until(() => fleet.held[0]?.context.signal?.aborted);
    expect(httpServer.sessions).toBe(1);
  });

  it('a slow reply becomes a stream that can be resumed, and is cancelled when the client does not resume it', async () => {
    const { at, fleet, httpServer, clock } = await serveHttp();
    const client = new HttpClient(at);
    await client.initialize();
    const call = client.stream('tools/call', CALL);
    await until(() => fleet.held.length === 1);
    clock.advance(1000);
    const events = await call;
    await until(() => events.all.length === 1);
    expect(events.all).toEqual([{ id: expect.any(String), data: '' }]);
    clock.advance(15_000);
    events.response.destroy();
    await until(async () => {
      clock.advance(10_000);
      await client.request('ping');
      return fleet.held[0]?.context.signal?.aborted;
    });
    expect(httpServer.sessions).toBe(1);
  });

  it('an idle session is closed after 30 minutes, a session with an open stream is not', async () => {
    const { at, httpServer, server, clock } = await serveHttp();
    const [idle, listening] = [new HttpClient(at), new HttpClient(at)];
    await idle.initialize();
    await listening.initialize();
    await listening.listen();
    clock.advance(29 * 60_000);
    expect(httpServer.sessions).toBe(2);
    clock.advance(3 * 60_000);
    expect(httpServer.sessions).toBe(1);
    await until(() => server.connections.size === 1);
    expect((await idle.post(PING)).status).toBe(404);
    expect((await listening.post(PING)).status).toBe(200);
  });

  it('the 257th session closes the one that was idle for longest', async () => {
    const { at, httpServer, server } = await serveHttp();
    const first = new HttpClient(at);
    await first.initialize();
    for (let count = 0; count < 256; count += 1)
      await new HttpClient(at).post({ ...PING, method: 'initialize' });
    expect(httpServer.sessions).toBe(256);
    expect((await first.post(PING)).status).toBe(404);
    await until(() => server.connections.size === 256);
  });
});
