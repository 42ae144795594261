import { duplexPair } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { NODE_METHODS, nodeFleets } from '../../../src/daemon/cluster/node-fleet.js';
import type { FleetEvent } from '../../../src/fleet/fleet.js';
import { Peer } from '../../../src/ipc/jsonrpc/peer.js';
import { Callers } from '../../../src/ipc/server/callers.js';
import { METHODS } from '../../../src/ipc/server/fleet-methods.js';
import { FleetServer } from '../../../src/ipc/server/fleet-server.js';
import { FakeFleet } from '../../ipc/fake-fleet.js';

/** The connection of the node `desk` to a herd of `a`, which is shared, and `b`. */
function connectNode() {
  const fleet = new FakeFleet();
  const state = { isDraining: false };
  const callers = new Callers();
  const server = new FleetServer(fleet, { callers });
  const to = nodeFleets({
    fleet,
    ownLogs: (params) => fleet.logs(params),
    node: 'gpu',
    isShared: (name) => name === 'a',
    isDraining: () => state.isDraining,
  });
  const [theirs, ours] = duplexPair();
  server.accept(ours, { via: 'cluster', clientName: 'node desk', restricted: { to, methods: NODE_METHODS } });
  const node = new Peer(theirs);
  const failureOf = (method: string, params: object = {}) =>
    node.request(method, params).then(
      () => undefined,
      (error: unknown) => error as { message: string; type?: string; sent?: boolean; fix?: string },
    );
  const greet = (named = 'a') =>
    node.request('fleet/hello', {
      server: named,
      typed_errors: true,
      surface: 'all',
      client: { name: 'toolherd', version: '9' },
    });
  return { fleet, state, callers, node, failureOf, greet };
}

describe('the herd as another node sees it', () => {
  it('a node may call no method of the socket but hello and logs', async () => {
    const { fleet, failureOf, greet } = connectNode();
    await greet();
    for (const method of Object.keys(METHODS).filter((name) => !NODE_METHODS.has(name)))
      expect((await failureOf(method, { server: 'a', name: 'a' }))?.message).toContain('Method not found');
    expect(fleet.heard).toEqual([]);
  });

  it('a node lists and calls a shared server, and the request stays on this node', async () => {
    const { fleet, node, greet } = connectNode();
    await greet();
    const asked: unknown[] = [];
    const forward = fleet.forward.bind(fleet);
    fleet.forward = (params, sink) => {
      asked.push(params);
      return forward(params, sink);
    };
    await node.request('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'x', version: '1' },
    });
    await node.request('tools/list');
    await node.request('tools/call', { name: 't', arguments: {} }).catch(() => undefined);
    expect(asked).toMatchObject([{ server: 'a', method: 'tools/call', ownOnly: true }]);
    expect(fleet.heard).toContainEqual(['tools', 'a', false]);
  });

  it('a node gets nothing of a server that is not shared, and nothing without the name of a server', async () => {
    const { fleet, failureOf, node } = connectNode();
    const hello = await failureOf('fleet/hello', { server: 'b', typed_errors: true });
    expect(hello).toMatchObject({
      message: expect.stringContaining("the node gpu shares no server called 'b'"),
    });
    expect((await failureOf('fleet/logs', { server: 'b' }))?.message).toContain('shares no server');
    expect((await failureOf('fleet/logs'))?.message).toContain('names no server');
    expect((await failureOf('tools/list'))?.message).toContain('names no server');
    expect((await failureOf('resources/read', { uri: 'x:y' }))?.message).toContain('names no server');
    await node.request('fleet/logs', { server: 'a' });
    expect(fleet.heard.map(([what]) => what)).toEqual(['logs']);
  });

  it('a node chooses no agent file and no profile, and hears no path of this machine', async () => {
    const { failureOf, greet } = connectNode();
    expect((await failureOf('fleet/hello', { agent: '/home/x/agent.yaml' }))?.message).toContain(
      'agent files',
    );
    expect((await failureOf('fleet/hello', { profile: 'p' }))?.message).toContain('profiles');
    expect(Object.keys(((await greet()) as { daemon: object }).daemon).sort()).toEqual([
      'closing',
      'pid',
      'started_at',
      'version',
    ]);
  });

  it('a call of a node has its name, whatever it calls itself', async () => {
    const { callers, greet } = connectNode();
    await greet();
    expect(callers.list(new Map())).toMatchObject([
      { via: 'cluster', client: { name: 'node desk', version: '9' } },
    ]);
  });

  it('a node that drains refuses new calls as not sent', async () => {
    const { state, failureOf, greet } = connectNode();
    await greet();
    state.isDraining = true;
    const refused = await failureOf('tools/call', { name: 't', arguments: {} });
    expect(refused).toMatchObject({ data: { type: 'ServerUnavailableError', sent: false, retryable: true } });
    expect(refused?.message).toContain('the node gpu is being drained');
  });

  it('a node hears events of shared servers only, and none about calls', async () => {
    const { fleet, greet, node } = connectNode();
    await greet();
    const lists: unknown[] = [];
    node.handle('notifications/tools/list_changed', (params) => void lists.push(params));
    await node.request('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'x', version: '1' },
    });
    node.notify('notifications/initialized');
    await node.request('ping');
    expect(fleet.listeners).toBe(1);
    const event = (server: string) => ({ topic: 'catalog', server, list: 'tools' }) as FleetEvent;
    fleet.tell(event('b'));
    fleet.tell(event('a'));
    await node.request('ping');
    await expect.poll(() => lists.length).toBe(1);
  });
});
