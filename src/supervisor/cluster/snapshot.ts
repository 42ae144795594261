import type { ServerSpec } from '../../config/fields/spec.js';
import type { ServerSnapshot } from '../server/server-snapshot.js';
import type { PeerReplica } from './peers.js';
import { nowhere } from './refusals.js';

/** A snapshot with what other nodes have. `connections`: those of this daemon to them. */
export function withNodes(
  snapshot: ServerSnapshot,
  peers: readonly PeerReplica[],
  connections: readonly ServerSnapshot[],
): ServerSnapshot {
  return {
    ...snapshot,
    inFlight: connections.reduce((sum, { inFlight }) => sum + inFlight, snapshot.inFlight),
    opened: snapshot.opened ?? connections.find(({ opened }) => opened !== undefined)?.opened,
    nodes: peers.map(({ node, state, load }) => ({ node, state, inFlight: load })),
  };
}

/** The state of a server that only other nodes run. `since`: when it last changed; a date. */
export function snapshotOfNodes(
  spec: ServerSpec,
  peers: readonly PeerReplica[],
  since: number,
): ServerSnapshot {
  const as = (state: ServerSnapshot['state'], detail: ServerSnapshot['detail']): ServerSnapshot => ({
    ...{ state, detail, states: { server: state, keeper: detail } },
    ...{ pids: [], incarnation: 0, restarts: 0, inFlight: 0, isElsewhere: true, since },
    ...{ nextRetryAt: undefined, lastError: undefined, failedAt: undefined, opened: undefined },
  });
  if (peers.length === 0)
    return {
      ...as('disconnected', 'waiting'),
      lastError: { cause: 'lost', ...nowhere(spec) },
      failedAt: since,
    };
  if (peers.some(({ isReady }) => isReady)) return as('connected', 'running');
  if (peers.some(({ mayStart }) => mayStart)) return as('created', 'idle');
  const nodes = peers.map(({ node, state }) => `${node} (${state})`).join(', ');
  const message = `${spec.name}: no node that offers it can take calls now`;
  const fix = 'see "toolherd why" on one of these nodes';
  return {
    ...as('error', 'quarantined'),
    lastError: { cause: 'lost', message, why: `nodes that offer it: ${nodes}`, fix },
    failedAt: since,
  };
}
