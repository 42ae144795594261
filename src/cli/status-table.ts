import type { ServerStatus } from '../ipc/fleet.js';
import { oneLine, widthOf } from './plain-text.js';
import { ago, bytes, table } from './table.js';

const HEADER = ['NAME', 'STATE', 'DETAIL', 'PID', 'SINCE', 'RESTARTS', 'CALLS', 'P50', 'MEMORY', 'TOOLS'];
/** What a narrow terminal does without, in this order. */
const DISPENSABLE = ['P50', 'MEMORY', 'RESTARTS', 'SINCE', 'PID', 'CALLS', 'TOOLS'];

/** The herd as a table, and under it what went wrong last. */
export function statusTable(servers: readonly ServerStatus[], now: number, columns?: number): string {
  if (servers.length === 0) return 'no servers are configured';
  const rows = servers.map((server) => [
    server.name,
    server.state,
    server.detail,
    server.pids.join(',') || '-',
    ago(server.since, now),
    String(server.restarts),
    server.failures === 0 ? String(server.calls) : `${server.calls} (${server.failures} failed)`,
    server.latency_ms.p50 === null ? '-' : `${server.latency_ms.p50}ms`,
    server.pids.length === 0 ? '-' : bytes(server.rss_bytes),
    String(server.tools),
  ]);
  const notes = servers.flatMap((server) => [noteOf(server) ?? [], pinNoteOf(server) ?? []].flat());
  return [narrowed(rows, columns), ...notes].join('\n');
}

/** Why a server does not run, where that is not what somebody wanted. */
export function noteOf({ name, last_error, state, detail, next_retry_at }: ServerStatus): string | undefined {
  const isTrying = detail === 'running' && state !== 'connected';
  const isInTrouble = ['waiting', 'quarantined', 'needs_auth'].includes(detail) || isTrying;
  if (last_error === null || !isInTrouble) return undefined;
  const next = next_retry_at === null ? '' : `; next try at ${next_retry_at}`;
  const remedy = detail === 'needs_auth' ? `; see "toolherd auth ${name}"` : next;
  return oneLine(`${name}: ${last_error.message.replace(`${name}: `, '')}${remedy}`);
}

/** That tools are not what they were when they were pinned. */
export function pinNoteOf({ name, unaccepted }: ServerStatus): string | undefined {
  if (unaccepted === undefined) return undefined;
  const { tools, blocked } = unaccepted;
  const what = tools === 1 ? '1 tool is not what was pinned' : `${tools} tools are not what was pinned`;
  const follows = blocked ? ` and ${tools === 1 ? 'is' : 'are'} blocked` : '';
  return oneLine(`${name}: ${what}${follows}; see "toolherd pins ${name}"`);
}

/** Nobody is at the other end of its address. */
export function isOutOfReach({ transport, state, last_error }: ServerStatus): boolean {
  return transport !== 'stdio' && state !== 'connected' && last_error?.cause === 'lost';
}

function narrowed(rows: readonly (readonly string[])[], columns = Number.POSITIVE_INFINITY): string {
  const hidden = new Set<string>();
  const isShown = (_: string, column: number) => !hidden.has(HEADER[column]!);
  for (const title of [...DISPENSABLE, '']) {
    const text = table(
      HEADER.filter(isShown),
      rows.map((row) => row.filter(isShown)),
    );
    if (text.split('\n').every((line) => widthOf(line) <= columns)) return text;
    hidden.add(title);
  }
  return table(
    HEADER.filter(isShown),
    rows.map((row) => row.filter(isShown)),
    columns,
  );
}
