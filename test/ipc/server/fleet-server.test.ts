import { describe, expect, it } from 'vitest';
import type { Peer } from '../../../src/ipc/jsonrpc/peer.js';
import { METHODS } from '../../../src/ipc/server/fleet-methods.js';
import { VERSION } from '../../../src/shared/version.js';
import { FakeFleet, resultOf, stateEvent } from '../fake-fleet.js';
import { later, RawClient, serve } from '../support.js';

async function serveFake() {
  const fleet = new FakeFleet();
  const { path, ...rest } = await serve(fleet);
  return { fleet, path, ...rest, client: await RawClient.open(path) };
}

describe('the methods of the socket', () => {
  it('are complete: this is the list', () => {
    expect(new Set(Object.keys(METHODS))).toEqual(
      new Set([
        'fleet/hello',
        'fleet/status',
        'fleet/history',
        'fleet/agents',
        'fleet/audit',
        'fleet/start',
        'fleet/stop',
        'fleet/restart',
        'fleet/reset',
        'fleet/tools',
        'fleet/prompts',
        'fleet/resources',
        'fleet/search',
        'fleet/profiles',
        'fleet/prompt',
        'fleet/resource',
        'fleet/request',
        'fleet/call',
        'fleet/call_many',
        'fleet/broadcast',
        'fleet/subscribe',
        'fleet/unsubscribe',
        'fleet/inspect',
        'fleet/pins',
        'fleet/outdated',
        'fleet/update',
        'fleet/authorize',
        'fleet/logout',
        'fleet/cluster',
        'fleet/cluster_drain',
        'fleet/cluster_undrain',
        'fleet/ui',
        'fleet/reload',
        'fleet/logs',
        'fleet/register',
        'fleet/unregister',
        'fleet/metrics',
        'fleet/shutdown',
      ]),
    );
  });

  it('hello names the daemon, and refuses an agent file that is no path', async () => {
    const { client } = await serveFake();
    const hello = { client: { name: 'test', version: '1' } };
    expect((await client.answer('fleet/hello', hello)).result).toEqual({
      daemon: {
        version: VERSION,
        pid: process.pid,
        started_at: expect.stringMatching(/^\d{4}-.*Z$/),
        closing: null,
      },
      api_version: 1,
      agent: null,
    });
    expect((await client.answer('fleet/hello')).result).toMatchObject({ api_version: 1 });
    const { error } = await client.answer('fleet/hello', { ...hello, agent: 'x' });
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining("'agent'") });
  });

  it.each([
    ['fleet/status', undefined, ['status', undefined], { servers: [{ name: 'a' }, { name: 'b' }] }],
    ['fleet/status', { servers: ['b'] }, ['status', ['b']], { servers: [{ name: 'b' }] }],
    [
      'fleet/history',
      { servers: ['b'], minutes: 5 },
      ['history', { servers: ['b'], minutes: 5 }],
      { minute_ms: 60_000 },
    ],
    ['fleet/agents', {}, ['agents', { agent: null, profile: null, caller: 'connection 1' }], { agents: [] }],
    [
      'fleet/audit',
      { tool: 't', outcome: 'failed', limit: 3 },
      ['audit', expect.objectContaining({ tool: 't', outcome: 'failed', limit: 3 }), expect.anything()],
      { calls: [], next: null },
    ],
    [
      'fleet/start',
      { servers: ['a'] },
      ['start', { servers: ['a'] }, undefined],
      { servers: [{ name: 'a' }] },
    ],
    ['fleet/stop', { all: true, wait: true }, ['stop', { all: true }, true], { servers: [{}, {}] }],
    ['fleet/restart', { servers: [] }, ['restart', { servers: [] }, undefined], { servers: [] }],
    ['fleet/reset', { all: true, wait: false }, ['reset', { all: true }, false], { servers: [{}, {}] }],
    ['fleet/tools', {}, ['tools', undefined, undefined], { tools: [{ exposed_name: 'a__t' }] }],
    ['fleet/prompts', { server: 'a' }, ['prompts', 'a', undefined], { prompts: [{ exposed_name: 'a__p' }] }],
    [
      'fleet/resources',
      { refresh: true },
      ['resources', undefined, true],
      { resources: [{}], templates: [{}] },
    ],
    ['fleet/tools', { server: 'a', refresh: true }, ['tools', 'a', true], { tools: [{}] }],
    [
      'fleet/search',
      { query: 'read a file', limit: 3, server: 'a' },
      ['search', { query: 'read a file', limit: 3, server: 'a' }],
      { tools: [], missing: [], hints: ['nothing'] },
    ],
    ['fleet/inspect', { server: 'a' }, ['inspect', 'a'], { server: 'a', journal: [] }],
    ['fleet/reload', { dry_run: true }, ['reload', true], { added: ['x'], unchanged: ['a'] }],
    ['fleet/shutdown', { grace_ms: 0 }, ['shutdown', 0], { stopped: ['a'], killed: ['b'] }],
  ])('%s %j calls the fleet with these arguments', async (method, params, heard, result) => {
    const { fleet, client } = await serveFake();
    expect((await client.answer(method, params)).result).toMatchObject(result);
    expect(fleet.heard).toEqual([heard]);
  });

  it.each([
    ['fleet/status', [1], "'params' must be an object"],
    ['fleet/status', { servers: 'a' }, "'servers'"],
    ['fleet/status', { servers: ['a', 1] }, "'servers[1]'"],
    ['fleet/start', {}, "'servers'"],
    ['fleet/start', { all: false }, "'servers'"],
    ['fleet/start', { all: true, servers: ['a'] }, "'servers' and 'all'"],
    ['fleet/stop', { all: 'yes' }, "'all'"],
    ['fleet/restart', { all: true, wait: 1 }, "'wait'"],
    ['fleet/tools', { server: '' }, "'server'"],
    ['fleet/tools', { refresh: 'no' }, "'refresh'"],
    ['fleet/search', { query: '' }, "'query'"],
    ['fleet/search', { query: 'x', limit: 0 }, "'limit'"],
    ['fleet/inspect', {}, "'server'"],
    ['fleet/prompt', { server: 'a' }, "'name'"],
    ['fleet/resource', { server: 'a', uri: '' }, "'uri'"],
    ['fleet/call', { server: 'a' }, "'tool'"],
    ['fleet/call', { server: 3, tool: 't' }, "'server'"],
    ['fleet/call', { server: 'a', tool: 't', arguments: [] }, "'arguments'"],
    ['fleet/call', { server: 'a', tool: 't', timeout_ms: 0 }, "'timeout_ms'"],
    ['fleet/call', { server: 'a', tool: 't', request_id: 5 }, "'request_id'"],
    ['fleet/call', { server: 'a', tool: 't', _meta: { progressToken: {} } }, "'_meta.progressToken'"],
    ['fleet/subscribe', {}, "'topics'"],
    ['fleet/subscribe', { topics: ['state', 'gossip'] }, "'topics[1]' is 'gossip'; known are: state"],
    ['fleet/reload', { dry_run: 1 }, "'dry_run'"],
    ['fleet/shutdown', { grace_ms: -1 }, "'grace_ms'"],
    ['fleet/hello', { client: 'me' }, "'client'"],
  ])('%s %j is -32602 and names the field', async (method, params, message) => {
    const { fleet, client } = await serveFake();
    const { error } = await client.answer(method, params);
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining(message) });
    expect(fleet.heard).toEqual([]);
  });
});

describe('a call', () => {
  it('passes its arguments unchanged, `__proto__` included (S8)', async () => {
    const { fleet, client } = await serveFake();
    const line = '{"server":"a","tool":"t","arguments":{"__proto__":{"x":1},"constructor":2},"timeout_ms":5}';
    await client.write(`{"jsonrpc":"2.0","id":1,"method":"fleet/call","params":${line}}\n`);
    expect((await client.next()).result).toMatchObject({ success: true });
    const [, params] = fleet.heard[0] as [string, { arguments: object }];
    expect(params).toMatchObject({ server: 'a', tool: 't', timeout_ms: 5 });
    expect(JSON.stringify(params.arguments)).toBe('{"__proto__":{"x":1},"constructor":2}');
  });

  it("sends progress under its caller's token, until the reply", async () => {
    const { fleet, client } = await serveFake();
    let late = (_progress: object) => undefined as unknown;
    fleet.onCall = async (params, { onProgress }) => {
      onProgress?.({ progress: 1, progressToken: 'of the server' });
      late = (progress) => onProgress?.(progress as Record<string, unknown>);
      return resultOf(params, 'done');
    };
    const params = { server: 'a', tool: 't', _meta: { progressToken: 'mine' } };
    client.ask(1, 'fleet/call', params);
    expect(await client.next()).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progress: 1, progressToken: 'mine' },
    });
    expect(await client.next()).toMatchObject({ id: 1 });
    late({ progress: 2 });
    client.ask(2, 'fleet/call', { server: 'a', tool: 't' });
    expect(await client.next()).toMatchObject({ id: 2 });
  });

  it("that is cancelled is answered with the fleet's result", async () => {
    const { fleet, client } = await serveFake();
    const begun = later();
    fleet.onCall = (params, { onCancel }) => {
      begun.resolve();
      return new Promise((resolve) => onCancel?.(() => resolve({ ...resultOf(params, ''), success: false })));
    };
    client.ask(1, 'fleet/call', { server: 'a', tool: 't' });
    await begun.promise;
    client.send({ jsonrpc: '2.0', method: '$/cancel', params: { id: 1 } });
    expect(await client.next()).toMatchObject({ id: 1, result: { success: false } });
  });

  it('(any other request) that is cancelled is answered at once', async () => {
    const { fleet, client } = await serveFake();
    const begun = later();
    fleet.start = () => {
      begun.resolve();
      return new Promise(() => undefined);
    };
    client.ask(1, 'fleet/start', { all: true, wait: true });
    await begun.promise;
    client.send({ jsonrpc: '2.0', method: '$/cancel', params: { id: 1 } });
    expect(await client.next()).toMatchObject({
      id: 1,
      error: { code: 1032, data: { type: 'CancelledError' } },
    });
  });
});

describe('a subscription', () => {
  it('sends the events of its topics and servers, until it ends', async () => {
    const { fleet, client } = await serveFake();
    expect((await client.answer('fleet/subscribe', { topics: ['state'], servers: ['b'] })).result).toEqual({
      topics: ['state'],
    });
    fleet.tell(stateEvent('a'));
    fleet.tell(stateEvent('b'));
    expect(await client.next()).toEqual({ jsonrpc: '2.0', method: 'fleet/event', params: stateEvent('b') });
    await client.answer('fleet/subscribe', { topics: ['state', 'state'] });
    fleet.tell(stateEvent('a'));
    expect(await client.next()).toMatchObject({ params: { server: 'a' } });
    expect(fleet.listeners).toBe(1);
    expect((await client.answer('fleet/unsubscribe', { topics: ['state'] })).result).toEqual({ topics: [] });
    expect(fleet.listeners).toBe(0);
    fleet.tell(stateEvent('a'));
    expect(await client.answer('fleet/unsubscribe')).toMatchObject({ id: 'answer' });
  });

  it('ends with its connection', async () => {
    const { fleet, client, server } = await serveFake();
    await client.answer('fleet/subscribe', { topics: ['state'] });
    const [peer] = server.connections as Set<Peer>;
    client.socket.destroy();
    await peer?.closed;
    expect(fleet.listeners).toBe(0);
    expect(server.connections.size).toBe(0);
  });
});

describe('a connection', () => {
  it('that closed its writing side gets its replies, then the end (echo … | socat)', async () => {
    const { fleet, path } = await serveFake();
    const { promise, resolve } = later();
    const begun = later();
    fleet.onCall = async (params) => {
      begun.resolve();
      await promise;
      return resultOf(params, 'done');
    };
    const client = await RawClient.open(path, { allowHalfOpen: true });
    client.ask(1, 'fleet/call', { server: 'a', tool: 't' });
    client.socket.end();
    await begun.promise;
    resolve();
    expect(await client.next()).toMatchObject({ id: 1, result: { success: true } });
    await new Promise((done) => client.socket.once('end', done));
  });

  it('gets the report of a shutdown before the socket closes', async () => {
    const fleet = new FakeFleet();
    const ended = later();
    let calls = 0;
    const { path, server, owner } = await serve(fleet, {
      onShutdown: () => {
        calls += 1;
        owner.close();
        void server.close().then(ended.resolve);
      },
    });
    const [client, other] = [await RawClient.open(path), await RawClient.open(path)];
    const stopped = later<{ stopped: string[]; killed: string[] }>();
    fleet.shutdown = () => stopped.promise;
    client.ask(1, 'fleet/shutdown');
    other.ask(1, 'fleet/shutdown');
    // it is served as long as the herd is stopping
    other.ask(2, 'fleet/status');
    expect(await other.next()).toMatchObject({ id: 2 });
    stopped.resolve({ stopped: ['x'.repeat(2_000_000)], killed: [] });
    expect(await client.next()).toMatchObject({ id: 1, result: { killed: [] } });
    expect(await other.next()).toMatchObject({ id: 1, result: { killed: [] } });
    await Promise.all([ended.promise, client.closed, other.closed]);
    expect(calls).toBe(1);
    await expect(RawClient.open(path)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('that opens while the daemon closes is closed', async () => {
    const { path, server, client } = await serveFake();
    client.socket.pause();
    const closing = server.close();
    const late = await RawClient.open(path);
    await Promise.all([late.closed, closing]);
    expect(server.connections.size).toBe(0);
  });
});
