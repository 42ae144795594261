import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { checkCluster } from '../../../../src/cli/commands/daemon/doctor/cluster.js';
import type { ClusterSpec } from '../../../../src/config/fields/spec.js';
import type { ClusterSummary, FleetStatus } from '../../../../src/fleet/fleet.js';
import { startNatsServer, whyNoNatsServer } from '../../../support/nats-server.js';
import { freePort } from '../../../support/remote-servers.js';
import { atEnd } from '../../../support/share.js';

const specOf = (...servers: string[]): ClusterSpec => ({
  ...{ engine: 'nats', name: 'team', node: 'desk', share: [], use: ['*'] },
  ...{ servers, credentials: undefined, tls: undefined },
});
const statusOf = (cluster: ClusterSummary) =>
  ({ servers: [], daemon: { cluster } }) as unknown as FleetStatus;

describe('what doctor says of the cluster', () => {
  it('nothing without a cluster, and that a connected node is well', async () => {
    expect(await checkCluster(undefined, undefined)).toEqual([]);
    const summary = { name: 'team', node: 'desk', state: 'connected', draining: false, nodes: 2 } as const;
    expect(await checkCluster(specOf('nats://127.0.0.1:1'), statusOf(summary))).toMatchObject([
      { level: 'ok', message: 'desk is a node of team, with 2 other nodes' },
    ]);
    expect(await checkCluster(specOf(), statusOf({ ...summary, draining: true }))).toMatchObject([
      { level: 'warn', fix: 'toolherd cluster undrain' },
    ]);
  });

  it('a NATS server that does not answer, and a program that is none', async () => {
    const other = createServer((socket) => socket.end('SSH-2.0-x\n'));
    const port = await freePort();
    other.listen(port, '127.0.0.1');
    atEnd(async () => void other.close());
    const closed = await freePort();
    const found = await checkCluster(
      specOf(`nats://127.0.0.1:${closed}`, `nats://127.0.0.1:${port}`),
      undefined,
    );
    expect(found).toMatchObject([
      { about: 'nats', level: 'error', message: expect.stringContaining('ECONNREFUSED') },
      { about: 'nats', level: 'error', message: expect.stringContaining('is no NATS server') },
    ]);
  });

  it('why the daemon is not connected, with what its NATS server says', async () => {
    const why = 'another daemon is the node desk';
    const summary = {
      name: 'team',
      node: 'desk',
      state: 'connecting',
      why,
      draining: false,
      nodes: 0,
    } as const;
    const found = await checkCluster(specOf(`nats://127.0.0.1:${await freePort()}`), statusOf(summary));
    expect(found).toMatchObject([
      { level: 'error', message: `desk is not connected: ${why}` },
      { about: 'nats', level: 'error' },
    ]);
  });

  const without = whyNoNatsServer();
  if (without !== undefined) console.warn(`left out, because ${without}: doctor and a real NATS server`);
  it.runIf(without === undefined)('a real NATS server, with JetStream and without', async () => {
    const [on, off] = await Promise.all([startNatsServer(), startNatsServer({ jetStream: false })]);
    expect(await checkCluster(specOf(on.url, off.url), undefined)).toMatchObject([
      { level: 'ok', message: expect.stringMatching(/nats-server \d.*, with JetStream$/) },
      {
        level: 'error',
        message: expect.stringContaining('without JetStream'),
        fix: expect.stringContaining('-js'),
      },
    ]);
  });
});
