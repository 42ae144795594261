import { describe, expect, test } from 'vitest';
import type { ClusterServerSpec, StdioSpec } from '../../../src/config/fields/spec.js';
import { AuthRequiredError } from '../../../src/shared/call-errors.js';
import { ConfiguredServer } from '../../../src/supervisor/server/configured-server.js';
import { drains, type FakeLinkBehaviour, failure } from '../fake-link.js';
import { Caller, request, settled, spec, World } from '../world.js';
import { clusterSpec, linksTo, TestPeers } from './nodes.js';

const HERE = undefined;
const OWN = { cluster: { identity: 'id', balanced: false, isPlacedHere: true } } as const;
const BALANCED = { cluster: { ...OWN.cluster, balanced: true } } as const;
const ELSEWHERE = { cluster: { ...OWN.cluster, isPlacedHere: false } } as const;

/** A server on this node, and on the given others, which are ready. */
function createServer(
  of: StdioSpec | ClusterServerSpec,
  nodes: string[] = ['b'],
  behaviour?: FakeLinkBehaviour,
) {
  const world = new World();
  world.behaviour = () => behaviour ?? { opens: true };
  const peers = new TestPeers();
  for (const node of nodes) peers.reports(node);
  const news: string[] = [];
  const deps = world.serverDeps({ peersOf: () => peers, nodesChanged: (why) => void news.push(why) });
  const server = new ConfiguredServer(of, 1, deps, Promise.resolve());
  const call = (mark = 'x', timeoutMs?: number) => {
    const caller = new Caller();
    const handle = server.send(request(mark, timeoutMs), caller);
    return Object.assign(caller, { handle });
  };
  const calls = (node: string | undefined) => linksTo(world, node).map((link) => link.calls.length);
  const newest = (node: string | undefined) => linksTo(world, node).at(-1)!;
  return { world, peers, server, call, calls, newest, news, children: deps.children };
}

describe('a server that runs here and on other nodes', () => {
  test('serves its calls here, and has no connection to another node', async () => {
    const { call, calls, newest } = createServer(spec(OWN));
    const caller = call();
    await settled();
    newest(HERE).answers();
    expect([caller.isSettled, calls(HERE), calls('b')]).toEqual([true, [1], []]);
  });

  test('that is balanced serves a call on the least busy node that is ready', async () => {
    const { world, peers, server, call, calls } = createServer(spec(BALANCED), ['b', 'c']);
    server.start();
    await settled();
    peers.reports('b', 'connected', 1);
    for (let count = 0; count < 5; count += 1) call();
    await settled();
    expect([calls(HERE), calls('b'), calls('c')]).toEqual([[2], [1], [2]]);
    expect(world.links.length).toBe(3);
  });

  test('counts its own calls to a node once, whether the node has reported them or not', async () => {
    const { peers, server, call, calls } = createServer(spec(BALANCED));
    server.start();
    await settled();
    for (let count = 0; count < 4; count += 1) call();
    await settled();
    expect([calls(HERE), calls('b')]).toEqual([[2], [2]]);
    // both are ours, and a third is of another caller
    peers.reports('b', 'connected', 3);
    for (let count = 0; count < 2; count += 1) call();
    expect([calls(HERE), calls('b')]).toEqual([[4], [2]]);
  });

  test('that was stopped here by order is served by another node, until it is started again', async () => {
    const { server, call, calls, newest } = createServer(spec(OWN));
    server.start();
    await settled();
    server.stop();
    await server.whenGone();
    call();
    await settled();
    expect([newest(HERE).isAlive, calls('b')]).toEqual([false, [1]]);
    server.start();
    await settled();
    call();
    expect([calls(HERE), calls('b')]).toEqual([[0, 1], [1]]);
  });

  test('that is quarantined here is served by another node, and a call makes its next try here', async () => {
    const { world, server, call, calls, newest } = createServer(spec(OWN));
    server.start();
    await settled();
    newest(HERE).goes(failure('srv', { permanent: true }));
    await settled();
    call();
    await settled();
    expect([server.snapshot().detail, linksTo(world, HERE).length, calls('b')]).toEqual([
      'quarantined',
      1,
      [1],
    ]);
    await world.passes(9_000);
    call();
    await settled();
    expect([linksTo(world, HERE).length, calls('b')]).toEqual([2, [2]]);
  });

  test('that cannot be started here is served by another node, with the calls that waited for the start', async () => {
    const { world, call, newest } = createServer(spec(OWN), ['b'], {});
    const callers = [call('a'), call('b')];
    await settled();
    newest(HERE).goes(failure('srv', { permanent: true }));
    await settled();
    newest('b').opens();
    await settled();
    for (const _ of callers) newest('b').answers();
    expect(callers.map(({ result }) => result !== undefined)).toEqual([true, true]);
    expect(world.links.length).toBe(2);
  });

  test('that is transient here is served by another node when it was stopped here', async () => {
    const { server, call, calls } = createServer(spec({ ...OWN, lifecycle: 'transient' }));
    call();
    await settled();
    server.stop();
    await server.whenGone();
    call();
    await settled();
    expect([calls(HERE), calls('b')]).toEqual([[1], [1]]);
  });

  test('fails as ever where no other node has it', async () => {
    const { server, call } = createServer(spec(OWN), []);
    server.stop();
    expect(call().error).toMatchObject({
      message: 'srv: was stopped',
      fix: 'toolherd start srv',
      sent: false,
    });
  });

  test('that is disabled runs nowhere', () => {
    const { server, call, peers } = createServer(spec({ ...OWN, enabled: false }));
    call();
    expect([server.snapshot().detail, server.snapshot().nodes, peers.listeners]).toEqual([
      'disabled',
      undefined,
      0,
    ]);
  });
});

describe('a call', () => {
  test('that a node refuses goes to the next one, and none gets it twice', async () => {
    const { call, calls, newest } = createServer(clusterSpec(), ['b', 'c']);
    const caller = call();
    await settled();
    newest('b').refuses();
    await settled();
    newest('c').answers();
    expect([caller.result !== undefined, calls('b'), calls('c')]).toEqual([true, [1], [1]]);
  });

  test('that every node refuses fails unsent, with what each of them said', async () => {
    const { call, newest } = createServer(clusterSpec(), ['b', 'c']);
    const caller = call();
    await settled();
    newest('b').refuses();
    await settled();
    newest('c').refuses(new AuthRequiredError('srv: needs an authorisation'));
    expect(caller.error).toMatchObject({
      ...{ type: 'ServerUnavailableError', sent: false, retryable: true },
      why: 'it was not sent; b: the daemon drains; c: needs an authorisation',
    });
  });

  test('that was with a node which died fails with sent: true, and no other node gets it', async () => {
    const { call, calls, newest } = createServer(clusterSpec(), ['b', 'c']);
    const caller = call();
    await settled();
    newest('b').crashes();
    await settled();
    expect([caller.error.sent, calls('c')]).toEqual([true, []]);
  });

  test('avoids a node that has just refused one, until that node reports again or 2 s are over', async () => {
    const { world, peers, call, calls, newest } = createServer(clusterSpec(), ['b', 'c']);
    call();
    await settled();
    newest('b').refuses();
    await settled();
    newest('c').answers();
    call();
    expect([calls('b'), calls('c')]).toEqual([[1], [2]]);
    peers.reports('b');
    call();
    expect([calls('b'), calls('c')]).toEqual([[2], [2]]);
    newest('b').refuses();
    await world.passes(1999);
    call();
    await world.passes(1);
    call();
    expect([calls('b'), calls('c')]).toEqual([[3], [4]]);
  });

  test('that waits for a connection to a node that leaves goes to another node', async () => {
    const { world, peers, call, calls, newest } = createServer(clusterSpec(), ['b', 'c'], {});
    const caller = call();
    await settled();
    peers.leaves('b');
    await settled();
    newest('c').opens();
    newest('c').answers();
    expect([caller.result !== undefined, calls('b'), calls('c')]).toEqual([true, [0], [1]]);
    expect(linksTo(world, 'b')[0]!.isAlive).toBe(false);
  });

  test('that waits for a node that leaves goes to one that came with the same report', async () => {
    const { peers, call, newest } = createServer(clusterSpec(), ['b'], {});
    const caller = call();
    await settled();
    peers.replaces('b', 'c');
    await settled();
    newest('c').opens();
    newest('c').answers();
    expect(caller.result).toBeDefined();
  });

  test('that waits for the only node, which leaves, fails unsent', async () => {
    const { peers, call } = createServer(clusterSpec(), ['b'], {});
    const caller = call();
    await settled();
    peers.leaves('b');
    expect(caller.error).toMatchObject({ sent: false, retryable: true });
    expect(caller.error.message).toBe('srv: node b does not offer it any more');
    expect(call().error.message).toBe('srv: no node of the cluster offers it now');
  });

  test('that is in flight on a node that leaves is answered there, and then the connection is closed', async () => {
    const { peers, server, call, calls, newest, children } = createServer(clusterSpec(), ['b', 'c']);
    const [first, second] = [call('a'), call('b')];
    await settled();
    expect([calls('b'), calls('c')]).toEqual([[1], [1]]);
    peers.leaves('b');
    call('c');
    expect([calls('b'), calls('c'), server.snapshot().inFlight]).toEqual([[1], [2], 3]);
    newest('b').answers();
    newest('c').answers();
    await settled();
    expect([first.isSettled, second.isSettled, newest('b').isAlive]).toEqual([true, true, false]);
    expect([server.snapshot().inFlight, children().length]).toEqual([1, 1]);
  });

  test('that is cancelled while it waits for a connection ends, and no node gets it', async () => {
    const { call, calls, newest } = createServer(clusterSpec(), ['b', 'c'], {});
    const caller = call();
    await settled();
    caller.handle?.cancel('enough');
    newest('b').opens();
    expect([caller.error.type, calls('b'), calls('c')]).toEqual(['CancelledError', [0], []]);
  });

  test('that is cancelled on the second node is cancelled there', async () => {
    const { call, newest } = createServer(clusterSpec(), ['b', 'c']);
    const caller = call();
    await settled();
    newest('b').refuses();
    await settled();
    caller.handle?.cancel('enough');
    const cancels = newest('c').written.filter(({ method }) => method === 'notifications/cancelled');
    expect([caller.error.type, caller.error.sent, cancels.length]).toEqual(['CancelledError', true, 1]);
  });

  test('goes to a node that may start it where none is ready', async () => {
    const { peers, call, calls } = createServer(clusterSpec(), []);
    peers.reports('b', 'error');
    peers.reports('c', 'created');
    call();
    await settled();
    // the lists were asked of the first node that came
    expect([calls('b'), calls('c')]).toEqual([[0], [1]]);
  });

  test('goes to a node that cannot say that it may start it where there is no other', async () => {
    const { peers, call, calls } = createServer(clusterSpec(), []);
    peers.reports('b', 'error');
    call();
    await settled();
    expect(calls('b')).toEqual([1]);
  });
});

describe('the state of a server that only other nodes run', () => {
  test.each([
    ['connected', 'running', { b: 'created', c: 'connected' }],
    ['created', 'idle', { b: 'error', c: 'created' }],
    ['error', 'quarantined', { b: 'error', c: 'disconnected' }],
    ['disconnected', 'waiting', {}],
  ] as const)('is %s and %s for %o', (state, detail, nodes) => {
    const { peers, server } = createServer(clusterSpec(), []);
    for (const [node, one] of Object.entries(nodes)) peers.reports(node, one);
    const snapshot = server.snapshot();
    expect(snapshot).toMatchObject({ state, detail, isElsewhere: true, pids: [], restarts: 0 });
    expect(snapshot.nodes?.map(({ node }) => node)).toEqual(Object.keys(nodes));
    expect(snapshot.lastError === undefined).toBe(state === 'connected' || state === 'created');
  });

  test('is the same for an own entry that is placed on other nodes, and nothing of it is ever started here', async () => {
    const { world, peers, server, call, calls } = createServer(spec({ ...ELSEWHERE, start: 'eager' }), []);
    server.begin(true);
    await settled();
    expect([world.links.length, server.snapshot().state]).toEqual([0, 'disconnected']);
    expect(call().error).toMatchObject({
      message: 'srv: no node of the cluster offers it now',
      why: "'place' of its entry does not name this node, and no node that it names offers it; the call was not sent",
    });
    peers.reports('b');
    call();
    await settled();
    expect([calls(HERE), calls('b')]).toEqual([[], [1]]);
  });

  test('changes are told with the nodes', () => {
    const { peers, news } = createServer(clusterSpec(), ['b']);
    peers.reports('b', 'connected', 3);
    peers.reports('c', 'created');
    peers.reports('c', 'connected');
    peers.leaves('b');
    expect(news).toEqual([
      'node c offers it (created)',
      'node c: created → connected',
      'node b does not offer it any more',
    ]);
  });
});

describe('the lists of a server', () => {
  const tools = (...names: string[]): FakeLinkBehaviour => ({
    opens: true,
    lists: { 'tools/list': names.map((name) => ({ name, inputSchema: { type: 'object' } })) },
  });
  const names = async (server: ConfiguredServer) => (await server.readLists()).tools?.map(({ name }) => name);

  test('come from any node that has it', async () => {
    const { server } = createServer(clusterSpec(), ['b'], tools('x'));
    expect(await names(server)).toEqual(['x']);
  });

  test('come from this node where it runs here', async () => {
    const { world, server } = createServer(
      spec({ ...OWN, tools: { allow: ['*'], deny: [] } }),
      ['b'],
      tools('x'),
    );
    expect([await names(server), linksTo(world, 'b').length]).toEqual([['x'], 0]);
  });

  test('come from another node where it cannot be started here', async () => {
    const { server, newest } = createServer(spec(OWN), ['b'], {});
    const listed = names(server);
    await settled();
    newest(HERE).goes(failure('srv', { permanent: true }));
    await settled();
    newest('b').behaviour = tools('x');
    newest('b').opens();
    expect(await listed).toEqual(['x']);
  });

  test('come from the next node where one is gone before it has told them', async () => {
    const { server, newest } = createServer(clusterSpec(), ['b', 'c'], {});
    const listed = names(server);
    await settled();
    newest('b').goes(failure('srv', { cause: 'lost' }));
    await settled();
    newest('c').behaviour = tools('x');
    newest('c').opens();
    expect(await listed).toEqual(['x']);
  });

  test('are not known while no node offers it, at once, and are read when one comes', async () => {
    const { world, peers, server } = createServer(clusterSpec(), [], tools('x'));
    expect(await names(server)).toBeUndefined();
    peers.reports('b');
    await settled();
    expect([server.catalog.knownLists().tools?.length, linksTo(world, 'b').length]).toEqual([1, 1]);
  });

  test('are asked of one node, however many requests wait for them', async () => {
    const { world, peers, server } = createServer(clusterSpec(), ['b', 'c'], {});
    const waiting = [names(server), names(server)];
    peers.reports('b', 'connected', 5);
    waiting.push(names(server));
    await settled();
    expect(world.links.length).toBe(1);
    linksTo(world, 'b')[0]!.opens();
    await Promise.all(waiting);
  });

  test('are read again when a node says that they have changed', async () => {
    const { world, server, newest } = createServer(clusterSpec(), ['b'], tools('x'));
    await names(server);
    newest('b').behaviour = tools('x', 'y');
    newest('b').says('notifications/tools/list_changed');
    await world.passes(1000);
    expect(server.catalog.knownLists().tools?.length).toBe(2);
  });

  test('do not wait for ever where every node is gone', async () => {
    const { server, newest } = createServer(clusterSpec(), ['b', 'c'], {});
    const listed = names(server);
    await settled();
    newest('b').goes(failure('srv', { cause: 'lost' }));
    await settled();
    newest('c').goes(failure('srv', { cause: 'lost' }));
    expect(await listed).toBeUndefined();
  });
});

describe('subscribers and log levels', () => {
  const resources: FakeLinkBehaviour = { opens: true, capabilities: { resources: { subscribe: true } } };

  test('a subscription is made on a node, and on the next one when that is gone', async () => {
    const { world, peers, server, newest } = createServer(clusterSpec(), ['b', 'c'], {
      ...resources,
      replies: () => ({ result: { resources: [] } }),
    });
    const updates: unknown[] = [];
    const end = await server.resources.watch('file:///x', (params) => updates.push(params));
    expect(newest('b').watched).toEqual(['file:///x']);
    newest('b').crashes();
    peers.leaves('b');
    await world.passes(1000);
    expect([newest('c').watched, updates]).toEqual([['file:///x'], [{ uri: 'file:///x' }]]);
    end();
  });

  test('a level of log messages is renewed on every node that is connected', async () => {
    const { server, call, newest } = createServer(spec(BALANCED));
    server.start();
    await settled();
    call();
    call();
    await settled();
    server.renewLogLevel();
    expect([newest(HERE).levelRenewals, newest('b').levelRenewals]).toEqual([1, 1]);
  });
});

describe('the end of a server', () => {
  test('that is retired waits for its calls on other nodes, and takes no more', async () => {
    const { server, call, newest, children, peers } = createServer(clusterSpec());
    const caller = call();
    await settled();
    let isGone = false;
    const gone = server.retire().then(() => {
      isGone = true;
    });
    await settled();
    expect([isGone, call().error.message]).toEqual([
      false,
      'srv: was stopped, because its config has changed',
    ]);
    newest('b').answers();
    server.settled({
      request: request(),
      outcome: caller.outcomes[0]!,
      elapsedMs: 1,
      incarnation: 1,
    } as never);
    await gone;
    expect([newest('b').isAlive, children(), peers.listeners]).toEqual([false, [], 0]);
  });

  test('closes the connections to other nodes, and calls that wait do not move', async () => {
    const { server, call, calls, newest } = createServer(clusterSpec(), ['b', 'c'], {});
    const caller = call();
    await settled();
    server.close(drains('srv'));
    await server.whenGone();
    expect([caller.error.message, newest('b').isAlive, calls('c')]).toEqual([
      'srv: the daemon drains',
      false,
      [],
    ]);
    expect(call().error.message).toBe('srv: the daemon drains');
  });
});
