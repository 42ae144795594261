import { nameFilter } from '../shared/text/glob.js';
import { clusterIdentity } from './entry/cluster-identity.js';
import { valueOr } from './fields/defaults.js';
import { FIELDS } from './fields/entry-fields.js';
import { type ParsedEntry, strings } from './fields/parsed-entry.js';
import type { ServerSpec } from './fields/spec.js';
import type { ResolvedCluster } from './resolve-cluster.js';

/**
 * Whether only other nodes run the entry. Then nothing of it is read here: its variables and files need not exist on
 * this machine. Where the name of this node is not known, an entry with a place runs nowhere.
 */
export function isElsewhere({ context, fields }: ParsedEntry, cluster: ResolvedCluster | undefined): boolean {
  if (cluster === undefined || context.scope !== 'global' || fields.place === undefined) return false;
  return cluster.node === undefined || !nameFilter(strings(fields.place))(cluster.node);
}

/** The spec with its part in the cluster, for entries that all agents share. */
export function withClusterPart(
  spec: ServerSpec,
  entry: ParsedEntry,
  cluster: ResolvedCluster | undefined,
): ServerSpec {
  const isShared = entry.context.scope === 'global' && spec.enabled && spec.sharing === 'shared';
  if (cluster === undefined || !isShared) return spec;
  return {
    ...spec,
    cluster: {
      identity: clusterIdentity(entry),
      balanced: valueOr(entry.fields.cluster, FIELDS.cluster.default),
      isPlacedHere: !isElsewhere(entry, cluster),
    },
  };
}
