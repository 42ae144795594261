import { describe, expect, it } from 'vitest';
import type { FleetEvent } from '../../src/fleet/fleet.js';
import { server } from '../faults/config.js';
import { startBridge } from '../support/bridge.js';
import { type Herd, herdIn, killDaemon, startHerd, until } from '../support/herd.js';
import { startNatsServer, whyNoNatsServer } from '../support/nats-server.js';
import { share } from '../support/share.js';
import { clusterOf, namesOf, newClusterName, nodeConfig, seesOthers, startNodes } from './daemons.js';

const missing = whyNoNatsServer();
if (missing !== undefined) console.warn(`the tests of daemons in a cluster are left out: ${missing}`);

const pidOf = (herd: Herd, name: string) => herd.say(name, 'pid');

describe.runIf(missing === undefined)('two daemons in a cluster', () => {
  const nats = share(() => startNatsServer());
  const both = share(() =>
    startNodes(
      nats(),
      {
        desk: [server('own', 'good.mjs'), server('both', 'good.mjs'), server('other', 'good.mjs')],
        gpu: [
          server('embed', 'good.mjs'),
          server('modern', 'modern.mjs'),
          server('questions', 'questions.mjs'),
          server('large', 'takes-time.mjs'),
          server('both', 'good.mjs'),
          server('other', 'modern.mjs'),
          server('hidden', 'good.mjs'),
        ],
      },
      { gpu: { share: ['embed', 'modern', 'questions', 'large', 'both', 'other'] }, desk: { share: [] } },
    ),
  );

  it('a node has the shared servers of the other under their names, and no other ones', async () => {
    const { desk, gpu } = both();
    await until(async () => (await namesOf(desk)).includes('embed'));
    expect((await namesOf(desk)).sort()).toEqual(
      ['both', 'embed', 'gpu/other', 'large', 'modern', 'other', 'own', 'questions'].sort(),
    );
    expect(await namesOf(gpu)).toHaveLength(7);
    const status = await clusterOf(desk);
    expect(status).toMatchObject({ engine: 'nats', node: 'desk', state: 'connected', draining: false });
    expect(status.nodes.map(({ name, self, state }) => ({ name, self, state }))).toEqual([
      { name: 'desk', self: true, state: 'up' },
      { name: 'gpu', self: false, state: 'up' },
    ]);
    await until(async () => (await clusterOf(desk)).nodes[1]?.latency_ms !== null);
  });

  it('a call of a server that only the other node has runs there, and its audit names the caller', async () => {
    const { desk, gpu } = both();
    const events: FleetEvent[] = [];
    gpu.fleet.subscribe(['call'], (event) => void events.push(event));
    expect(await desk.say('embed', 'echo', { value: 'hi' })).toBe('hi');
    expect(Number(await pidOf(desk, 'embed'))).toBe((await gpu.status('embed')).pids[0]);
    const event = await until(() => events.find(({ topic }) => topic === 'call'));
    expect(event).toMatchObject({ via: 'cluster', client: { name: 'node desk' } });
  });

  it('lists, progress and cancellation pass, of servers of both eras', async () => {
    const { desk, gpu } = both();
    expect((await desk.fleet.tools('embed')).tools.map(({ exposed_name }) => exposed_name)).toContain(
      'embed__echo',
    );
    for (const name of ['embed', 'modern']) {
      const steps: unknown[] = [];
      const call = { server: name, tool: 'progress', arguments: { times: 3 } };
      const { success } = await desk.fleet.call(call, {
        onProgress: (step) => void steps.push(step.progress),
      });
      expect({ success, steps }).toEqual({ success: true, steps: [1, 2, 3] });
    }
    const cancelling = new AbortController();
    const waiting = desk.fleet.call({ server: 'embed', tool: 'wait' }, { signal: cancelling.signal });
    await until(async () => (await gpu.status('embed')).in_flight === 1);
    cancelling.abort(new Error('enough'));
    expect((await waiting).error).toMatchObject({ type: 'CancelledError', sent: true });
    await until(async () => (await gpu.status('embed')).in_flight === 0);
  });

  it('questions of a server of the other node reach the agent here', async () => {
    const { desk } = both();
    const bridge = startBridge(desk.home);
    const clientInfo = { name: 'test', version: '1' };
    const params = { protocolVersion: '2025-11-25', capabilities: { elicitation: {} }, clientInfo };
    bridge.say({ id: 1, method: 'initialize', params });
    await bridge.reply(1);
    bridge.say({ method: 'notifications/initialized' });
    const question = { method: 'elicitation/create', params: { message: 'sure?', requestedSchema: {} } };
    bridge.say({ id: 2, method: 'tools/call', params: { name: 'questions__ask', arguments: question } });
    const asked = await until(() => bridge.lines.find(({ method }) => method === 'elicitation/create'));
    bridge.say({ id: asked.id, result: { action: 'accept', content: { yes: true } } });
    expect(JSON.stringify(await bridge.reply(2))).toContain('accept');
  });

  it('equal entries are one server: its own replica is used, and the other one while that cannot be', async () => {
    const { desk, gpu } = both();
    const own = Number(await pidOf(desk, 'both'));
    expect(own).toBe((await desk.status('both')).pids[0]);
    expect((await desk.status('both')).nodes).toMatchObject([{ node: 'gpu' }]);
    await desk.fleet.stop({ servers: ['both'] }, true);
    const other = Number(await pidOf(desk, 'both'));
    expect(other).toBe((await gpu.status('both')).pids[0]);
    await desk.fleet.start({ servers: ['both'] }, true);
    expect(Number(await pidOf(desk, 'both'))).not.toBe(other);
  });

  it('a result of 50 MB passes, and smaller calls pass meanwhile', async () => {
    const { desk } = both();
    const bytes = 50 * 10 ** 6;
    const large = desk.fleet.call({ server: 'large', tool: 'give', arguments: { bytes } });
    expect(await desk.say('embed', 'echo', { value: 'meanwhile' })).toBe('meanwhile');
    const { content } = await large;
    expect(content[0]?.type === 'text' && content[0].text.length).toBe(bytes);
  });

  it('the log of a server has the lines of the node that runs it, with its name', async () => {
    const { desk } = both();
    await desk.say('large', 'print', { line: 'said on stderr' });
    const lines = async () =>
      (await desk.fleet.logs({ server: 'large' })).map(({ node, text }) => ({ node, text }));
    await until(async () =>
      (await lines()).some(({ node, text }) => node === 'gpu' && text === 'said on stderr'),
    );
    const { error } = await desk.fleet.logs({ server: 'own' }).then(
      () => ({ error: undefined }),
      (error) => ({ error }),
    );
    expect(error).toBeUndefined();
  });

  it('a call to a node is never passed on to a third one', async () => {
    const { desk, gpu } = both();
    await gpu.fleet.stop({ servers: ['both'] }, true);
    await desk.fleet.stop({ servers: ['both'] }, true);
    const { error } = await desk.fleet.call({ server: 'both', tool: 'pid' });
    expect(error).toMatchObject({ type: 'ServerUnavailableError', sent: false });
    await gpu.fleet.start({ servers: ['both'] }, true);
    await desk.fleet.start({ servers: ['both'] }, true);
  });
});

describe.runIf(missing === undefined)('daemons and nodes that come and go', () => {
  it('a cluster that is written into the config is joined, and left when it is removed', async () => {
    const nats = await startNatsServer();
    const name = newClusterName();
    const { desk, gpu } = await startNodes(nats, {
      desk: [server('own', 'good.mjs')],
      gpu: [server('embed', 'good.mjs')],
    });
    await until(async () => (await namesOf(desk)).includes('embed'));
    gpu.home.configure(nodeConfig(nats, name, 'gpu', [server('embed', 'good.mjs')]));
    await until(async () => !(await namesOf(desk)).includes('embed'));
    expect(await gpu.say('embed', 'echo', { value: 'local' })).toBe('local');
  });

  it('calls in flight fail as sent when the node is killed, others go where the server is, and the node comes back', async () => {
    const nats = await startNatsServer();
    const shared = server('shared', 'good.mjs', { cluster: true });
    const nodes = { a: [server('own', 'good.mjs')], b: [shared, server('alone', 'good.mjs')], c: [shared] };
    const { a, b, c } = await startNodes(nats, nodes);
    await until(async () => (await a.status('shared').catch(() => undefined))?.nodes?.length === 2);
    expect(await a.say('alone', 'echo', { value: 'x' })).toBe('x');
    const waiting = a.fleet.call({ server: 'alone', tool: 'wait' });
    await until(async () => (await b.status('alone')).in_flight === 1);
    await killDaemon(b.home, b.daemon);
    const killedAt = performance.now();
    const { error } = await waiting;
    expect(error).toMatchObject({ sent: true, retryable: false });
    expect(error?.message).toContain('the node b of the cluster is away');
    expect(performance.now() - killedAt).toBeLessThan(3000);
    expect(Number(await pidOf(a, 'shared'))).toBe((await c.status('shared')).pids[0]);
    await until(async () => (await clusterOf(a)).nodes.find(({ name }) => name === 'b')?.state === 'away');
    const refused = await a.fleet.call({ server: 'alone', tool: 'echo', arguments: { value: 'x' } });
    expect(refused.error).toMatchObject({ type: 'ServerUnavailableError', sent: false });
    await herdIn(b.home, await b.home.start());
    await until(async () => (await a.say('alone', 'echo', { value: 'again' })) === 'again');
  });

  it('a thousand calls at once are shared by three nodes', async () => {
    const nats = await startNatsServer();
    const shared = server('shared', 'takes-time.mjs', { cluster: true });
    const nodes = await startNodes(nats, { a: [shared], b: [shared], c: [shared] });
    const { a } = nodes;
    for (const { fleet } of Object.values(nodes)) await fleet.start({ servers: ['shared'] }, true);
    await until(async () => {
      const others = (await a.status('shared')).nodes ?? [];
      return others.filter(({ state }) => state === 'connected').length === 2;
    });
    const calls = Array.from({ length: 1000 }, (_, index) => ({
      ...{ server: 'shared', tool: 'work' },
      arguments: { key: String(index), ms: 5 },
    }));
    const results = await a.fleet.callMany({ calls, concurrency: 100 });
    const texts = results.map(({ content }) => (content[0]?.type === 'text' ? content[0].text : ''));
    expect(texts).toEqual(calls.map((call) => call.arguments.key));
    for (const { fleet } of Object.values(nodes)) {
      const { servers } = await fleet.status(['shared']);
      expect(servers[0]?.calls).toBeGreaterThan(100);
    }
  });

  it('a node that drains ends its calls, takes none, and serves its own agents', async () => {
    const nats = await startNatsServer();
    const shared = server('shared', 'takes-time.mjs', { cluster: true });
    const { a, b, c } = await startNodes(nats, { a: [server('own', 'good.mjs')], b: [shared], c: [shared] });
    await until(async () => (await a.status('shared').catch(() => undefined))?.nodes?.length === 2);
    await b.fleet.start({ servers: ['shared'] }, true);
    await until(async () =>
      (await a.status('shared')).nodes?.some(({ node, state }) => node === 'b' && state === 'connected'),
    );
    const long = a.fleet.call({ server: 'shared', tool: 'work', arguments: { ms: 800 } });
    await until(
      async () => (await b.status('shared')).in_flight === 1 || (await c.status('shared')).in_flight === 1,
    );
    const [busy, free] = (await b.status('shared')).in_flight === 1 ? [b, c] : [c, b];
    expect((await busy.fleet.clusterDrain()).draining).toBe(true);
    for (let call = 0; call < 5; call += 1)
      expect(Number(await pidOf(a, 'shared'))).toBe((await free.status('shared')).pids[0]);
    expect((await long).error).toBeNull();
    expect(await busy.say('shared', 'echo', { value: 'local' })).toBe('local');
    expect((await busy.fleet.clusterUndrain()).draining).toBe(false);
    await seesOthers(a, 2);
  });

  it('the local herd goes on without NATS, says so, and joins when it is back', async () => {
    const nats = await startNatsServer();
    const { desk, gpu } = await startNodes(nats, {
      desk: [server('own', 'good.mjs')],
      gpu: [server('embed', 'good.mjs')],
    });
    await until(async () => (await desk.say('embed', 'echo', { value: 'x' })) === 'x');
    await nats.kill();
    await until(async () => (await clusterOf(desk)).state === 'lost');
    expect((await clusterOf(desk)).why).toContain('the connection to the NATS server is lost');
    expect(await desk.say('own', 'echo', { value: 'still' })).toBe('still');
    expect(await gpu.say('embed', 'echo', { value: 'still' })).toBe('still');
    const { error } = await desk.fleet.call({ server: 'embed', tool: 'echo', arguments: { value: 'x' } });
    expect(error).toMatchObject({ type: 'ServerUnavailableError', sent: false });
    await nats.start();
    await until(async () => (await desk.say('embed', 'echo', { value: 'back' })) === 'back');
  });

  it('a daemon whose NATS server is not there starts at once', async () => {
    const nats = await startNatsServer();
    await nats.kill();
    const name = newClusterName();
    const startedAt = performance.now();
    const desk = await startHerd(nodeConfig(nats, name, 'desk', [server('own', 'good.mjs')]));
    expect(await desk.say('own', 'echo', { value: 'x' })).toBe('x');
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    const why = await until(async () => (await clusterOf(desk)).why);
    expect(why).toBeDefined();
    await until(async () => (await clusterOf(desk)).why?.includes('no NATS server answers'));
    await nats.start();
    await until(async () => (await clusterOf(desk)).state === 'connected');
  });
});
