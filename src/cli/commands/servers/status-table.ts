import type { ServerStatus } from '../../../fleet/fleet.js';
import { listNotesOf, noteOf, pinNoteOf, reasonOf } from '../../../fleet/texts/server-notes.js';
import type { Environment } from '../../../shared/environment.js';
import { elapsedSince } from '../../../shared/text/elapsed.js';
import { bytes, table } from '../../ui/table.js';
import { NO_SERVERS, singleLine, widthOf } from '../../ui/text.js';

const HEADER = ['NAME', 'STATE', 'DETAIL', 'PID', 'SINCE', 'RESTARTS', 'CALLS', 'P50', 'MEMORY', 'TOOLS'];
const AGENT_LENGTH = 32;
/** Of one server; the rest is a number. */
const SHOWN_NODES = 3;
/** The columns that a narrow terminal does without, in this order. */
const DISPENSABLE = ['P50', 'MEMORY', 'RESTARTS', 'SINCE', 'PID', 'CALLS', 'TOOLS', 'NODES'];

/**
 * The servers as a table, and below it their problems. If servers of other agents are among them, a column says whose
 * each one is; if nodes of the cluster have some of them, a column says which.
 */
export function statusTable(
  servers: readonly ServerStatus[],
  now: number,
  columns?: number,
  environment: Environment = {},
): string {
  if (servers.length === 0) return NO_SERVERS;
  const hasOthers = servers.some(({ other_view }) => other_view === true);
  const hasNodes = servers.some(({ nodes = [] }) => nodes.length > 0);
  const header = [...HEADER, ...(hasNodes ? ['NODES'] : []), ...(hasOthers ? ['AGENT'] : [])];
  const rows = servers.map((server) => [
    server.name,
    server.state,
    server.detail,
    server.pids.join(',') || '-',
    elapsedSince(server.since, now),
    String(server.restarts),
    server.failures === 0 ? String(server.calls) : `${server.calls} (${server.failures} failed)`,
    server.latency_ms.p50 === null ? '-' : `${server.latency_ms.p50}ms`,
    server.pids.length === 0 ? '-' : bytes(server.rss_bytes),
    String(server.tools),
    ...(hasNodes ? [nodesOf(server)] : []),
    ...(hasOthers ? [shortened(server.agent ?? '-')] : []),
  ]);
  const notes = servers.flatMap((server) =>
    [
      noteOf(server, environment) ?? [],
      reasonOf(server) ?? [],
      listNotesOf(server, now),
      pinNoteOf(server) ?? [],
    ].flat(),
  );
  return [narrowed(header, rows, columns), ...notes].join('\n');
}

/** The nodes of the cluster that have it. */
function nodesOf({ nodes, elsewhere }: ServerStatus): string {
  if (nodes === undefined) return '-';
  const names = [...(elsewhere === true ? [] : ['this']), ...nodes.map(({ node }) => node)];
  const more = names.length > SHOWN_NODES ? ` +${names.length - SHOWN_NODES}` : '';
  return names.slice(0, SHOWN_NODES).join(', ') + more || '-';
}

/** What the table has no column for, of each server. */
export function statusDetails(servers: readonly ServerStatus[]): string[] {
  return servers.flatMap((server) => {
    const { name, transport, lifecycle, incarnation, in_flight, latency_ms, protocol_version } = server;
    const { herd, herd_servers } = server;
    const info = server.server_info ?? {};
    const facts = [
      transport,
      ...(herd === undefined ? [] : [`of the herd ${herd}`]),
      ...(herd_servers === undefined ? [lifecycle] : [`${herd_servers} servers`]),
      `incarnation ${incarnation}`,
      `${in_flight} in flight`,
      ...(latency_ms.p99 === null ? [] : [`p99 ${latency_ms.p99}ms`]),
      ...(protocol_version === null ? [] : [`MCP ${protocol_version}`]),
      [info.name, info.version].filter((word) => typeof word === 'string').join(' '),
    ].filter((fact) => fact !== '');
    const lists = Object.entries(server.lists ?? {}).map(([list, { freshness }]) => {
      const count = server[list as 'tools' | 'prompts' | 'resources'] as number | undefined;
      return `${list} (${count === undefined ? '' : `${count}, `}${freshness})`;
    });
    return [
      singleLine(`${name}: ${facts.join(', ')}`),
      ...(lists.length === 0 ? [] : [`${name}: lists: ${lists.join(', ')}`]),
    ];
  });
}

/** Nothing answers at its address. */
export function isUnreachable({ transport, state, last_error }: ServerStatus): boolean {
  return transport !== 'stdio' && state !== 'connected' && last_error?.cause === 'lost';
}

/** The end of a path tells projects apart; `--json` has the whole path. */
function shortened(agent: string): string {
  return agent.length > AGENT_LENGTH ? `…${agent.slice(1 - AGENT_LENGTH)}` : agent;
}

function narrowed(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  columns = Number.POSITIVE_INFINITY,
): string {
  const hidden = new Set<string>();
  const isShown = (_: string, column: number) => !hidden.has(header[column]!);
  for (const title of [...DISPENSABLE, '']) {
    const text = table(
      header.filter(isShown),
      rows.map((row) => row.filter(isShown)),
    );
    if (text.split('\n').every((line) => widthOf(line) <= columns)) return text;
    hidden.add(title);
  }
  return table(
    header.filter(isShown),
    rows.map((row) => row.filter(isShown)),
    columns,
  );
}
