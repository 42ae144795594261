import { readFileSync } from 'node:fs';
import { type OutgoingHttpHeaders, request } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import * as modern from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CreateMessageRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { config, server } from '../../faults/config.js';
import { startHerd, until } from '../../support/herd.js';
import type { Json } from './support.js';

const INFO = { name: 'test', version: '1' };
const SERVERS = [server('good', 'good.mjs'), server('my questions', 'questions.mjs')];

/** `fetch` over a Unix socket. */
function fetchOn(socketPath: string): typeof fetch {
  return (input, init = {}) =>
    new Promise((resolve, reject) => {
      const { pathname, search } = new URL(String(input));
      const headers = Object.fromEntries(new Headers(init.headers)) as OutgoingHttpHeaders;
      const path = pathname + search;
      const { method = 'GET', signal } = init;
      const sent = request({ socketPath, path, method, headers, agent: false }, (response) => {
        const status = response.statusCode ?? 0;
        const body = status === 204 ? null : (Readable.toWeb(response) as ReadableStream);
        resolve(new Response(body, { status, headers: response.headers as Record<string, string> }));
      });
      sent.on('error', reject);
      signal?.addEventListener('abort', () => sent.destroy());
      sent.end(init.body as string | undefined);
    });
}

const textOf = (result: Json): string => result.content[0].text;

describe('the official client with a handshake, over the socket', () => {
  async function connect(socket: string, path: string) {
    const transport = new StreamableHTTPClientTransport(new URL(`http://localhost${path}`), {
      fetch: fetchOn(socket),
    });
    const client = new Client(INFO, { capabilities: { sampling: {} } });
    await client.connect(transport as Parameters<Client['connect']>[0]);
    onTestFinished(() => client.close());
    return { client, transport };
  }

  it('lists, calls, gets progress, answers a question and ends its session', async () => {
    const { home } = await startHerd(config(SERVERS));
    const { client, transport } = await connect(home.socket, '/mcp');
    client.setRequestHandler(CreateMessageRequestSchema, async ({ params }) => ({
      role: 'assistant',
      model: 'none',
      content: { type: 'text', text: JSON.stringify(params.maxTokens) },
    }));
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['good__echo', 'my-questions__ask']),
    );
    expect(textOf(await client.callTool({ name: 'good__echo', arguments: { value: 'hi' } }))).toBe('hi');
    const progress: number[] = [];
    await client.callTool({ name: 'good__progress', arguments: { times: 3 } }, undefined, {
      onprogress: (one) => progress.push(one.progress),
    });
    expect(progress).toEqual([1, 2, 3]);
    const params = { messages: [{ role: 'user', content: { type: 'text', text: 'x' } }], maxTokens: 42 };
    const asked = await client.callTool({
      name: 'my-questions__ask',
      arguments: { method: 'sampling/createMessage', params },
    });
    expect(JSON.parse(textOf(asked)).result.content.text).toBe('42');
    const session = transport.sessionId;
    await transport.terminateSession();
    const late = await fetchOn(home.socket)('http://localhost/mcp', {
      method: 'DELETE',
      headers: { 'Mcp-Session-Id': session ?? '' },
    });
    expect(late.status).toBe(404);
  });

  it('sees one server under its own names at /s/NAME/mcp', async () => {
    const { home } = await startHerd(config(SERVERS));
    const { client } = await connect(home.socket, '/s/my%20questions/mcp');
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['ask', 'abandon', 'later', 'wait', 'answer', 'hello']);
    await expect(connect(home.socket, '/s/absent/mcp')).rejects.toThrow(/absent/);
  });

  it('cancels a call at the server', async () => {
    const { home, status } = await startHerd(config(SERVERS));
    const { client } = await connect(home.socket, '/mcp');
    const controller = new AbortController();
    const call = client.callTool({ name: 'good__wait', arguments: {} }, undefined, {
      signal: controller.signal,
    });
    await until(async () => (await status('good')).in_flight === 1);
    controller.abort('enough');
    await expect(call).rejects.toThrow('enough');
    await until(async () => (await status('good')).in_flight === 0);
  });
});

describe('the official client of both eras, over a port', () => {
  async function start() {
    const { home, fleet, status } = await startHerd(config(SERVERS, { http: { listen: '127.0.0.1:0' } }));
    const { url } = (await fleet.status()).daemon.http ?? {};
    const token = readFileSync(join(home.folder, 'state', 'http-token'), 'utf8').trim();
    return { url: `${url}/mcp`, headers: { Authorization: `Bearer ${token}` }, status };
  }

  async function connect({ url, headers }: { url: string; headers: Record<string, string> }, mode: Json) {
    const transport = new modern.StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
    const client = new modern.Client(INFO, {
      capabilities: { sampling: {} },
      ...(mode && { versionNegotiation: { mode } }),
    });
    client.setRequestHandler('sampling/createMessage', async ({ params }) => ({
      role: 'assistant',
      model: 'none',
      content: { type: 'text', text: JSON.stringify(params.maxTokens) },
    }));
    await client.connect(transport);
    onTestFinished(() => client.close());
    return client;
  }

  it.each([
    ['with a handshake', 'legacy', '2025-11-25'],
    ['without a handshake', 'auto', '2026-07-28'],
  ])('%s it lists, calls, gets progress and answers a question', async (_, mode, version) => {
    const client = await connect(await start(), mode);
    expect(client.getNegotiatedProtocolVersion()).toBe(version);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('good__echo');
    expect(textOf(await client.callTool({ name: 'good__echo', arguments: { value: 'hi' } }))).toBe('hi');
    const progress: number[] = [];
    const onprogress = (one: { progress: number }) => void progress.push(one.progress);
    await client.callTool({ name: 'good__progress', arguments: { times: 3 } }, { onprogress });
    expect(progress).toEqual([1, 2, 3]);
    const params = { messages: [{ role: 'user', content: { type: 'text', text: 'x' } }], maxTokens: 42 };
    const asked = await client.callTool({
      name: 'my-questions__ask',
      arguments: { method: 'sampling/createMessage', params },
    });
    expect(JSON.parse(textOf(asked)).result.content.text).toBe('42');
  });

  it('the client without a handshake cancels a call at the server by closing the response', async () => {
    const herd = await start();
    const client = await connect(herd, 'auto');
    const controller = new AbortController();
    const call = client.callTool({ name: 'good__wait', arguments: {} }, { signal: controller.signal });
    await until(async () => (await herd.status('good')).in_flight === 1);
    controller.abort('enough');
    await expect(call).rejects.toThrow();
    await until(async () => (await herd.status('good')).in_flight === 0);
  });

  it('is not served without the token', async () => {
    const { url } = await start();
    await expect(connect({ url, headers: {} }, 'legacy')).rejects.toThrow();
  });
});
