import type { ClusterNode, ClusterStatus } from '../../../fleet/fleet.js';
import { elapsedSince } from '../../../shared/text/elapsed.js';
import { table } from '../../ui/table.js';
import { singleLine } from '../../ui/text.js';

/** The cluster for people: this node, then all nodes, then the servers that they share. */
export function clusterText(status: ClusterStatus, now: number, columns: number | undefined): string {
  const { state, nodes } = status;
  const servers = new Set(nodes.flatMap((node) => node.servers.map(({ name }) => name)));
  return [
    ...headOf(status, now),
    ...(status.why === undefined ? [] : [singleLine(`why: ${status.why}`)]),
    ...(status.fix === undefined ? [] : [singleLine(`fix: ${status.fix}`)]),
    ...(state === 'off' || nodes.length === 0 ? [] : ['', nodeTable(nodes, now, columns)]),
    ...(servers.size === 0 ? [] : ['', serverTable(nodes, [...servers].sort(), columns)]),
  ].join('\n');
}

function headOf(
  { engine, name, node, state, since, draining, servers_url, why }: ClusterStatus,
  now: number,
) {
  if (state === 'off')
    return [
      why === undefined
        ? "this daemon is in no cluster: its config has no 'cluster'"
        : 'this daemon is in no cluster',
    ];
  const age = since === null ? '' : ` for ${elapsedSince(since, now)}`;
  const drained = draining ? ', draining' : '';
  return [
    singleLine(`${node}: a node of the cluster ${name}${drained}`),
    singleLine(`${engine}: ${state}${age} (${servers_url.join(', ')})`),
  ];
}

function nodeTable(nodes: readonly ClusterNode[], now: number, columns: number | undefined): string {
  const header = ['NODE', 'STATE', 'SINCE', 'VERSION', 'LATENCY', 'CALLS', 'SERVERS'];
  const rows = nodes.map(({ name, self, state, since, version, latency_ms, servers }) => [
    self ? `${name} (this)` : name,
    state,
    elapsedSince(since, now),
    version ?? '-',
    latency_ms === null ? '-' : `${Number(latency_ms.toPrecision(2))}ms`,
    String(servers.reduce((sum, { in_flight }) => sum + in_flight, 0)),
    String(servers.length),
  ]);
  return table(header, rows, columns);
}

/** One line a server: which nodes have it, and how it does there. */
function serverTable(
  nodes: readonly ClusterNode[],
  names: readonly string[],
  columns: number | undefined,
): string {
  const rows = names.map((name) => {
    const found = nodes.flatMap((node) =>
      node.servers.filter((server) => server.name === name).map((server) => ({ node, server })),
    );
    const calls = found.reduce((sum, { server }) => sum + server.in_flight, 0);
    const isBalanced = found.some(({ server }) => server.cluster);
    const places = found.map(({ node, server }) =>
      node.state === 'up' ? `${node.name} ${server.state}` : `${node.name} ${node.state}`,
    );
    return [name, String(calls), isBalanced ? 'yes' : 'no', places.join(', ')];
  });
  return table(['SERVER', 'CALLS', 'BALANCED', 'NODES'], rows, columns);
}
