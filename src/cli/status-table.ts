import type { ServerStatus } from '../ipc/fleet.js';
import { ago, bytes, table } from './table.js';

const HEADER = ['NAME', 'STATE', 'DETAIL', 'PID', 'SINCE', 'RESTARTS', 'CALLS', 'P50', 'MEMORY', 'TOOLS'];

/** The herd as a table, and under it what went wrong last. */
export function statusTable(servers: readonly ServerStatus[], now: number): string {
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
  const notes = servers.flatMap(({ name, last_error, detail, next_retry_at }) => {
    if (last_error === null || (detail !== 'waiting' && detail !== 'quarantined' && detail !== 'disabled'))
      return [];
    const next = next_retry_at === null ? '' : `; next try at ${next_retry_at}`;
    return [`${name}: ${last_error.message.replace(`${name}: `, '')}${next}`];
  });
  return [table(HEADER, rows), ...notes].join('\n');
}
