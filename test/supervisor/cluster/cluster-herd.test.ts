import { describe, expect, test } from 'vitest';
import type { ServerSpec } from '../../../src/config/fields/spec.js';
import type { StateEvent } from '../../../src/fleet/fleet.js';
import { adviceOf, historyOf, nextOf, stateOf } from '../../../src/fleet/texts/why.js';
import { failure } from '../fake-link.js';
import { settled, spec, World } from '../world.js';
import { clusterSpec, linksTo, TestPeers } from './nodes.js';

const TOOLS = { 'tools/list': [{ name: 'tool', inputSchema: { type: 'object' } }] };
const OWN = { cluster: { identity: 'id', balanced: false, isPlacedHere: true } } as const;
const ALL_TOOLS = { tools: { allow: ['*'], deny: [] } };

/** A herd with one server, which the given nodes have. */
function startHerd(of: ServerSpec, nodes: string[] = ['b']) {
  const world = new World();
  world.behaviour = () => ({ opens: true, answers: true, lists: TOOLS });
  const peers = new TestPeers();
  for (const node of nodes) peers.reports(node);
  const herd = world.herd({ peersOf: ({ name }) => (name === 'srv' ? peers : undefined) });
  herd.apply([of, spec({ name: 'plain' })]);
  const events: Omit<StateEvent, 'topic'>[] = [];
  herd.view.events.subscribe(['state'], (event) => void events.push(event));
  const status = () => herd.view.status(['srv'])[0]!;
  const why = () => {
    const inspection = herd.view.inspect('srv');
    return {
      state: stateOf(inspection.status),
      next: nextOf(inspection, 0),
      advice: adviceOf(inspection.status),
    };
  };
  const call = () => herd.view.calls.call({ server: 'srv', tool: 'tool' });
  return { world, peers, herd, events, status, why, call };
}

describe('a server that only other nodes run', () => {
  test('is listed and called by its name, and status says which nodes have it', async () => {
    const { world, herd, status, call } = startHerd(clusterSpec(ALL_TOOLS), ['b', 'c']);
    expect((await call()).success).toBe(true);
    expect((await herd.view.catalog.tools()).tools.map(({ name }) => name)).toContain('tool');
    expect(status()).toMatchObject({
      ...{ state: 'connected', detail: 'running', transport: 'cluster', elsewhere: true, pids: [] },
      nodes: [
        { node: 'b', state: 'connected', in_flight: 0 },
        { node: 'c', state: 'connected', in_flight: 0 },
      ],
      ...{ calls: 1, failures: 0, tools: 1 },
    });
    expect([linksTo(world, 'b').length, linksTo(world, 'c').length]).toEqual([1, 0]);
  });

  test.each(['start', 'stop', 'restart', 'reset'] as const)(
    'refuses the order %s, and names the nodes',
    async (order) => {
      const { world, herd } = startHerd(clusterSpec(), ['b', 'c']);
      await expect(herd.view.order(order, { servers: ['plain', 'srv'] })).rejects.toMatchObject({
        type: 'ServerUnavailableError',
        message: 'srv: does not run on this node, so it takes no orders here',
        why: 'the daemon of each node decides about its own servers; it runs on: b, c',
      });
      expect(world.links).toEqual([]);
    },
  );

  test('is left out of an order for all', async () => {
    const { world, herd } = startHerd(clusterSpec());
    const all = await herd.view.order('restart', { all: true }, true);
    expect(all.map(({ name, state }) => [name, state])).toEqual([
      ['srv', 'connected'],
      ['plain', 'connected'],
    ]);
    expect(world.links.length).toBe(1);
  });

  test('says when no node offers it any more, and when one does again', () => {
    const { peers, events, status, herd } = startHerd(clusterSpec());
    peers.leaves('b');
    expect(status()).toMatchObject({
      ...{ state: 'disconnected', detail: 'waiting', nodes: [] },
      last_error: { cause: 'lost', message: 'srv: no node of the cluster offers it now' },
    });
    peers.reports('c');
    expect(status()).toMatchObject({ state: 'connected', last_error: null });
    expect(events).toMatchObject([
      { state: 'disconnected', detail: 'waiting', cause: 'node b does not offer it any more' },
      { state: 'connected', detail: 'running', cause: 'node c offers it (connected)' },
    ]);
    expect(historyOf(herd.view.inspect('srv')).map(({ text }) => text)).toEqual([
      'toolherd: node b does not offer it any more',
      'toolherd: node c offers it (connected)',
    ]);
  });

  test('is since its nodes changed what it is, whatever its connections do', async () => {
    const { world, peers, status, call } = startHerd(clusterSpec());
    await world.passes(5000);
    peers.reports('b', 'created');
    const { since } = status();
    await world.passes(5000);
    await call();
    expect([status().since, Date.parse(since) > 0]).toEqual([since, true]);
  });

  test.each([
    ['connected', 'runs on b', 'calls go to that node.', 'nothing is needed.'],
    [
      'created',
      'is offered by b, and a call starts it there',
      'calls go to that node.',
      'nothing is needed.',
    ],
    [
      'error',
      'is offered by b, and cannot take calls there',
      'a call is tried on these nodes all the same.',
      'see "toolherd why" on one of these nodes.',
    ],
  ] as const)('that is %s there is explained by why', (reported, state, next, advice) => {
    const { peers, why } = startHerd(clusterSpec(), []);
    peers.reports('b', reported);
    expect(why()).toEqual({ state, next, advice });
  });

  test('that no node offers is explained by why', () => {
    const { why } = startHerd(clusterSpec(), []);
    expect(why()).toEqual({
      state: 'is offered by no node of the cluster now',
      next: 'calls fail until a node offers it; then it is used at once.',
      advice: 'see "toolherd cluster status".',
    });
  });
});

describe('a server that runs here and on other nodes', () => {
  test('shows its own state, and the nodes beside it', async () => {
    const { world, peers, status, events, call } = startHerd(spec({ ...OWN, ...ALL_TOOLS }));
    expect(status()).toMatchObject({ state: 'created', detail: 'idle', nodes: [{ node: 'b' }] });
    expect(status().elsewhere).toBeUndefined();
    await call();
    expect(status()).toMatchObject({ state: 'connected', incarnation: 1 });
    events.splice(0);
    peers.leaves('b');
    expect([status().nodes, events]).toEqual([[], []]);
    expect(linksTo(world, 'b')).toEqual([]);
  });

  test('has a journal of what runs here, not of its connections to other nodes', async () => {
    const { herd, events, call } = startHerd(spec(OWN));
    await herd.view.order('stop', { servers: ['srv'] }, true);
    const before = herd.view.inspect('srv').journal.length;
    events.splice(0);
    await call();
    expect([herd.view.inspect('srv').journal.length, events]).toEqual([before, []]);
  });

  test('that is quarantined here says which nodes get its calls', async () => {
    const { world, herd, why } = startHerd(spec(OWN), ['b', 'c']);
    world.behaviour = () => ({});
    await herd.view.order('start', { servers: ['srv'] });
    await settled();
    world.newest.goes(failure('srv', { permanent: true }));
    await settled();
    expect(why().next).toMatch(/^calls go to other nodes meanwhile: b, c\. Here: one try after a pause/);
  });

  test('takes its orders: they reach what runs here, and no node', async () => {
    const { world, herd, call } = startHerd(spec({ ...OWN, cluster: { ...OWN.cluster, balanced: true } }));
    await herd.view.order('start', { servers: ['srv'] }, true);
    await Promise.all([call(), call()]);
    await herd.view.order('restart', { servers: ['srv'] }, true);
    expect(linksTo(world, undefined).map(({ isAlive }) => isAlive)).toEqual([false, true]);
    expect(linksTo(world, 'b').map(({ isAlive }) => isAlive)).toEqual([true]);
  });
});

describe('the end of a herd', () => {
  test('closes the connections to other nodes, with no timer left', async () => {
    const { world, herd, call } = startHerd(clusterSpec(ALL_TOOLS), ['b', 'c']);
    await Promise.all([call(), call()]);
    await herd.shutdown(1000, async () => undefined);
    expect([world.alive, world.clock.pending]).toEqual([[], 0]);
  });

  test('a server that is taken out of the config leaves its nodes', async () => {
    const { world, peers, herd, call } = startHerd(clusterSpec(ALL_TOOLS));
    await call();
    herd.apply([]);
    await settled();
    expect([world.alive, peers.listeners]).toEqual([[], 0]);
  });
});
