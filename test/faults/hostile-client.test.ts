import { describe, expect, it } from 'vitest';
import { RawClient } from '../ipc/support.js';
import { startHerd } from '../support/herd.js';
import { peakOf } from '../support/processes.js';
import { config, server } from './config.js';
import { measured, mebibytes } from './measured.js';

const MIB = 2 ** 20;
const PARSE = -32700;
const INVALID = -32600;
const UNKNOWN = -32601;
const PARAMS = -32602;

async function connectToHerd() {
  const herd = await startHerd(config([server('good', 'good.mjs')]));
  await herd.fleet.tools('good');
  const client = await RawClient.open(herd.home.socket);
  return { ...herd, client };
}

const nested = (open: string, close: string) => open.repeat(100_000) + close.repeat(100_000);
const request = (method: string, params = '{}', id = '1') =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`;
const everyByte = Buffer.from(Array.from({ length: 256 }, (_, at) => (at === 10 ? 0 : at)));

/** Each is one line, and is worth one error. */
const BAD: [what: string, line: string | Buffer, error: { code: number; message?: unknown }][] = [
  ['every byte there is', everyByte, { code: PARSE }],
  ['random bytes of a picture', Buffer.from('89504e470d1a001afffed8', 'hex'), { code: PARSE }],
  ['half a surrogate pair as bytes', Buffer.from('22eda08022', 'hex'), { code: PARSE }],
  ['a NUL', '\0', { code: PARSE }],
  ['words', 'hello?', { code: PARSE }],
  ['what is no JSON in JSON', '{"jsonrpc":"2.0","id":NaN}', { code: PARSE }],
  ['half a message', '{"jsonrpc":"2.0","id":1,', { code: PARSE }],
  ['deep lists', nested('[', ']'), { code: INVALID, message: expect.stringContaining('nested') }],
  ['deep objects', nested('{"a":', '}'), { code: INVALID, message: expect.stringContaining('nested') }],
  ['deep params', request('fleet/call', nested('[', ']')), { code: INVALID }],
  ['a depth that is never closed', '['.repeat(MIB), { code: INVALID }],
  ['a number', '7', { code: INVALID }],
  ['an empty batch', '[]', { code: INVALID }],
  ['a batch without end', `[${Array(10_001).fill('1').join()}]`, { code: INVALID }],
  ['a list as id', '{"jsonrpc":"2.0","id":[1],"method":"fleet/status"}', { code: INVALID }],
  ['another version', '{"jsonrpc":"1.0","id":1,"method":"fleet/status"}', { code: INVALID }],
  [
    'all of it in __proto__',
    '{"__proto__":{"jsonrpc":"2.0","id":1,"method":"fleet/status"}}',
    { code: INVALID },
  ],
  ['__proto__ as method', request('__proto__'), { code: UNKNOWN }],
  ['constructor as method', request('constructor'), { code: UNKNOWN }],
  ['toString as method', request('toString'), { code: UNKNOWN }],
  [
    'params in __proto__',
    request('fleet/call', '{"__proto__":{"server":"good","tool":"pid"}}'),
    { code: PARAMS },
  ],
  ['a topic that every object has', request('fleet/subscribe', '{"topics":["__proto__"]}'), { code: PARAMS }],
  ['params that are a number', request('fleet/status', '1e999'), { code: INVALID }],
];

describe('S8: a client that sends malformed lines', () => {
  it('gets one error for a line of a gigabyte, and the daemon does not grow', async () => {
    const { client, daemon } = await connectToHerd();
    const before = peakOf(daemon.pid);
    const chunk = Buffer.alloc(MIB, 'x');
    for (let sent = 0; sent < 1024; sent += 1) await client.write(chunk);
    await client.write(`\n${request('fleet/status')}\n`);
    expect(await client.next()).toMatchObject({
      id: null,
      error: { code: INVALID, message: expect.stringContaining('a line of more than 8388608 bytes') },
    });
    expect(await client.next()).toMatchObject({ id: 1, result: { servers: [{}] } });
    const grown = peakOf(daemon.pid) - before;
    measured(`S8: a gigabyte in one line, and the daemon grew by ${mebibytes(grown)}`);
    expect(grown).toBeLessThan(150 * MIB);
  }, 60_000);

  it('gets one clear error for each; the connection stays open, and the daemon does not grow', async () => {
    const { client, daemon } = await connectToHerd();
    const before = peakOf(daemon.pid);
    for (const [what, line, error] of BAD) {
      await client.write(Buffer.concat([Buffer.from(line), Buffer.from('\n')]));
      const reply = await client.next();
      expect([what, reply]).toMatchObject([what, { jsonrpc: '2.0', error }]);
      expect((reply.error as { message: string }).message.length).toBeGreaterThan(10);
    }
    expect(await client.answer('fleet/status')).toMatchObject({ result: { servers: [{ calls: 0 }] } });
    expect(client.lines).toEqual([]);
    const grown = peakOf(daemon.pid) - before;
    measured(`S8: ${BAD.length} bad lines, and the daemon grew by ${mebibytes(grown)}`);
    expect(grown).toBeLessThan(200 * MIB);
  });

  it('is served if the lines are valid: byte by byte, odd ids and names, half surrogates, a long batch', async () => {
    const { client } = await connectToHerd();
    for (const byte of Buffer.from(`${request('fleet/status', '{}', '"ä"')}\r\n`)) {
      await client.write(Buffer.from([byte]));
    }
    expect(await client.next()).toMatchObject({ id: 'ä', result: {} });

    for (const id of ['1e999', '1.5', '18446744073709551617', '"\\ud800"', 'null', '"__proto__"']) {
      await client.write(`${request('fleet/status', '{}', id)}\n`);
      const [line] = await client.take(1);
      expect(line).toContain(`"id":${id},"result"`);
    }

    const echo = (value: string) =>
      request(
        'fleet/call',
        `{"server":"good","tool":"echo","arguments":{"value":${value},"__proto__":{"x":1}}}`,
      );
    await client.write(`${echo('"\\ud800 __proto__"')}\n`);
    expect(await client.next()).toMatchObject({ result: { content: [{ text: '\ud800 __proto__' }] } });

    const ids = Array.from({ length: 10_000 }, (_, at) => String(at));
    await client.write(`[${ids.map((id) => request('nope', '{}', id)).join()}]\n`);
    const replies = (await client.next()) as unknown as { id: number; error: { code: number } }[];
    expect(replies.map(({ id }) => String(id))).toEqual(ids);
    expect(new Set(replies.map(({ error }) => error.code))).toEqual(new Set([UNKNOWN]));
    expect(await client.answer('fleet/call', { server: '__proto__', tool: 'x' })).toMatchObject({
      result: { error: { type: 'ServerNotFoundError' } },
    });
    expect(client.lines).toEqual([]);
  });
});
