import { describe, expect, it } from 'vitest';
import type { FleetEvent } from '../../src/fleet/fleet.js';
import { MAX_LINE_BYTES } from '../../src/ipc/jsonrpc/peer.js';
import { RawClient, serve } from '../ipc/support.js';
import { until } from '../support/until.js';
import { servePage } from './served-page.js';

const ENTRY = { time: '2026-01-01T00:00:00.000Z', level: 'info', server: 'a', source: 'stderr' } as const;

const log = (message: string): FleetEvent => ({
  ...{ topic: 'log', server: 'a', incarnation: 1, logger: null, level: 'info' },
  ...{ message, at: '2026-01-01T00:00:00.000Z' },
});

describe('the WebSocket of the page', () => {
  it('is refused without the right Origin, Host, cookie and path', async () => {
    const { open, visit, host, address } = await servePage();
    const { path, cookie } = await visit();
    const other = await visit();
    const Origin = `http://${host}`;
    const table: [string, Record<string, string>, number][] = [
      [`${path}socket`, { Cookie: cookie }, 403],
      [`${path}socket`, { Cookie: cookie, Origin: 'http://evil.example' }, 403],
      [`${path}socket`, { Cookie: cookie, Origin: 'null' }, 403],
      [`${path}socket`, { Cookie: cookie, Origin: `https://${host}` }, 403],
      [`${path}socket`, { Cookie: cookie, Origin: `http://127.0.0.1:${address.port + 1}` }, 403],
      [`${path}socket`, { Cookie: cookie, Origin, Host: `evil.example:${address.port}` }, 403],
      [`${path}socket`, { Cookie: cookie, Origin, 'Sec-Fetch-Site': 'same-site' }, 403],
      [`${path}socket`, { Origin }, 403],
      [`${path}socket`, { Origin, Cookie: other.cookie }, 403],
      ['/ui/socket', { Origin, Cookie: cookie }, 403],
      [`${path}app.js`, { Origin, Cookie: cookie }, 404],
    ];
    const seen = [];
    for (const [at, headers] of table) seen.push([at, headers, await open(at, headers)]);
    expect(seen).toEqual(table);
    expect(await open(`${path}socket`, { Cookie: cookie, Origin })).toHaveProperty('socket');
  });

  it('carries what the socket carries: requests, errors, and events that were asked for', async () => {
    const { connect, fleet } = await servePage();
    const client = await connect();
    const hello = await client.request('fleet/hello', { client: { name: 'page', version: '1' } });
    expect(hello.result.api_version).toBe(1);
    expect((await client.request('fleet/status')).result.servers).toHaveLength(2);
    expect((await client.request('fleet/nothing')).error.code).toBe(-32601);
    expect((await client.request('fleet/subscribe', { topics: ['log'] })).result).toEqual({
      topics: ['log'],
    });
    fleet.tell(log('hello'));
    await until(() => client.notified('fleet/event').length === 1);
    expect(client.notified('fleet/event')).toEqual([log('hello')]);
  });

  it('has methods that no other connection has', async () => {
    const { connect, fleet } = await servePage();
    const client = await connect();
    expect((await client.request('page/config')).result).toMatchObject({ problems: [] });
    const { path } = await serve(fleet);
    const other = await RawClient.open(path);
    other.ask(1, 'page/config');
    expect((await other.take(1)).map((line) => JSON.parse(line).error.code)).toEqual([-32601]);
  });

  it('takes a message with line breaks as one message', async () => {
    const { connect } = await servePage();
    const client = await connect();
    client.socket.send(JSON.stringify({ jsonrpc: '2.0', id: 'x', method: 'ping' }, null, 2));
    await until(() => client.messages.find(({ id }) => id === 'x'));
    expect(client.messages).toHaveLength(1);
  });

  it('sends a large reply as one message', async () => {
    const { connect, fleet } = await servePage();
    const text = 'é'.repeat(2_000_000);
    fleet.logs = async () => [{ ...ENTRY, text }];
    const client = await connect();
    const { result } = await client.request('fleet/logs');
    // not `toBe`: a difference would be printed
    expect(result.entries[0].text === text).toBe(true);
    expect((await client.request('ping')).result).toBeDefined();
  });

  it('closes on a message over the limit, and on a binary one', async () => {
    const { connect } = await servePage();
    const [large, binary] = [await connect(), await connect()];
    large.socket.send('x'.repeat(MAX_LINE_BYTES + 1));
    binary.socket.send(Buffer.from('{}'));
    expect((await large.closed).code).toBe(1009);
    expect(await binary.closed).toEqual({ code: 1003, reason: 'a message is text' });
  });

  it('closes a connection whose browser does not answer', async () => {
    const { connect, visit, open, host, clock } = await servePage();
    const { path, cookie } = await visit();
    const headers = { Cookie: cookie, Origin: `http://${host}` };
    const silent = await open(`${path}socket`, headers, { autoPong: false });
    const well = await connect();
    if (typeof silent === 'number') throw new Error('refused');
    const pinged = Promise.all(
      [silent, well].map(({ socket }) => new Promise((resolve) => socket.once('ping', resolve))),
    );
    clock.advance(30_000);
    await pinged;
    await well.request('ping');
    clock.advance(30_000);
    expect((await silent.closed).code).toBe(1006);
    expect((await well.request('ping')).result).toBeDefined();
  });

  it('ends with the daemon, and says so', async () => {
    const { connect, page } = await servePage();
    const client = await connect();
    await page.close();
    expect(await client.closed).toEqual({ code: 1001, reason: 'the daemon ends' });
  });

  it('a thousand events a second arrive in order and complete', async () => {
    const { connect, fleet } = await servePage();
    const client = await connect();
    await client.request('fleet/subscribe', { topics: ['log'] });
    let sent = 0;
    const timer = setInterval(() => {
      for (let each = 0; each < 20; each += 1) fleet.tell(log(String(sent++)));
      if (sent >= 2000) clearInterval(timer);
    }, 20);
    await until(() => client.notified('fleet/event').length >= 2000);
    expect(client.notified('fleet/event').map(({ message }) => message)).toEqual(
      Array.from({ length: 2000 }, (_, at) => String(at)),
    );
    expect(client.notified('fleet/dropped')).toEqual([]);
  });

  it('a page that does not read loses events, and gets their number when it reads again', async () => {
    const { connect, fleet, server } = await servePage();
    const client = await connect();
    await client.request('fleet/subscribe', { topics: ['log'] });
    client.socket.pause();
    const total = 100_000;
    const text = 'x'.repeat(500);
    let most = 0;
    for (let sent = 0; sent < total; sent += 1) {
      fleet.tell(log(`${sent} ${text}`));
      if (sent % 1000 === 0) await new Promise(setImmediate);
      for (const { queued } of server.connections) most = Math.max(most, queued);
    }
    expect(most).toBeGreaterThan(2 ** 20);
    expect(most).toBeLessThan(1.1 * 2 ** 20);
    client.socket.resume();
    const dropped = () => client.notified('fleet/dropped').reduce((sum, { events }) => sum + events, 0);
    await until(() => client.notified('fleet/event').length + dropped() === total);
    expect(dropped()).toBeGreaterThan(total / 2);
    expect((await client.request('ping')).result).toBeDefined();
    fleet.tell(log('after'));
    await until(() => client.notified('fleet/event').at(-1)?.message === 'after');
  });
});
