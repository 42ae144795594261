import type { FleetHistory, ServerHistory } from '../../fleet/fleet.js';
import { HISTORY_MINUTES } from '../../fleet/history.js';
import { serverKey } from '../text/server-state.js';

/**
 * A history with a newer tail of it, so that the page fetches a day once and then a few minutes at a time. The servers are
 * those of the tail: one that was removed goes. Undefined: the two do not meet, and the page fetches the day again.
 */
export function mergeHistory(kept: FleetHistory, tail: FleetHistory): FleetHistory | undefined {
  const minute = kept.minute_ms;
  const offset = Math.round((Date.parse(tail.from) - Date.parse(kept.from)) / minute);
  const length = lengthOf(kept);
  if (tail.minute_ms !== minute || offset < 0 || offset > length) return undefined;
  const surplus = Math.max(0, offset + lengthOf(tail) - HISTORY_MINUTES);
  const before = new Map(kept.servers.map((server) => [serverKey(server), server]));
  const join = <Value>(old: readonly Value[] | undefined, added: readonly Value[], none: Value): Value[] =>
    [...(old?.slice(0, offset) ?? new Array<Value>(offset).fill(none)), ...added].slice(surplus);
  const servers = tail.servers.map((server): ServerHistory => {
    const old = before.get(serverKey(server));
    return {
      name: server.name,
      agent: server.agent,
      calls: join(old?.calls, server.calls, 0),
      failures: join(old?.failures, server.failures, 0),
      restarts: join(old?.restarts, server.restarts, 0),
      rss_bytes: join(old?.rss_bytes, server.rss_bytes, null),
    };
  });
  const from = new Date(Date.parse(kept.from) + surplus * minute).toISOString();
  return { ...kept, ...tail, from, servers };
}

function lengthOf({ servers }: FleetHistory): number {
  return servers[0]?.calls.length ?? 0;
}
