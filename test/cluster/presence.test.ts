import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { describe, expect, it } from 'vitest';
import {
  type Cluster,
  type ClusterDeps,
  type OfferedServer,
  openCluster,
} from '../../src/cluster/cluster.js';
import type { ClusterSpec } from '../../src/config/fields/spec.js';
import { TransportError } from '../../src/link/failures/transport-failure.js';
import { systemClock } from '../../src/shared/clock.js';
import { bundle } from '../link/bundle.js';
import { startNatsServer, whyNoNatsServer } from '../support/nats-server.js';
import { atEnd, share } from '../support/share.js';
import { until } from '../support/until.js';
import { clusterSpec } from './cluster-spec.js';

const missing = whyNoNatsServer();
if (missing !== undefined) console.warn(`the tests of nodes of a cluster are left out: ${missing}`);

function server(name: string, more: Partial<OfferedServer> = {}): OfferedServer {
  return {
    ...{ name, identity: `id of ${name}`, state: 'connected', detail: 'running' },
    ...{ ready: true, may_start: true, cluster: false, in_flight: 0 },
    ...more,
  };
}

interface Node {
  cluster: Cluster;
  logged: string[];
}

const killable = bundle(new URL('./killable-node.ts', import.meta.url));

let clusters = 0;
/** Every test has a cluster to itself. */
const newName = () => `c${process.pid}-${(clusters += 1)}`;

function startNode(
  url: string,
  node: string,
  name: string,
  more: Partial<ClusterDeps> = {},
  spec: Partial<ClusterSpec> = {},
): Node {
  const logged: string[] = [];
  const cluster = openCluster(clusterSpec(url, node, { name, ...spec }), {
    clock: systemClock,
    accept: (stream) => void stream.pipe(stream),
    away: (node_, why) => new TransportError({ kind: 'node', node: node_, why }),
    changed: () => undefined,
    reported: () => undefined,
    log: (text) => void logged.push(text),
    ...more,
  });
  atEnd(() => cluster.close());
  return { cluster, logged };
}

async function administrate(url: string) {
  const connection = await connect({ servers: url });
  return { connection, jsm: await jetstreamManager(connection) };
}

const isConnected = ({ cluster }: Node) => until(() => cluster.state === 'connected');
const stateOf = ({ cluster }: Node, name: string) => cluster.nodes.find((node) => node.name === name)?.state;
const serversOf = ({ cluster }: Node, name: string) =>
  cluster.nodes.find((node) => node.name === name)?.servers.map((one) => one.name) ?? [];

describe.runIf(missing === undefined)('a node of a cluster', () => {
  const nats = share(() => startNatsServer());

  it('a node sees the others, their versions and the servers that they offer', async () => {
    const name = newName();
    const a = startNode(nats().url, 'a', name);
    a.cluster.publish([server('browser', { cluster: true }), server('files', { ready: false })]);
    await isConnected(a);
    const b = startNode(nats().url, 'b', name);
    await until(() => serversOf(b, 'a').length === 2 && stateOf(a, 'b') === 'up');
    const [seen] = b.cluster.nodes;
    expect(seen).toMatchObject({ name: 'a', state: 'up', api: 1 });
    expect(seen?.servers).toEqual([server('browser', { cluster: true }), server('files', { ready: false })]);
    expect(await b.cluster.ping('a')).toBeGreaterThan(0);
    const stream = await b.cluster.open('a');
    stream.write('hello');
    expect(String((await once(stream, 'data'))[0])).toBe('hello');
    stream.destroy();
  });

  it('a node says at once what has changed, and every second how busy its servers are', async () => {
    const name = newName();
    const [a, b] = [startNode(nats().url, 'a', name), startNode(nats().url, 'b', name)];
    await until(() => stateOf(b, 'a') === 'up');
    a.cluster.publish([server('late')]);
    const saidAt = performance.now();
    await until(() => serversOf(b, 'a').includes('late'));
    expect(performance.now() - saidAt).toBeLessThan(900);
    a.cluster.publish([server('late', { in_flight: 7 })]);
    await until(() => b.cluster.nodes[0]?.servers[0]?.in_flight === 7);
    a.cluster.publish([]);
    await until(() => serversOf(b, 'a').length === 0);
  });

  it('clusters of different names share a NATS server and see nothing of each other', async () => {
    const [one, two] = [newName(), newName()];
    const a = startNode(nats().url, 'a', one);
    const b = startNode(nats().url, 'b', two);
    const c = startNode(nats().url, 'c', one);
    await until(() => stateOf(a, 'c') === 'up' && stateOf(c, 'a') === 'up');
    await isConnected(b);
    expect(b.cluster.nodes).toEqual([]);
    expect(a.cluster.nodes.map((node) => node.name)).toEqual(['c']);
  });

  it('a node that leaves is forgotten at once', async () => {
    const name = newName();
    const [a, b] = [startNode(nats().url, 'a', name), startNode(nats().url, 'b', name)];
    await until(() => stateOf(b, 'a') === 'up');
    await a.cluster.close();
    await until(() => b.cluster.nodes.length === 0);
  });

  it('a node that drains says so, refuses connections, and takes them again later', async () => {
    const name = newName();
    const [a, b] = [startNode(nats().url, 'a', name), startNode(nats().url, 'b', name)];
    await until(() => stateOf(b, 'a') === 'up' && stateOf(a, 'b') === 'up');
    const open = await b.cluster.open('a');
    a.cluster.drain();
    await until(() => stateOf(b, 'a') === 'draining');
    await expect(b.cluster.open('a')).rejects.toMatchObject({ failure: { why: 'it is being drained' } });
    open.write('still open');
    expect(String((await once(open, 'data'))[0])).toBe('still open');
    a.cluster.undrain();
    await until(() => stateOf(b, 'a') === 'up');
    (await b.cluster.open('a')).destroy();
    open.destroy();
  });

  it('a second daemon of the same name is refused with what to do, and takes the name when it is free', async () => {
    const name = newName();
    const first = startNode(nats().url, 'a', name);
    await isConnected(first);
    const second = startNode(nats().url, 'a', name);
    await until(() => second.logged.length > 0);
    expect(second.cluster.state).toBe('connecting');
    expect(second.cluster.why).toContain(
      "is the node a of this cluster: give this one another name with 'node'",
    );
    expect(first.cluster.state).toBe('connected');
    await first.cluster.close();
    await isConnected(second);
  });

  it('a node whose process was killed is away within 3 s, and its name is free at once', async () => {
    const name = newName();
    const b = startNode(nats().url, 'b', name);
    await isConnected(b);
    const child = spawn(process.execPath, [(await killable).file, nats().url, name, 'a'], {
      stdio: 'inherit',
    });
    atEnd(() => child.kill('SIGKILL'));
    await until(() => stateOf(b, 'a') === 'up');
    const stream = await b.cluster.open('a');
    const broke = new Promise((resolve) => stream.once('close', resolve));
    child.kill('SIGKILL');
    const killedAt = performance.now();
    await broke;
    expect(performance.now() - killedAt).toBeLessThan(1500);
    await until(() => stateOf(b, 'a') === 'away');
    expect(performance.now() - killedAt).toBeLessThan(3000);
    const again = startNode(nats().url, 'a', name);
    await isConnected(again);
    await until(() => stateOf(b, 'a') === 'up');
  });
});

describe.runIf(missing === undefined)('a node and the NATS server', () => {
  it('a NATS server without JetStream is named, with how to enable it', async () => {
    const nats = await startNatsServer({ jetStream: false });
    const { cluster, logged } = startNode(nats.url, 'a', newName());
    await until(() => logged.length > 0);
    expect(cluster.why).toContain(
      "has no JetStream, which keeps the nodes of a cluster: start it with 'nats-server -js'",
    );
    expect(cluster.state).toBe('connecting');
  });

  it('nodes are lost with the NATS server, and join again when it starts with an empty memory', async () => {
    const nats = await startNatsServer();
    const name = newName();
    const [a, b] = [startNode(nats.url, 'a', name), startNode(nats.url, 'b', name)];
    a.cluster.publish([server('files')]);
    await until(() => serversOf(b, 'a').length === 1);
    await nats.kill();
    await until(() => a.cluster.state === 'lost' && b.cluster.state === 'lost');
    expect(b.cluster.nodes).toMatchObject([{ name: 'a', state: 'away', servers: [{ name: 'files' }] }]);
    expect(b.cluster.why).toContain('the connection to the NATS server is lost');
    await expect(b.cluster.open('a')).rejects.toMatchObject({ failure: { kind: 'node' } });
    await nats.start();
    await until(() => stateOf(b, 'a') === 'up' && stateOf(a, 'b') === 'up');
    expect(b.cluster.state).toBe('connected');
  });

  it('a wrong password is named, and nothing of it is shown', async () => {
    const nats = await startNatsServer({ config: ['authorization: {user: "u", password: "right"}'] });
    const credentials = { kind: 'user', user: 'u', password: 'wrong-secret' } as const;
    const { cluster, logged } = startNode(nats.url, 'a', newName(), {}, { credentials });
    await until(() => logged.length > 0);
    expect(cluster.why).toContain("check 'credentials' of 'cluster'");
    expect(logged.join()).not.toContain('wrong-secret');
    const good = { kind: 'user', user: 'u', password: 'right' } as const;
    await isConnected(startNode(nats.url, 'b', newName(), {}, { credentials: good }));
  });

  it('a node stays in the cluster while the bucket is gone, and makes it again', async () => {
    const nats = await startNatsServer();
    const name = newName();
    const [a, b] = [startNode(nats.url, 'a', name), startNode(nats.url, 'b', name)];
    a.cluster.publish([server('files')]);
    await until(() => serversOf(b, 'a').length === 1 && stateOf(a, 'b') === 'up');
    const states = new Set<string | undefined>();
    const { connection, jsm } = await administrate(nats.url);
    atEnd(() => connection.close());
    const bucket = `KV_toolherd-${name}`;
    const watched = setInterval(() => states.add(stateOf(b, 'a')), 20);
    atEnd(() => clearInterval(watched));
    await jsm.streams.delete(bucket);
    // both nodes, each with its servers
    await until(async () => (await jsm.streams.info(bucket).catch(() => undefined))?.state.messages === 4);
    expect([...states]).toEqual(['up']);
    expect([a.cluster.state, b.cluster.state]).toEqual(['connected', 'connected']);
  });
});
