import { describe, expect, it } from 'vitest';
import type { ClusterNode, ClusterServer } from '../../../src/fleet/fleet.js';
import { callsOf, placesOf, sharedServers } from '../../../src/page/text/cluster.js';

const server = (name: string, in_flight = 0, cluster = false): ClusterServer => ({
  ...{ name, in_flight, cluster },
  state: 'connected',
});
const node = (name: string, servers: ClusterServer[], self = false): ClusterNode => ({
  ...{ name, self, servers, version: '1', latency_ms: null },
  state: 'up',
  since: '2026-01-01T00:00:00.000Z',
});

describe('the servers of a cluster', () => {
  const nodes = [
    node('desk', [server('git', 1), server('fetch', 0, true)], true),
    node('gpu', [server('embed', 4), server('git', 2)]),
  ];

  it('are one row for a name, with the calls and the nodes of all of them', () => {
    const rows = sharedServers(nodes).map(({ name, calls, isBalanced, nodes: places }) => [
      name,
      calls,
      isBalanced,
      places.map((place) => place.node.name).join(),
    ]);
    expect(rows).toEqual([
      ['embed', 4, true, 'gpu'],
      ['fetch', 0, true, 'desk'],
      ['git', 3, false, 'desk,gpu'],
    ]);
    expect(nodes.map(callsOf)).toEqual([1, 6]);
  });

  it('say where they are, also or only', () => {
    const there = [{ node: 'gpu', state: 'connected' as const, in_flight: 0 }];
    expect(placesOf({})).toBe('');
    expect(placesOf({ nodes: [] })).toBe('');
    expect(placesOf({ nodes: there })).toBe('also on gpu');
    expect(placesOf({ nodes: there, elsewhere: true })).toBe('on gpu');
  });
});
