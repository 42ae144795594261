import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { SseSpec } from '../../../src/config/fields/spec.js';
import type { TransportFailure } from '../../../src/link/failures/transport-failure.js';
import { SseTransport } from '../../../src/link/remote/sse-transport.js';
import { systemClock } from '../../../src/shared/clock.js';
import { NOISE_MS } from '../../support/noise.js';
import { until } from '../../support/until.js';
import { deferred, errorOf, open, remoteSpec, timed } from './support.js';
import { type Answer, event, openStream, saying, type TinyOptions, tinySse } from './tiny-server.js';

type Changes = Parameters<typeof remoteSpec>[2];

async function connect(options: TinyOptions = {}, changes: Changes = {}) {
  const tiny = await tinySse(options);
  const one = open(remoteSpec('sse', tiny.url, changes));
  await one.opened;
  return { ...one, tiny };
}

/** Takes calls and does not answer them. */
function unanswered() {
  const called = deferred<void>();
  const answer: Answer = (_message, response) => {
    response.writeHead(202).end();
    called.resolve();
  };
  return { called: called.promise, on: { 'tools/call': answer } };
}

describe('the stream of an SSE server', () => {
  it('U6: when it is cut, calls fail at once, and the link ends: the SDK does not connect again', async () => {
    const { called, on } = unanswered();
    const { tool, tiny, ended, endings } = await connect({ on });
    const call = errorOf(tool('any'));
    await called;
    tiny.stream?.destroy();
    const [ms, error] = await timed(call);
    expect(ms).toBeLessThan(1000 + NOISE_MS);
    expect(error).toMatchObject({ type: 'MCPConnectionError', sent: true });
    expect(await ended).toMatchObject({ kind: 'error', cause: 'lost', looksMisconfigured: false });
    // the event source of the SDK would be back after three seconds
    await sleep(3500);
    expect(tiny.seen.filter(({ method }) => method === 'GET')).toHaveLength(1);
    expect(endings).toHaveLength(1);
  });

  it('its proper end is a goodbye without calls in flight, and a loss with one', async () => {
    const { tiny, ended } = await connect();
    tiny.stream?.end();
    expect(await ended).toEqual({ kind: 'disconnected', reason: 'ended', killed: false });

    const { called, on } = unanswered();
    const other = await connect({ on });
    const call = errorOf(other.tool('any'));
    await called;
    other.tiny.stream?.end();
    expect(await call).toMatchObject({ sent: true });
    expect(await other.ended).toMatchObject({ kind: 'error', cause: 'lost' });
  });

  it('US6.3: sse_read_timeout: it may be silent for ever, but not while a call waits', async () => {
    const { called, on } = unanswered();
    const { tool, ended, endings } = await connect({ on }, { sseReadTimeoutMs: 400 });
    await sleep(1000);
    expect(endings).toEqual([]);
    const call = errorOf(tool('any'));
    const began = performance.now();
    await called;
    expect(await call).toMatchObject({ type: 'MCPTimeoutError', sent: true });
    expect(performance.now() - began).toBeGreaterThanOrEqual(390);
    expect(await ended).toMatchObject({ kind: 'error', cause: 'hung' });
  });

  it('max_message_bytes: a reply that is too large fails its call; the server lives', async () => {
    const { tool, link } = await connect(
      {
        on: {
          'tools/call': (message, response) => {
            response.writeHead(202).end();
            const size = message.params?.name === 'big' ? 200_000 : 90_000;
            tinyOf().write(event(saying(message.id, 'x'.repeat(size))));
          },
          GET: (_message, response) => {
            stream = openStream(response);
            response.write('event: endpoint\ndata: /message\n\n');
          },
          initialize: (message, response) => {
            response.writeHead(202).end();
            const result = { protocolVersion: '2025-06-18', serverInfo: {}, capabilities: {} };
            const serverInfo = { name: 'tiny', version: '1' };
            tinyOf().write(
              event(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: { ...result, serverInfo } })),
            );
          },
          'server/discover': (message, response) => {
            response.writeHead(202).end();
            const error = { code: -32601, message: 'Method not found' };
            tinyOf().write(event(JSON.stringify({ jsonrpc: '2.0', id: message.id, error })));
          },
        },
      },
      { maxMessageBytes: 100_000 },
    );
    expect(await errorOf(tool('big'))).toMatchObject({ type: 'ResultTooLargeError', sent: true });
    expect(await tool('fits')).toHaveLength(90_000);
    expect(link.session.state).toBe('open');
  });

  let stream: ReturnType<typeof openStream> | undefined;
  const tinyOf = () => stream as ReturnType<typeof openStream>;
});

describe('a POST to an SSE server', () => {
  it('US6.2: has the headers of the stream', async () => {
    const { tiny, tool } = await connect({}, { headers: { 'X-Key': 'k-123456' } });
    await tool('any');
    expect(tiny.seen.map(({ method }) => method)).toContain('GET');
    for (const { headers } of tiny.seen) expect(headers['x-key']).toBe('k-123456');
  });

  it('U6: answered with 404 means that the session has ended: the call was not taken, and the link ends', async () => {
    const { tool, ended } = await connect({
      on: { 'tools/call': (_message, response) => response.writeHead(404).end('no such session') },
    });
    expect(await errorOf(tool('any'))).toMatchObject({ sent: false, retryable: true });
    expect(await ended).toMatchObject({ kind: 'error', cause: 'lost', looksMisconfigured: false });
  });

  it('FR-023: that is refused with Retry-After affects its own request only', async () => {
    const refused = new Map<string, ServerResponse>();
    const refuse =
      (headers: Record<string, string>): Answer =>
      ({ method }, response) => {
        response.writeHead(503, headers).write('busy');
        refused.set(method, response);
      };
    const tiny = await tinySse({ on: { early: refuse({ 'retry-after': '7' }), late: refuse({}) } });
    const lost = new Map<number, TransportFailure>();
    const ignored = () => undefined;
    const carrier = new SseTransport(remoteSpec('sse', tiny.url) as SseSpec, {
      clock: systemClock,
      isBusy: () => true,
      on: {
        ...{ line: ignored, message: ignored, oversized: ignored, received: ignored, drained: ignored },
        ...{ doubtful: ignored, broke: ignored, goodbye: ignored, log: ignored },
        lost: (id, trouble) => void lost.set(id, trouble),
      },
    });
    onTestFinished(() => carrier.close());
    await carrier.dial();
    for (const [at, method] of ['early', 'ping', 'late'].entries()) {
      carrier.write(JSON.stringify({ jsonrpc: '2.0', id: at + 1, method }));
      await until(() => tiny.methods().includes(method));
    }
    await until(() => refused.size === 2);
    // what the transport makes of a refusal, it makes when the body is whole
    await sleep(100);
    for (const response of refused.values()) response.end();
    await until(() => lost.size === 2);
    expect(Object.fromEntries(lost)).toEqual({
      1: { kind: 'refused', status: 503, text: 'busy', retryAfterMs: 7000 },
      3: { kind: 'refused', status: 503, text: 'busy' },
    });
  });

  it('that is refused otherwise fails its own call only', async () => {
    const { tool, link } = await connect({
      on: { 'tools/call': (_message, response) => response.writeHead(500).end('oh no') },
    });
    const error = await errorOf(tool('any'));
    expect(error).toMatchObject({ type: 'MCPConnectionError', sent: true });
    expect(error.message).toContain('answered HTTP 500: oh no');
    expect(link.session.state).toBe('open');
  });
});

describe('an SSE server that cannot be dialled', () => {
  const endingOf = async (GET: Answer) => open(remoteSpec('sse', (await tinySse({ on: { GET } })).url)).ended;

  it('a server that wants credentials is an auth error with a fix', async () => {
    const ending = await endingOf((_message, response) => response.writeHead(401).end());
    expect(ending).toMatchObject({
      kind: 'error',
      cause: 'auth',
      fix: "check the credentials in 'headers' of far",
    });
  });

  it('a missing path is a protocol error that looks misconfigured', async () => {
    const ending = await endingOf((_message, response) => response.writeHead(404).end());
    expect(ending).toMatchObject({ kind: 'error', cause: 'protocol', looksMisconfigured: true });
  });

  it('a server that is no SSE server is a protocol error that looks misconfigured', async () => {
    const ending = await endingOf((_message, response) => response.writeHead(200).end('<html>'));
    expect(ending).toMatchObject({ kind: 'error', cause: 'protocol', looksMisconfigured: true });
  });

  it('a stream without an endpoint is a loss if it breaks, and a protocol error if it ends', async () => {
    const cut = await endingOf((_message, response) => openStream(response).destroy());
    expect(cut).toMatchObject({ kind: 'error', cause: 'lost' });
    const ended = await endingOf((_message, response) => openStream(response).end());
    expect(ended).toMatchObject({ kind: 'error', cause: 'protocol' });
  });

  it('an endpoint at another origin is a protocol error that says so', async () => {
    const ending = await endingOf((_message, response) =>
      openStream(response).write('event: endpoint\ndata: http://127.0.0.1:9/message\n\n'),
    );
    expect(ending).toMatchObject({ kind: 'error', cause: 'protocol' });
    expect(JSON.stringify(ending)).toContain('an endpoint at another origin');
  });
});
