import { describe, expect, it } from 'vitest';
import type { ClusterNode, OfferedServer } from '../../../src/cluster/cluster.js';
import type { ServerSpec } from '../../../src/config/fields/spec.js';
import { clusterServerSpec } from '../../../src/config/node-servers.js';
import { ClusterServers } from '../../../src/daemon/cluster/cluster-servers.js';

const offer = (name: string, identity = `id of ${name}`): OfferedServer => ({
  ...{ name, identity, state: 'connected', detail: 'running' },
  ...{ ready: true, may_start: true, cluster: false, in_flight: 0 },
});

const node = (
  name: string,
  servers: readonly OfferedServer[],
  more: Partial<ClusterNode> = {},
): ClusterNode => ({
  ...{ name, instance: `${name}-1`, version: '1', api: 1, state: 'up', since: 0, reports: 1, servers },
  ...more,
});

/** An entry of this config, as far as its name and identity count. */
const entry = (name: string, identity?: string): ServerSpec => {
  const { cluster, ...spec } = clusterServerSpec(name, identity ?? '', {
    scope: 'global',
    file: 'f',
    line: 1,
    column: 1,
  });
  const own = { ...spec, transport: 'http', sseReadTimeoutMs: 1, terminateOnClose: true } as const;
  return identity === undefined ? own : { ...own, cluster };
};

function servers(own: readonly ServerSpec[], use: readonly string[] = ['*']) {
  const all = new ClusterServers('config.yaml');
  all.configure(own, use);
  const names = () => all.specs.map(({ name }) => name);
  const nodesOf = (spec: ServerSpec | undefined) =>
    all
      .peersOf(spec!)
      ?.list()
      .map((peer) => peer.node);
  const find = (name: string) => all.specs.find((spec) => spec.name === name);
  return { all, names, nodesOf, find };
}

describe('the servers of other nodes', () => {
  it('equal entries of two nodes are one server, under its name', () => {
    const { all, names, nodesOf, find } = servers([]);
    expect(all.update([node('a', [offer('gpu')]), node('b', [offer('gpu'), offer('files')])])).toBe(true);
    expect(names()).toEqual(['gpu', 'files']);
    expect(nodesOf(find('gpu'))).toEqual(['a', 'b']);
    expect(find('gpu')).toMatchObject({ transport: 'cluster', cluster: { isPlacedHere: false } });
  });

  it('an own entry with the same identity has the other nodes as replicas', () => {
    const own = entry('gpu', 'id of gpu');
    const { all, names, nodesOf } = servers([own]);
    expect(all.update([node('a', [offer('gpu')])])).toBe(false);
    expect(names()).toEqual([]);
    expect(nodesOf(own)).toEqual(['a']);
    expect(all.peersOf(own)?.list()[0]).toMatchObject({
      ...{ node: 'a', isReady: true, mayStart: true, load: 0, state: 'connected' },
      spec: { name: 'gpu', herd: 'a', remoteName: 'gpu', isNode: true },
    });
  });

  it('an own entry of another kind keeps its name, and different ones of two nodes have the names of these', () => {
    const { all, names, nodesOf, find } = servers([entry('gpu', 'mine'), entry('plain')]);
    all.update([
      node('a', [offer('gpu'), offer('plain'), offer('db', 'one')]),
      node('b', [offer('db', 'two')]),
    ]);
    expect(names()).toEqual(['a/gpu', 'a/plain', 'a/db', 'b/db']);
    expect(nodesOf(find('b/db'))).toEqual(['b']);
    expect(all.peersOf(find('b/db')!)?.list()[0]?.spec).toMatchObject({ name: 'b/db', remoteName: 'db' });
  });

  it('names that the config does not use are left out', () => {
    const { all, names } = servers([], ['gpu*']);
    all.update([node('a', [offer('gpu-1'), offer('files')])]);
    expect(names()).toEqual(['gpu-1']);
  });

  it('a node that is away or drains takes no calls, and its servers keep their names', () => {
    const { all, names, nodesOf, find } = servers([]);
    for (const state of ['away', 'draining'] as const) {
      all.update([node('a', [offer('gpu')], { state })]);
      expect([names(), nodesOf(find('gpu'))]).toEqual([['gpu'], []]);
    }
    all.update([]);
    expect(names()).toEqual([]);
  });

  it('a server keeps its spec while it is the same, and its connection while it is the same daemon', () => {
    const { all, find } = servers([]);
    const peer = () => all.peersOf(find('gpu')!)?.list()[0];
    all.update([node('a', [offer('gpu')])]);
    const [spec, first] = [find('gpu'), peer()];
    expect(peer()).toBe(first);
    all.update([node('a', [offer('gpu'), offer('more')], { reports: 2 })]);
    expect(find('gpu')).toBe(spec);
    expect(peer()).not.toBe(first);
    expect(peer()?.spec).toBe(first?.spec);
    all.update([node('a', [offer('gpu')], { instance: 'a-2' })]);
    expect(peer()?.spec).not.toBe(first?.spec);
  });

  it('a report of a node is heard by its servers and by no other one', () => {
    const { all, find } = servers([]);
    const [a, b] = [node('a', [offer('gpu')]), node('b', [offer('files')])];
    all.update([a, b]);
    const heard: string[] = [];
    for (const name of ['gpu', 'files']) all.peersOf(find(name)!)?.onChange(() => heard.push(name));
    all.reported({ ...a, reports: 2, servers: [{ ...offer('gpu'), in_flight: 4 }] });
    expect(heard).toEqual(['gpu']);
    expect(all.peersOf(find('gpu')!)?.list()[0]?.load).toBe(4);
  });
});
