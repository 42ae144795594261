import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import {
  gaveUpStream,
  hasNoSubprotocol,
  refusalReason,
  refusedPost,
  unfollowedRedirect,
} from '../../../src/link/remote/library-messages.js';

const URL_HERE = new URL('http://127.0.0.1:9/mcp');
const ELSEWHERE = 'http://elsewhere.test/mcp';
const PING = { jsonrpc: '2.0', id: 1, method: 'ping' } as const;

const redirect = () => new Response(null, { status: 302, headers: { location: ELSEWHERE } });
const stream = (...events: string[]) =>
  new Response(events.join(''), { status: 200, headers: { 'content-type': 'text/event-stream' } });

const rejection = (promise: Promise<unknown>) =>
  promise.then(
    () => {
      throw new Error('it was expected to fail');
    },
    (error: Error) => error,
  );

describe('the streamable HTTP transport of the SDK', () => {
  it('reports that it gave up a stream', async () => {
    // the stream opens once and ends; every later try is refused
    const answers = [stream('id: 1\ndata: \n\n')];
    const transport = new StreamableHTTPClientTransport(URL_HERE, {
      fetch: async () => answers.pop() ?? new Response('', { status: 500 }),
      reconnectionOptions: {
        initialReconnectionDelay: 1,
        maxReconnectionDelay: 1,
        reconnectionDelayGrowFactor: 1,
        maxRetries: 1,
      },
      reconnectionScheduler: (reconnect) => void setImmediate(reconnect),
    });
    onTestFinished(() => transport.close());
    const gaveUp = new Promise<Error>((resolve) => {
      transport.onerror = (error) => gaveUpStream(error) && resolve(error);
    });
    await transport.start();
    await transport.resumeStream('0');
    expect((await gaveUp).message).toMatch(/^Maximum reconnection attempts/);
  });

  it('names the redirect that it did not follow after its first colon', async () => {
    const transport = new StreamableHTTPClientTransport(URL_HERE, { fetch: async () => redirect() });
    await transport.start();
    onTestFinished(() => transport.close());
    const error = await rejection(transport.send(PING));
    expect(refusalReason(error.message)).toMatch(/^Redirect to http:\/\/elsewhere\.test\/mcp not followed/);
  });
});

describe('the SSE transport of the SDK', () => {
  it('names the redirect that it did not follow when it opens its stream', async () => {
    const transport = new SSEClientTransport(URL_HERE, { fetch: async () => redirect() });
    onTestFinished(() => transport.close());
    const error = await rejection(transport.start());
    expect(unfollowedRedirect(error.message)).toMatch(
      /^Redirect to http:\/\/elsewhere\.test\/mcp not followed/,
    );
  });

  it('names status and redirect of a POST that was refused', async () => {
    const transport = new SSEClientTransport(URL_HERE, {
      fetch: async (_url, init) =>
        init?.method === 'POST'
          ? redirect()
          : new Response(
              new ReadableStream({
                start: (open) => open.enqueue(Buffer.from('event: endpoint\ndata: /post\n\n')),
              }),
              {
                status: 200,
                headers: { 'content-type': 'text/event-stream' },
              },
            ),
    });
    onTestFinished(() => transport.close());
    await transport.start();
    const error = await rejection(transport.send(PING));
    expect(refusedPost(error.message)).toEqual({
      status: 302,
      text: expect.stringMatching(/^Redirect to http:\/\/elsewhere\.test\/mcp not followed/),
    });
  });
});

it('ws reports that a server ignored the subprotocol', async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', handleProtocols: () => false });
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`, ['mcp']);
  onTestFinished(() => client.terminate());
  const [error] = (await once(client, 'error')) as [Error];
  expect(hasNoSubprotocol(error)).toBe(true);
});
