import { describe, expect, it } from 'vitest';
import { clusterText } from '../../../../src/cli/commands/daemon/cluster-text.js';
import { type ClusterNode, type ClusterStatus, noCluster } from '../../../../src/fleet/fleet.js';
import { config, server } from '../../../faults/config.js';
import { toolherd } from '../../../support/command.js';
import { startHerd } from '../../../support/herd.js';

const NOW = Date.parse('2026-01-01T00:01:00Z');
const since = '2026-01-01T00:00:00.000Z';

function node(name: string, more: Partial<ClusterNode> = {}): ClusterNode {
  const shown = { self: false, version: '1.0.0', state: 'up' as const, since, latency_ms: 0.4321 };
  return { name, ...shown, servers: [], ...more };
}

const STATUS: ClusterStatus = {
  ...{ engine: 'nats', name: 'team', node: 'desk', state: 'connected', since, draining: false },
  servers_url: ['nats://nats.example.com:4222'],
  nodes: [
    node('desk', {
      self: true,
      latency_ms: null,
      servers: [{ name: 'git', state: 'created', in_flight: 0, cluster: false }],
    }),
    node('gpu', {
      servers: [
        { name: 'embed', state: 'connected', in_flight: 3, cluster: true },
        { name: 'git', state: 'connected', in_flight: 1, cluster: false },
      ],
    }),
    node('old', {
      state: 'away',
      version: null,
      latency_ms: null,
      servers: [{ name: 'embed', state: 'connected', in_flight: 0, cluster: true }],
    }),
  ],
};

describe('the text of cluster status', () => {
  it('has this node, every node, and each server with the nodes that have it', () => {
    expect(clusterText(STATUS, NOW, undefined)).toBe(`desk: a node of the cluster team
nats: connected for 1m0s (nats://nats.example.com:4222)

NODE         STATE  SINCE  VERSION  LATENCY  CALLS  SERVERS
desk (this)  up     1m0s   1.0.0    -        0      1
gpu          up     1m0s   1.0.0    0.43ms   4      2
old          away   1m0s   -        -        0      1

SERVER  CALLS  BALANCED  NODES
embed   3      yes       gpu connected, old away
git     1      no        desk created, gpu connected`);
  });

  it('says why the cluster is not there, and what to do', () => {
    const lost = { ...STATUS, state: 'lost' as const, why: 'connection refused', fix: 'start it', nodes: [] };
    expect(clusterText(lost, NOW, undefined)).toBe(`desk: a node of the cluster team
nats: lost for 1m0s (nats://nats.example.com:4222)
why: connection refused
fix: start it`);
    const problem = { why: 'c.yaml:3: x', fix: 'set it' };
    expect(clusterText(noCluster(problem), NOW, undefined)).toBe(
      'this daemon is in no cluster\nwhy: c.yaml:3: x\nfix: set it',
    );
    expect(clusterText(noCluster(), NOW, undefined)).toContain("its config has no 'cluster'");
  });

  it('keeps every line of its tables within the terminal', () => {
    const lines = clusterText(STATUS, NOW, 40).split('\n').slice(3);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(40);
  });
});

describe('toolherd cluster', () => {
  it('says that there is no cluster, and its drain fails and leads to the docs', async () => {
    const { home } = await startHerd(config([server('good', 'good.mjs')]));
    const run = (...args: string[]) =>
      toolherd(['cluster', ...args], { cwd: home.folder, env: home.environment });
    expect(await run()).toMatchObject({ status: 0, stdout: expect.stringContaining('in no cluster') });
    expect((await run('status', '--exit-code')).status).toBe(1);
    const drain = await run('drain');
    expect(drain.status).toBe(1);
    expect(drain.stderr).toContain('this daemon is in no cluster');
    expect(drain.stderr).toContain('docs/CLUSTER.md');
    expect(await run('drain', '--exit-code')).toMatchObject({ status: 2 });
    expect((await run('drian')).stderr).toContain("did you mean 'drain'");
  });

  it('says which line of the config is wrong with the cluster', async () => {
    const text = `${config([server('good', 'good.mjs')])}cluster: {servers: ["nats://127.0.0.1:1"], credentials: {token: "\${NO_SUCH_TOKEN}"}}\n`;
    const { home, say } = await startHerd(text);
    await say('good', 'echo', { value: 'the herd runs' });
    const { stdout } = await toolherd(['cluster'], { cwd: home.folder, env: home.environment });
    expect(stdout).toMatch(
      /why: .*config\.yaml:\d+: Environment variable 'NO_SUCH_TOKEN' not found\nfix: set/,
    );
  });
});
