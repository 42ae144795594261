import { readFileSync } from 'node:fs';
import type { ClusterStatus } from '../../src/fleet/cluster.js';
import { config, type Entry } from '../faults/config.js';
import { type Herd, startHerd, until } from '../support/herd.js';
import type { NatsServer } from '../support/nats-server.js';

let clusters = 0;

/** Every test has a cluster to itself. */
export function newClusterName(): string {
  clusters += 1;
  return `c${process.pid}-${clusters}`;
}

export interface NodeOptions {
  share?: readonly string[];
  use?: readonly string[];
  daemon?: Record<string, unknown>;
  cluster?: Record<string, unknown>;
}

/** The config of a daemon that is a node of a cluster. */
export function nodeConfig(
  nats: Pick<NatsServer, 'url'>,
  name: string,
  node: string,
  servers: readonly Entry[],
  { share = ['*'], use = ['*'], daemon, cluster }: NodeOptions = {},
): string {
  const part = { engine: 'nats', name, servers: [nats.url], node, share, use, ...cluster };
  return `${config(servers, daemon)}cluster: ${JSON.stringify(part)}\n`;
}

/** Daemons with homes of their own, each a node of one cluster. Resolves when each sees the others. */
export async function startNodes<Name extends string>(
  nats: Pick<NatsServer, 'url'>,
  nodes: Readonly<Record<Name, readonly Entry[]>>,
  options: Partial<Record<Name, NodeOptions>> = {},
): Promise<Record<Name, Herd>> {
  const name = newClusterName();
  const names = Object.keys(nodes) as Name[];
  const herds = await Promise.all(
    names.map((node) => startHerd(nodeConfig(nats, name, node, nodes[node], options[node]))),
  );
  await Promise.all(herds.map((herd) => seesOthers(herd, names.length - 1)));
  return Object.fromEntries(names.map((node, index) => [node, herds[index]])) as Record<Name, Herd>;
}

export async function clusterOf({ fleet }: Herd): Promise<ClusterStatus> {
  return fleet.cluster();
}

export function seesOthers(herd: Herd, count: number): Promise<unknown> {
  return until(async () => {
    const { state, nodes } = await clusterOf(herd);
    return (
      state === 'connected' && nodes.filter((node) => !node.self && node.state === 'up').length === count
    );
  });
}

export async function namesOf({ fleet }: Herd): Promise<string[]> {
  return (await fleet.status()).servers.map(({ name }) => name);
}

/** How often each key was counted by the tool itself. */
export function countsIn(file: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of readFileSync(file, 'utf8').trimEnd().split('\n'))
    counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}
