import type { Detail, FleetStatus } from '../../fleet/fleet.js';
import { DETAILS } from '../../fleet/metrics.js';

const TROUBLE: readonly Detail[] = ['quarantined', 'waiting', 'misconfigured'];

/** In a few words whether all is well. Whoever wants to know more asks the socket. */
export function healthOf({ servers, daemon }: FleetStatus) {
  const counts = DETAILS.map((detail) => [
    detail,
    servers.filter((status) => status.detail === detail).length,
  ]);
  const hasTrouble = daemon.config_error !== null || servers.some(({ detail }) => TROUBLE.includes(detail));
  return {
    status: hasTrouble ? 'degraded' : 'ok',
    version: daemon.version,
    servers: { total: servers.length, ...Object.fromEntries(counts) },
  };
}
