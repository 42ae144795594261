import { connect, type NetConnectOpts } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { config, server } from '../faults/config.js';
import { counts, measured } from '../faults/measured.js';
import { HttpClient } from '../ipc/http/support.js';
import { isAlive, startHerd, until } from '../support/herd.js';
import { expectNoFault } from './faults.js';
import { cutInto, mutated } from './mutations.js';
import { livingRuns, PATIENCE_MS } from './runs.js';

const CALL = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'good__echo', arguments: { value: 'v' } },
};
const MODERN = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'f', version: '1' },
};

/** Every kind of request, with the headers of those who may come in at this door. */
function requestsOf(host: string, session: string, more: readonly string[] = []): string[] {
  const own = [`Host: ${host}`, ...more];
  const post = (path: string, body: string, ...headers: string[]) =>
    [
      `POST ${path} HTTP/1.1`,
      ...own,
      'Accept: application/json, text/event-stream',
      'Content-Type: application/json',
      ...headers,
      `Content-Length: ${Buffer.byteLength(body)}`,
      '',
      body,
    ].join('\r\n');
  const get = (line: string, ...headers: string[]) => [line, ...own, ...headers, '', ''].join('\r\n');
  const chunked = JSON.stringify(CALL);
  const modern = { ...CALL, params: { ...CALL.params, _meta: MODERN } };
  return [
    get('GET /health HTTP/1.1'),
    get('GET /metrics HTTP/1.1', 'Connection: close'),
    get('HEAD /health HTTP/1.0'),
    get('GET /mcp HTTP/1.1', 'Accept: text/event-stream', `Mcp-Session-Id: ${session}`, 'Last-Event-ID: 1-1'),
    get('DELETE /mcp HTTP/1.1', 'Mcp-Session-Id: none'),
    get('OPTIONS * HTTP/1.1', 'Expect: 100-continue'),
    get('GET /s/go%6fd/mcp?agent=%2Fnowhere HTTP/1.1', 'Upgrade: websocket', 'Connection: Upgrade'),
    post(
      '/mcp',
      JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'f', version: '1' } },
      }),
    ),
    post('/mcp', JSON.stringify(CALL), `Mcp-Session-Id: ${session}`, 'MCP-Protocol-Version: 2025-11-25'),
    post('/mcp', JSON.stringify([CALL, { ...CALL, id: 2 }]), `Mcp-Session-Id: ${session}`),
    post(
      '/s/good/mcp',
      JSON.stringify(modern),
      'MCP-Protocol-Version: 2026-07-28',
      'Mcp-Method: tools/call',
      'Mcp-Name: good__echo',
    ),
    post(
      '/mcp',
      JSON.stringify(modern),
      'MCP-Protocol-Version: 2026-07-28',
      'Mcp-Method: tools/call',
      'Mcp-Name: =?base64?Z29vZF9fZWNobw==?=',
    ),
    [
      'POST /mcp HTTP/1.1',
      ...own,
      'Content-Type: application/json',
      `Mcp-Session-Id: ${session}`,
      'Transfer-Encoding: chunked',
      '',
      `${chunked.length.toString(16)}`,
      chunked,
      '0',
      '',
      '',
    ].join('\r\n'),
  ];
}

/** Everything that is answered to these bytes, when nothing more comes and the daemon has ended it. */
async function answerTo(door: NetConnectOpts, pieces: readonly Buffer[]): Promise<string> {
  const socket = connect({ ...door, allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  let heard = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    heard += text;
  });
  const closed = new Promise<void>((resolve) =>
    socket.on('close', () => resolve()).on('error', () => undefined),
  );
  for (const piece of pieces)
    if (piece.length > 0) await new Promise((resolve) => socket.write(piece, resolve));
  socket.end();
  const hung = new Promise<'hung'>((resolve) => setTimeout(resolve, 15_000, 'hung').unref());
  expect(await Promise.race([closed, hung])).not.toBe('hung');
  return heard;
}

const statusesIn = (heard: string) =>
  [...heard.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));

async function startHttpHerd() {
  const herd = await startHerd(config([server('good', 'good.mjs')], { http: { listen: '127.0.0.1:0' } }));
  const client = new HttpClient({ socketPath: herd.home.socket });
  await client.initialize();
  const { daemon } = await herd.fleet.status();
  const port = Number(new URL(daemon.http?.url ?? '').port);
  const expectWell = async () => {
    expect(await herd.say('good', 'echo', { value: 'well' })).toBe('well');
    expect(isAlive(herd.daemon.pid)).toBe(true);
  };
  return { ...herd, session: client.session ?? '', port, expectWell };
}

/** How long each of these is depends on who reads it: behind a proxy that reads it otherwise, a request could be hidden. */
const AMBIGUOUS: [what: string, headers: string[], body?: string][] = [
  ['two lengths', ['Content-Length: 4', 'Content-Length: 60']],
  ['two lengths in one', ['Content-Length: 4, 60']],
  ['a length and chunks', ['Content-Length: 4', 'Transfer-Encoding: chunked']],
  ['chunks and a length', ['Transfer-Encoding: chunked', 'Content-Length: 4']],
  ['chunks that are none', ['Transfer-Encoding: xchunked']],
  ['chunks that are not the last', ['Transfer-Encoding: chunked, identity']],
  ['chunks twice', ['Transfer-Encoding: chunked', 'Transfer-Encoding: identity']],
  ['a space in front of the colon', ['Transfer-Encoding : chunked']],
  ['a folded header', ['Transfer-Encoding:\r\n chunked']],
  ['a bare line feed', ['Content-Length: 4\nTransfer-Encoding: chunked']],
  ['a sign', ['Content-Length: +4']],
  ['hexadecimal', ['Content-Length: 0x4']],
  ['a NUL', ['Content-Length: 4\0']],
  ['chunks with a sign', ['Transfer-Encoding: chunked'], '+4\r\n{}  \r\n0\r\n\r\n'],
  ['chunks with bare line feeds', ['Transfer-Encoding: chunked'], '4\n{}  \n0\n\n'],
];

describe('L3: any HTTP input', () => {
  it(
    'input on the socket is answered and ends, without a fault of toolherd',
    async () => {
      const { home, session, expectWell, status } = await startHttpHerd();
      const seen = new Map<number, number>();
      await fc.assert(
        fc.asyncProperty(
          mutated(requestsOf('x', session), 0),
          fc.array(fc.nat(), { maxLength: 3 }),
          async (bytes, cuts) => {
            const heard = await answerTo({ path: home.socket }, cutInto(bytes, cuts));
            for (const code of statusesIn(heard)) seen.set(code, (seen.get(code) ?? 0) + 1);
            expect(statusesIn(heard)).not.toContain(500);
          },
        ),
        livingRuns(70, 20_000),
      );
      await expectWell();
      expectNoFault(home);
      measured(`L3: answers to mutated HTTP by their status: ${counts(seen)}`);
      for (const code of [200, 400, 404]) expect(seen.get(code) ?? 0, String(code)).toBeGreaterThan(1);
      await until(async () => (await status('good')).in_flight === 0);
    },
    PATIENCE_MS,
  );

  it(
    'input on a port without the token reaches no server',
    async () => {
      const { home, session, port, expectWell, status } = await startHttpHerd();
      const { calls } = await status('good');
      const guesses = [
        'Authorization: Bearer x',
        'Authorization: Basic Og==',
        'Cookie: token=x',
        `Origin: http://127.0.0.1:${port}`,
      ];
      const requests = guesses.flatMap((guess) => requestsOf(`127.0.0.1:${port}`, session, [guess]));
      await fc.assert(
        fc.asyncProperty(mutated(requests, 0), fc.array(fc.nat(), { maxLength: 3 }), async (bytes, cuts) => {
          const heard = await answerTo({ host: '127.0.0.1', port }, cutInto(bytes, cuts));
          for (const code of statusesIn(heard))
            expect([100, 400, 401, 403, 408, 413, 417, 431]).toContain(code);
        }),
        livingRuns(70, 20_000),
      );
      expect((await status('good')).calls).toBe(calls);
      await expectWell();
      expectNoFault(home);
    },
    PATIENCE_MS,
  );

  it('that two parsers could read in two ways is refused', async () => {
    const { home } = await startHttpHerd();
    const hidden = 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n';
    for (const [what, headers, body = '4\r\n{}  \r\n0\r\n\r\n'] of AMBIGUOUS) {
      const lines = ['POST /mcp HTTP/1.1', 'Host: x', 'Content-Type: application/json', ...headers, ''];
      const text = [...lines, body + hidden].join('\r\n');
      const heard = await answerTo({ path: home.socket }, [Buffer.from(text, 'latin1')]);
      expect([what, ...statusesIn(heard)]).toEqual([what, 400]);
    }
  });
});
