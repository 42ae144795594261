import type { FleetEvent, FleetStatus, ServerStatus, StateEvent } from '../../fleet/fleet.js';

/**
 * The status after some events: a state is shown at once, before the next `fleet/status` has the rest. The event of a server
 * with replicas is that of one of them, and two views may have a server of one name: these wait for `fleet/status`.
 */
export function withEvents(status: FleetStatus, events: readonly FleetEvent[]): FleetStatus {
  const newest = new Map<string, StateEvent>();
  for (const event of events) if (event.topic === 'state') newest.set(event.server, event);
  if (newest.size === 0) return status;
  const names = new Map<string, number>();
  for (const { name } of status.servers) names.set(name, (names.get(name) ?? 0) + 1);
  const servers = status.servers.map((server) => {
    const event = newest.get(server.name);
    const isUnique = names.get(server.name) === 1 && server.pids.length < 2;
    return event === undefined || !isUnique ? server : withState(server, event);
  });
  return { ...status, servers };
}

function withState(server: ServerStatus, { state, detail, at, incarnation }: StateEvent): ServerStatus {
  if (Date.parse(at) < Date.parse(server.since)) return server;
  const isSame = server.state === state && server.detail === detail;
  return { ...server, state, detail, incarnation, since: isSame ? server.since : at };
}
