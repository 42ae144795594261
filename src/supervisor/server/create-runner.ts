import type { HerdServerSpec, ServerSpec } from '../../config/fields/spec.js';
import { ClusterRunner } from '../cluster/cluster-runner.js';
import type { ReplicaOptions } from './replica.js';
import { ReplicaSet } from './replica-set.js';
import type { Runner } from './runner.js';
import { TransientPool } from './transient-pool.js';

/** Whether replicas of the server run on this node. */
export function runsHere({ transport, cluster }: ServerSpec): boolean {
  return transport !== 'cluster' && cluster?.isPlacedHere !== false;
}

/** Makes what runs the processes of a server, here and on other nodes of the cluster. */
export function createRunner(options: ReplicaOptions): Runner {
  const { id, spec, deps } = options;
  const peers = spec.enabled ? deps.peersOf?.(spec) : undefined;
  if (!spec.enabled || (peers === undefined && runsHere(spec))) return ownRunner(options);
  return new ClusterRunner({
    ...{ spec, clock: deps.clock, lists: options.lists, peers },
    own: runsHere(spec) ? (lists) => ownRunner({ ...options, lists }) : undefined,
    connect: (peer, number, lists) => peerRunner({ ...options, id: `${id}/${number}`, spec: peer, lists }),
    wasListed: () => options.wasConnected?.() ?? false,
    comparesTools: () => options.pinChecking?.isStrict() ?? false,
    isWatched: () => options.isWatchedAnywhere?.() ?? false,
    changed: (why) => deps.nodesChanged?.(why),
  });
}

function ownRunner(options: ReplicaOptions): Runner {
  const { spec } = options;
  if (spec.enabled && spec.transport === 'stdio' && spec.lifecycle === 'transient')
    return new TransientPool({ ...options, spec });
  return new ReplicaSet(options, spec.enabled ? spec.replicas : 0);
}

/** The connection to a server on another node. The journal is about what runs here: its states are not written. */
function peerRunner(options: ReplicaOptions & { spec: HerdServerSpec }): Runner {
  const { id, spec, deps, lists, pinChecking, predecessor } = options;
  const keep: typeof deps.keep = (actor, _, logic, input) => deps.keep(actor, 'peer', logic, input);
  return new ReplicaSet({ id, spec, deps: { ...deps, keep }, lists, pinChecking, predecessor }, 1);
}
