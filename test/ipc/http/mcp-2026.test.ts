import { describe, expect, it } from 'vitest';
import { until } from '../../support/until.js';
import { serveHttp } from './served.js';
import { HttpClient, type Json } from './support.js';

const VERSION = '2026-07-28';
const META = {
  'io.modelcontextprotocol/protocolVersion': VERSION,
  'io.modelcontextprotocol/clientCapabilities': {},
};
const CALL = { name: 'a__t', arguments: {}, _meta: META };
const request = (method: string, params: Json, id: Json = 1) => ({ jsonrpc: '2.0', id, method, params });
const headersOf = (method: string, name?: string) => ({
  'MCP-Protocol-Version': VERSION,
  'Mcp-Method': method,
  ...(name !== undefined && { 'Mcp-Name': name }),
});

describe('a POST of 2026-07-28', () => {
  it.each<[string, Json, Record<string, string>, number, number | undefined]>([
    ['with matching headers', {}, headersOf('tools/call', 'a__t'), 200, undefined],
    ['with a name in base64', {}, headersOf('tools/call', '=?base64?YV9fdA==?='), 200, undefined],
    ['with space around the name', {}, headersOf('tools/call', '  a__t  '), 200, undefined],
    ['without Mcp-Name', {}, headersOf('tools/call'), 400, -32020],
    ['with another name', {}, headersOf('tools/call', 'a__u'), 400, -32020],
    ['with a name that is no base64', {}, headersOf('tools/call', '=?base64?YV9fdA?='), 400, -32020],
    ['without Mcp-Method', {}, { 'MCP-Protocol-Version': VERSION, 'Mcp-Name': 'a__t' }, 400, -32020],
    ['with another method', {}, headersOf('tools/list', 'a__t'), 400, -32020],
    ['with another case', {}, headersOf('TOOLS/CALL', 'a__t'), 400, -32020],
    ['without a version in its header', {}, { 'Mcp-Method': 'tools/call', 'Mcp-Name': 'a__t' }, 400, -32020],
    ['without _meta', { _meta: undefined }, headersOf('tools/call', 'a__t'), 400, -32602],
    [
      'with half of _meta',
      { _meta: { ...META, 'io.modelcontextprotocol/clientCapabilities': undefined } },
      headersOf('tools/call', 'a__t'),
      400,
      -32602,
    ],
  ])('%s', async (_, change, headers, status, code) => {
    const { at, fleet, server, httpServer } = await serveHttp();
    const asked = new HttpClient(at).post(request('tools/call', { ...CALL, ...change }, 'x'), headers);
    if (status === 200) {
      await until(() => fleet.held.length === 1);
      fleet.held[0]?.answer({ content: [] });
    }
    const answer = await asked;
    expect([answer.status, answer.json().id, answer.json().error?.code]).toEqual([status, 'x', code]);
    await until(() => server.connections.size === 0);
    expect([httpServer.sessions, fleet.held.length]).toEqual([0, status === 200 ? 1 : 0]);
  });

  it.each([
    ['an unknown version', 'server/discover', 'v999', 400, -32022],
    ['an unknown method', 'unknown/method', VERSION, 404, -32601],
    ['a method of the older era', 'ping', VERSION, 404, -32601],
    ['the handshake', 'initialize', VERSION, 404, -32601],
  ])('a POST with %s is refused with the matching HTTP status', async (_, method, version, status, code) => {
    const { at } = await serveHttp();
    const meta = { ...META, 'io.modelcontextprotocol/protocolVersion': version };
    const headers = { ...headersOf(method), 'MCP-Protocol-Version': version };
    const answer = await new HttpClient(at).post(request(method, { _meta: meta }), headers);
    expect([answer.status, answer.json().error.code, answer.headers['mcp-session-id']]).toEqual([
      status,
      code,
      undefined,
    ]);
  });

  it.each<[string, Record<string, string>, number]>([
    ['as it is', { 'Mcp-Param-Region': 'west' }, 200],
    ['in base64', { 'mcp-param-region': '=?base64?d2VzdA==?=' }, 200],
    ['in broken base64', { 'Mcp-Param-Region': '=?base64?d2VzdA?=' }, 400],
    ['as another', { 'Mcp-Param-Region': 'east' }, 400],
    ['not at all', {}, 400],
  ])('needs an argument that the tool declares as header; given %s: %i', async (_, headers, status) => {
    const { at, fleet, server } = await serveHttp();
    const client = new HttpClient(at, '/s/a/mcp', { ...headersOf('tools/call', 't'), ...headers });
    const params = { name: 't', arguments: { region: 'west' }, _meta: META };
    const asked = client.post(request('tools/call', params, 'x'));
    if (status === 200) {
      await until(() => fleet.held.length === 1);
      fleet.held[0]?.answer({ content: [] });
    }
    const answer = await asked;
    expect([answer.status, answer.json().id, answer.json().error?.code]).toEqual(
      status === 200 ? [200, 'x', undefined] : [400, 'x', -32020],
    );
    await until(() => server.connections.size === 0);
  });

  it.each([
    ['this era', request('tools/list', { _meta: META }, 'x'), headersOf('tools/list')],
    ['the other', request('initialize', {}, 'x'), {}],
  ])('a POST for an unknown server is 404, in %s', async (_, message, headers) => {
    const { at, server, httpServer } = await serveHttp();
    const answer = await new HttpClient(at, '/s/absent/mcp', headers).post(message);
    expect([answer.status, answer.json()]).toMatchObject([
      404,
      { id: 'x', error: { code: 1020, data: { type: 'ServerNotFoundError' } } },
    ]);
    await until(() => server.connections.size === 0);
    expect(httpServer.sessions).toBe(0);
  });

  it('gets progress before its reply, on a stream that cannot be resumed', async () => {
    const { at, fleet, server } = await serveHttp();
    const client = new HttpClient(at, '/mcp', headersOf('tools/call', 'a__t'));
    const params = { ...CALL, _meta: { ...META, progressToken: 'p' } };
    const stream = client.stream('tools/call', params, 5);
    await until(() => fleet.held.length === 1);
    fleet.held[0]?.context.onProgress?.({ progress: 1 });
    const events = await stream;
    fleet.held[0]?.answer({ content: [] });
    await events.ended;
    expect(events.messages).toMatchObject([
      { params: { progress: 1, progressToken: 'p' } },
      { id: 5, result: {} },
    ]);
    expect(events.all.some(({ id }) => id !== undefined)).toBe(false);
    await until(() => server.connections.size === 0);
  });

  it('is cancelled when the client closes the response, and leaves no connection', async () => {
    const { at, fleet, server } = await serveHttp();
    const client = new HttpClient(at, '/mcp', headersOf('tools/call', 'a__t'));
    const stream = client.stream('tools/call', { ...CALL, _meta: { ...META, progressToken: 'p' } });
    await until(() => fleet.held.length === 1);
    fleet.held[0]?.context.onProgress?.({ progress: 1 });
    (await stream).response.destroy();
    await until(() => fleet.held[0]?.context.signal?.aborted);
    await until(() => server.connections.size === 0);
  });

  it('may have the same id as another', async () => {
    const { at, fleet } = await serveHttp();
    const client = new HttpClient(at, '/mcp', headersOf('tools/call', 'a__t'));
    const asked = [client.request('tools/call', CALL, 1), client.request('tools/call', CALL, 1)];
    await until(() => fleet.held.length === 2);
    for (const [index, { answer }] of fleet.held.entries()) answer({ content: [], index });
    const replies = await Promise.all(asked);
    expect(replies.map(({ result }) => result.index).sort()).toEqual([0, 1]);
  });
});
