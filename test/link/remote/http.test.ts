import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { NOISE_MS } from '../../support/noise.js';
import { deferred, errorOf, open, remoteSpec, timed } from './support.js';
import {
  answerJson,
  event,
  initialized,
  openStream,
  reply,
  saying,
  type TinyOptions,
  tinyHttp,
} from './tiny-server.js';

type Changes = Parameters<typeof remoteSpec>[2];

async function connect(options: TinyOptions = {}, changes: Changes = {}) {
  const tiny = await tinyHttp(options);
  const one = open(remoteSpec('http', tiny.url, changes));
  await one.opened;
  return { ...one, tiny };
}

describe('a call over HTTP without an answer', () => {
  it('a stream that ends without a reply fails that call at once, and no other', async () => {
    const { tool, link } = await connect({
      on: {
        'tools/call': (message, response) => {
          const isLost = message.params?.name === 'lost';
          if (isLost) openStream(response).end();
          else answerJson(response, saying(message.id, 'here'));
        },
      },
    });
    const [ms, error] = await timed(errorOf(tool('lost')));
    expect(error).toMatchObject({ type: 'MCPConnectionError', sent: true, retryable: false });
    expect(error.message).toMatch(
      /^far: no reply to tools\/call: http:\/\/127.0.0.1:\d+\/mcp ended the stream/,
    );
    expect(ms).toBeLessThan(1000 + NOISE_MS);
    expect(await tool('other')).toBe('here');
    expect(link.session.state).toBe('open');
  });

  it('a connection that breaks fails its own call only', async () => {
    const { tool, link } = await connect({
      on: {
        'tools/call': (message, response) => {
          if (message.params?.name === 'slow')
            setTimeout(() => answerJson(response, saying(message.id, 'done')), 500);
          else response.destroy();
        },
      },
    });
    const slow = tool('slow');
    const [ms, error] = await timed(errorOf(tool('cut')));
    expect(error).toMatchObject({ type: 'MCPConnectionError', sent: true });
    expect(ms).toBeLessThan(1000 + NOISE_MS);
    expect(await slow).toBe('done');
    expect(link.session.state).toBe('open');
  });

  it('a reply to another id does not answer the call', async () => {
    const { tool } = await connect({
      on: { 'tools/call': (_message, response) => answerJson(response, reply(7)) },
    });
    const [ms, error] = await timed(errorOf(tool('lost')));
    expect(error).toMatchObject({ type: 'MCPConnectionError', sent: true });
    expect(ms).toBeLessThan(1000 + NOISE_MS);
  });

  it('an HTTP error is reported with its first words, without secrets', async () => {
    const { tool } = await connect(
      {
        on: {
          'tools/call': (_message, response, request) =>
            response.writeHead(500).end(`<h1>Oh no</h1> bad token ${request.headers.authorization}`),
        },
      },
      { headers: { Authorization: 'Bearer s3cret-value' } },
    );
    const error = await errorOf(tool('any'));
    expect(error).toMatchObject({ type: 'MCPConnectionError', sent: true });
    expect(error.message).toContain('answered HTTP 500: Oh no bad token');
    expect(JSON.stringify(error) + error.message).not.toContain('s3cret-value');
  });

  it('a call that the server refuses as one too many was not sent, and may be repeated', async () => {
    const { tool } = await connect({
      on: { 'tools/call': (_message, response) => response.writeHead(429).end('slow down') },
    });
    expect(await errorOf(tool('any'))).toMatchObject({ sent: false, retryable: true });
  });

  it('a JSON-RPC error in the body of a refusal is the reply', async () => {
    const { tool } = await connect({
      on: {
        'tools/call': ({ id }, response) =>
          response
            .writeHead(400, { 'content-type': 'application/json' })
            .end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32602, message: 'no such thing' } })),
      },
    });
    expect(await errorOf(tool('any'))).toMatchObject({ type: 'MCPProtocolError', rpc: { code: -32602 } });
  });

  it('US6.3: sse_read_timeout: a stream that is silent for that long is lost, with its call', async () => {
    const { tool, link } = await connect(
      { on: { 'tools/call': (_message, response) => openStream(response) } },
      { sseReadTimeoutMs: 300 },
    );
    const [ms, error] = await timed(errorOf(tool('silent')));
    expect(error).toMatchObject({ type: 'MCPTimeoutError', sent: true });
    expect(error.message).toContain('sent nothing for 0.3 s');
    expect(ms).toBeGreaterThanOrEqual(299);
    expect(ms).toBeLessThan(300 + NOISE_MS);
    expect(link.session.state).toBe('open');
  });
});

describe('a stream that a server closes after an event id', () => {
  it('is resumed after the event: no crash, and the reply arrives', async () => {
    let callId: number | undefined;
    const { tool, tiny, link } = await connect({
      on: {
        'tools/call': (message, response) => {
          callId = message.id;
          openStream(response).end('retry: 50\nid: event-1\ndata: \n\n');
        },
        GET: (_message, response, request) => {
          const isResumed = request.headers['last-event-id'] === 'event-1';
          openStream(response);
          if (isResumed) response.end(event(saying(callId, 'resumed'), 'event-2'));
        },
      },
    });
    expect(await tool('polled')).toBe('resumed');
    expect(link.session.state).toBe('open');
    expect(tiny.seen.filter(({ headers }) => headers['last-event-id'] === 'event-1')).toHaveLength(1);
  });

  it('U6: when it was cut and the server is gone, the call fails within a second', async () => {
    const called = deferred<ServerResponse>();
    const { tool, tiny, ended } = await connect({
      on: {
        'tools/call': (_message, response) => {
          openStream(response).write('id: event-1\ndata: \n\n', () => called.resolve(response));
        },
      },
    });
    const call = errorOf(tool('polled'));
    await called.promise;
    const died = tiny.die();
    const [ms, error] = await timed(call);
    await died;
    expect(ms).toBeLessThan(1000 + NOISE_MS);
    expect(error).toMatchObject({ type: 'MCPConnectionError', sent: true });
    expect(await ended).toMatchObject({ kind: 'error', cause: 'lost' });
  });
});

describe('a session that the server has forgotten', () => {
  it.each([
    [404, 'Not Found'],
    [400, 'Bad Request: No valid session ID provided'],
  ])(
    'U6: HTTP %i ends the link, so that a fresh one introduces itself; the call was not taken',
    async (status, text) => {
      let isForgetful = true;
      const { tool, ended, tiny } = await connect({
        on: {
          'tools/call': ({ id }, response) => {
            if (isForgetful) response.writeHead(status).end(text);
            else answerJson(response, saying(id, 'here'));
          },
        },
      });
      const error = await errorOf(tool('any'));
      expect(error).toMatchObject({ type: 'MCPConnectionError', sent: false, retryable: true });
      expect(await ended).toMatchObject({ kind: 'error', cause: 'lost', looksMisconfigured: false });
      isForgetful = false;
      const fresh = open(remoteSpec('http', tiny.url));
      await fresh.opened;
      expect(await fresh.tool('any')).toBe('here');
    },
  );

  it('a 404 concerns only its call if there is no session', async () => {
    const { tool, link } = await connect({
      on: {
        initialize: ({ id }, response) => answerJson(response, reply(id, initialized())),
        'tools/call': (_message, response) => response.writeHead(404).end(),
      },
    });
    expect(await errorOf(tool('any'))).toMatchObject({ sent: false, retryable: false });
    expect(link.session.state).toBe('open');
  });
});

describe('a server that is gone', () => {
  it('U6: is noticed by the end of its stream of notifications, without any call', async () => {
    const { tiny, ended, tool } = await connect();
    await tool('any');
    await tiny.die();
    const [ms, ending] = await timed(ended);
    expect(ms).toBeLessThan(1000 + NOISE_MS);
    expect(ending).toMatchObject({ kind: 'error', cause: 'lost' });
    expect(JSON.stringify(ending)).toContain('nothing listens there (ECONNREFUSED)');
  });

  it('a ping detects a server that is gone, and does not wait for its timeout', async () => {
    const { tiny, link, ended, tool } = await connect({
      on: { GET: (_message, response) => response.writeHead(405).end() },
    });
    await tool('any');
    await tiny.die();
    const [ms, error] = await timed(errorOf(link.ping(20_000)));
    expect(error.type).toBe('MCPConnectionError');
    expect(ms).toBeLessThan(1000 + NOISE_MS);
    expect(await ended).toMatchObject({ kind: 'error', cause: 'lost' });
  });

  it('a call to a server that is gone was not sent', async () => {
    const { tiny, ended, tool } = await connect({
      on: { GET: (_message, response) => response.writeHead(405).end() },
    });
    await tool('any');
    await tiny.die();
    // one turn for the end of the idle connection to arrive: what is written to it before that counts as sent
    await sleep(100);
    expect(await errorOf(tool('late'))).toMatchObject({ sent: false, retryable: true });
    await ended;
  });

  it('a clean end of the stream of notifications is no crash: it is opened again', async () => {
    const again = deferred<void>();
    let streams = 0;
    const { tool, link, notified } = await connect({
      on: {
        GET: (_message, response) => {
          streams += 1;
          openStream(response);
          if (streams === 1) response.end(': goodbye\n\n');
          else {
            response.write(event('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'));
            again.resolve();
          }
        },
      },
    });
    await again.promise;
    await notified('notifications/tools/list_changed');
    expect(await tool('any')).toBe('did any');
    expect(link.session.state).toBe('open');
  });
});

describe('max_message_bytes over HTTP', () => {
  const big = (id: unknown) => saying(id, 'x'.repeat(200_000));
  it.each([
    ['as JSON', (id: unknown, response: ServerResponse) => answerJson(response, big(id))],
    [
      'in a stream',
      (id: unknown, response: ServerResponse) => openStream(response).end(event(big(id), 'e1')),
    ],
  ])('a reply that is too large, %s, fails its call; the server lives', async (_how, answer) => {
    const { tool, link, tiny } = await connect(
      {
        on: {
          'tools/call': (message, response) => {
            if (message.params?.name === 'big') answer(message.id, response);
            else openStream(response).end(event(saying(message.id, 'x'.repeat(90_000))));
          },
        },
      },
      { maxMessageBytes: 100_000 },
    );
    const error = await errorOf(tool('big'));
    expect(error).toMatchObject({ type: 'ResultTooLargeError', sent: true });
    expect(await tool('fits')).toHaveLength(90_000);
    expect(link.session.state).toBe('open');
    expect(tiny.seen.filter(({ headers }) => 'last-event-id' in headers)).toEqual([]);
  });
});

describe('a request over HTTP', () => {
  it('US6.2: has the headers, and after initialize the protocol version', async () => {
    const { tiny, tool, link, ended } = await connect({}, { headers: { 'X-Key': 'k-123456' } });
    await tool('any');
    link.close();
    await ended;
    expect(new Set(tiny.seen.map(({ method }) => method))).toEqual(new Set(['POST', 'GET', 'DELETE']));
    for (const { headers } of tiny.seen) {
      expect(headers['x-key']).toBe('k-123456');
      expect(Object.keys(headers).filter((name) => name.includes('toolherd'))).toEqual([]);
    }
    const after = tiny.seen.slice(tiny.methods().indexOf('initialize') + 1);
    for (const { headers } of after) {
      expect(headers).toMatchObject({ 'mcp-protocol-version': '2025-11-25', 'mcp-session-id': 'session-1' });
    }
  });

  it('never overtakes notifications/initialized', async () => {
    const order: string[] = [];
    const { tool } = await connect({
      on: {
        'notifications/initialized': (_message, response) => {
          setTimeout(() => {
            order.push('introduced');
            response.writeHead(202).end();
          }, 100);
        },
        'tools/call': ({ id }, response) => {
          order.push('called');
          answerJson(response, saying(id, ''));
        },
      },
    });
    await tool('any');
    expect(order).toEqual(['introduced', 'called']);
  });

  it('that is cancelled is cancelled at the server, and its stream is closed', async () => {
    const called = deferred<ServerResponse>();
    const { link, tiny } = await connect({
      on: { 'tools/call': (_message, response) => called.resolve(openStream(response)) },
    });
    const controller = new AbortController();
    const call = errorOf(link.session.call('tools/call', { name: 'long' }, { signal: controller.signal }));
    const response = await called.promise;
    const closed = once(response, 'close');
    controller.abort(new Error('enough'));
    expect(await call).toMatchObject({ type: 'CancelledError', sent: true });
    await closed;
    expect(tiny.methods()).toContain('notifications/cancelled');
  });

  it('a closed stream alone cancels a request in MCP 2026', async () => {
    const called = deferred<ServerResponse>();
    const { link, tiny } = await connect({
      on: {
        'server/discover': ({ id }, response) =>
          answerJson(response, reply(id, { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } })),
        'subscriptions/listen': (_message, response) => openStream(response),
        'tools/call': (_message, response) => called.resolve(openStream(response)),
      },
    });
    const controller = new AbortController();
    const call = errorOf(link.session.call('tools/call', { name: 'long' }, { signal: controller.signal }));
    const response = await called.promise;
    const closed = once(response, 'close');
    controller.abort(new Error('enough'));
    expect(await call).toMatchObject({ type: 'CancelledError', sent: true });
    await closed;
    expect(tiny.methods()).not.toContain('notifications/cancelled');
    expect(tiny.methods()).not.toContain('initialize');
    const { headers } = tiny.seen.find(({ message }) => message?.method === 'tools/call') ?? {};
    expect(headers).toMatchObject({
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'long',
    });
  });

  it('follows no redirect to another origin', async () => {
    const elsewhere = await tinyHttp();
    const tiny = await tinyHttp({
      on: Object.fromEntries(
        ['initialize', 'server/discover'].map((method) => [
          method,
          (_message: unknown, response: ServerResponse) =>
            response.writeHead(307, { location: `${elsewhere.url}?token=s3cret-value` }).end(),
        ]),
      ),
    });
    const { ended } = open(
      remoteSpec('http', tiny.url, { headers: { Authorization: 'Bearer s3cret-value' } }),
    );
    const ending = await ended;
    expect(ending).toMatchObject({ kind: 'error', cause: 'protocol', looksMisconfigured: true });
    expect(JSON.stringify(ending)).toContain(`Redirect to ${elsewhere.url} not followed`);
    expect(JSON.stringify(ending)).not.toContain('s3cret-value');
    expect(elsewhere.seen).toEqual([]);
  });
});

describe('terminate_on_close', () => {
  const deletes = (seen: { method: string; headers: Record<string, unknown> }[]) =>
    seen.filter(({ method }) => method === 'DELETE').map(({ headers }) => headers['mcp-session-id']);

  it('US8.2: the session is ended with DELETE, once', async () => {
    const { link, ended, tiny } = await connect();
    link.close();
    expect(await ended).toEqual({ kind: 'disconnected', reason: 'stopped', killed: false });
    expect(deletes(tiny.seen)).toEqual(['session-1']);
  });

  it('no DELETE is sent if it is false, or if there is no time', async () => {
    const { link, ended, tiny } = await connect({}, { terminateOnClose: false });
    link.close();
    await ended;
    expect(deletes(tiny.seen)).toEqual([]);
    const other = await connect();
    other.link.close('kill');
    await other.ended;
    expect(deletes(other.tiny.seen)).toEqual([]);
  });

  it('a server that refuses it is closed anyway', async () => {
    const { link, ended, logs } = await connect({
      on: { DELETE: (_message, response) => response.writeHead(405).end() },
    });
    link.close();
    expect(await ended).toMatchObject({ kind: 'disconnected' });
    expect(logs).toEqual([]);
  });

  it('a server that answers it with an error ends as a failed close, not as disconnected', async () => {
    const { link, ended, logs } = await connect({
      on: { DELETE: (_message, response) => response.writeHead(500).end('no') },
    });
    link.close();
    expect(await ended).toMatchObject({
      kind: 'error',
      cause: 'close',
      message: expect.stringMatching(/answered HTTP 500.*, when asked to end the session$/),
    });
    expect(logs.length).toBe(1);
    const gone = await connect({ on: { DELETE: (_message, response) => response.writeHead(404).end() } });
    gone.link.close();
    expect(await gone.ended).toMatchObject({ kind: 'disconnected' });
  });

  it('a server that does not answer it is waited for two seconds, or until the kill step', async () => {
    const { link, ended } = await connect({ on: { DELETE: () => undefined } });
    link.close();
    const [ms, ending] = await timed(ended);
    expect(ending).toMatchObject({ kind: 'disconnected' });
    expect(ms).toBeGreaterThan(1900);
    expect(ms).toBeLessThan(2000 + NOISE_MS);
    const other = await connect({ on: { DELETE: () => undefined } });
    other.link.close();
    other.link.close('kill');
    expect((await timed(other.ended))[0]).toBeLessThan(1900);
  });
});
