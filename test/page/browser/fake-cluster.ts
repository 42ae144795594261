import type { BrowserContext } from 'playwright-core';
import type { ClusterNode, ClusterStatus } from '../../../src/fleet/fleet.js';

const since = '2026-01-01T00:00:00.000Z';

export function node(name: string, more: Partial<ClusterNode> = {}): ClusterNode {
  const facts = { self: false, version: '1.2.3', state: 'up' as const, since, latency_ms: 0.4 };
  return { name, ...facts, servers: [], ...more };
}

export function clusterOf(nodes: ClusterNode[], more: Partial<ClusterStatus> = {}): ClusterStatus {
  return {
    ...{ engine: 'nats', name: 'team', node: 'desk', state: 'connected', since, draining: false },
    servers_url: ['nats://nats.example.com:4222'],
    nodes,
    ...more,
  };
}

export interface FakeCluster {
  /** What the daemon answers from now on. */
  status: ClusterStatus;
  /** The orders of the page. */
  readonly orders: string[];
  /** Ends the connections of the page, and lets it open no other. */
  lose(): Promise<void>;
}

/** Answers the requests about the cluster in place of the daemon. Everything else reaches the daemon. */
export async function fakeCluster(window: BrowserContext, status: ClusterStatus): Promise<FakeCluster> {
  const open = new Set<{ close(): Promise<void> }>();
  let isLost = false;
  const cluster: FakeCluster = {
    status,
    orders: [],
    async lose() {
      isLost = true;
      for (const page of open) await page.close();
    },
  };
  const answerTo = (method: string): object | undefined => {
    if (!method.startsWith('fleet/cluster')) return undefined;
    if (method !== 'fleet/cluster') {
      cluster.orders.push(method);
      cluster.status = { ...cluster.status, draining: method === 'fleet/cluster_drain' };
    }
    return cluster.status;
  };
  await window.routeWebSocket(/\/socket$/, (page) => {
    if (isLost) return void page.close();
    open.add(page);
    const daemon = page.connectToServer();
    page.onMessage((text) => {
      const { id, method } = JSON.parse(String(text)) as { id?: unknown; method?: string };
      const result = method === undefined ? undefined : answerTo(method);
      if (result === undefined) daemon.send(text);
      else page.send(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
    daemon.onMessage((text) => {
      const message = JSON.parse(String(text)) as { result?: { daemon?: { cluster?: unknown } } };
      const daemonStatus = message.result?.daemon;
      if (daemonStatus !== undefined && 'cluster' in daemonStatus) {
        const { name, node: own, state, draining, nodes } = cluster.status;
        daemonStatus.cluster = { name, node: own, state, draining, nodes: nodes.length };
      }
      page.send(JSON.stringify(message));
    });
  });
  return cluster;
}
