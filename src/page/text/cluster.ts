import type { ClusterNode, ClusterServer, ClusterStatus } from '../../fleet/fleet.js';
import type { Tone } from './server-state.js';

const NODE_TONES: Readonly<Record<ClusterNode['state'], Tone>> = {
  up: 'good',
  draining: 'warn',
  away: 'bad',
};
const SERVER_TONES: Readonly<Record<ClusterServer['state'], Tone>> = {
  created: 'calm',
  connecting: 'busy',
  connected: 'good',
  error: 'warn',
  disconnected: 'calm',
};
const CLUSTER_TONES: Readonly<Record<ClusterStatus['state'], Tone>> = {
  off: 'calm',
  connecting: 'busy',
  connected: 'good',
  lost: 'bad',
};

export const nodeTone = (state: ClusterNode['state']): Tone => NODE_TONES[state] ?? 'calm';
export const clusterTone = (state: ClusterStatus['state']): Tone => CLUSTER_TONES[state] ?? 'calm';
export const sharedTone = (state: ClusterServer['state']): Tone => SERVER_TONES[state] ?? 'calm';

export function callsOf({ servers }: ClusterNode): number {
  return servers.reduce((sum, { in_flight }) => sum + in_flight, 0);
}

/** A server of the cluster, with the nodes that share it. */
export interface SharedServer {
  name: string;
  calls: number;
  isBalanced: boolean;
  nodes: readonly { node: ClusterNode; server: ClusterServer }[];
}

export function sharedServers(nodes: readonly ClusterNode[]): SharedServer[] {
  const found = new Map<string, { node: ClusterNode; server: ClusterServer }[]>();
  for (const node of nodes)
    for (const server of node.servers)
      found.set(server.name, [...(found.get(server.name) ?? []), { node, server }]);
  return [...found]
    .map(([name, places]) => ({
      name,
      calls: places.reduce((sum, { server }) => sum + server.in_flight, 0),
      isBalanced: places.some(({ server }) => server.cluster),
      nodes: places,
    }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}
