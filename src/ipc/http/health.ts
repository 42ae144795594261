import type { Detail, FleetStatus } from '../../fleet/fleet.js';
import { DETAILS } from '../../fleet/metrics.js';

const PROBLEMS: readonly Detail[] = ['quarantined', 'waiting', 'misconfigured'];

/** A summary for health checks. The socket has the details. */
export function healthOf({ servers, daemon }: FleetStatus) {
  const counts = DETAILS.map((detail) => [
    detail,
    servers.filter((status) => status.detail === detail).length,
  ]);
  const hasProblem = daemon.config_error !== null || servers.some(({ detail }) => PROBLEMS.includes(detail));
  return {
    status: hasProblem ? 'degraded' : 'ok',
    version: daemon.version,
    servers: { total: servers.length, ...Object.fromEntries(counts) },
  };
}
