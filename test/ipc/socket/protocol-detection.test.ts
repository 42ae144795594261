import { describe, expect, it } from 'vitest';
import { until } from '../../support/until.js';
import { serveHttp } from '../http/served.js';
import { RawClient } from '../support.js';

const STATUS = '{"jsonrpc":"2.0","id":1,"method":"fleet/status"}\n';
const HEALTH = 'GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';

async function whole(client: RawClient): Promise<string> {
  await client.closed;
  return client.lines.join('\n');
}

describe('the protocol detection', () => {
  it.each(['GET', 'POST', 'DELETE', 'HEAD', 'OPTIONS', 'PUT', 'PATCH'])(
    'treats %s as HTTP',
    async (method) => {
      const { path } = await serveHttp();
      const client = await RawClient.open(path);
      await client.write(HEALTH.replace('GET', method));
      expect(await whole(client)).toMatch(/^HTTP\/1\.1 \d+ /);
    },
  );

  it.each([
    ['a message', STATUS],
    ['a message after an empty line', `\n${STATUS}`],
    ['a message after a word of HTTP in small letters', `get /\n${STATUS}`],
    ['a message after what only begins like HTTP', `GETTING\nPOS\nDELET\n${STATUS}`],
    ['a message after a method without a space', `GET\n${STATUS}`],
  ])('treats %s as JSON-RPC', async (_, text) => {
    const { path } = await serveHttp();
    const client = await RawClient.open(path);
    await client.write(text);
    const lines = await client.take(text.split('\n').filter(Boolean).length);
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ id: 1, result: { servers: [{}, {}] } });
  });

  it.each([
    ['HTTP', HEALTH, 'HTTP/1.1 200 OK'],
    ['a message', `GE${STATUS}${STATUS}`, '"servers":['],
  ])('loses no byte of %s that comes a byte at a time', async (_, text, found) => {
    const { path } = await serveHttp();
    const client = await RawClient.open(path);
    client.socket.setNoDelay(true);
    for (const byte of text) await client.write(byte);
    await until(() => client.lines.some((line) => line.includes(found)));
  });

  it('leaves a silent client undecided until it sends a byte', async () => {
    const { path, detection, server } = await serveHttp();
    const client = await RawClient.open(path);
    await until(() => detection.undecided === 1);
    expect(server.connections.size).toBe(0);
    client.ask(1, 'fleet/status');
    expect(await client.next()).toMatchObject({ id: 1 });
    expect([detection.undecided, server.connections.size]).toEqual([0, 1]);
  });

  it('answers a client that closed its writing side, and closes one that sent nothing useful', async () => {
    const { path, detection, server } = await serveHttp();
    const client = await RawClient.open(path, { allowHalfOpen: true });
    client.socket.end(STATUS);
    expect(await client.next()).toMatchObject({ id: 1 });
    const silent = await RawClient.open(path, { allowHalfOpen: true });
    silent.socket.end('GE');
    await Promise.all([client.closed, silent.closed]);
    await until(() => detection.undecided === 0 && server.connections.size === 0);
  });

  it('closes undecided connections when the daemon ends', async () => {
    const { path, detection } = await serveHttp();
    const client = await RawClient.open(path);
    await until(() => detection.undecided === 1);
    detection.close();
    await client.closed;
    expect(detection.undecided).toBe(0);
  });
});
