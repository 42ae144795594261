import type { ServerState } from './status.js';

/**
 * `off`: the config has no cluster, or one that cannot be read. `connecting`: there was no connection to NATS yet.
 * `connected`: other nodes see this one. `lost`: there was a connection; toolherd connects again.
 */
export type ClusterState = 'off' | 'connecting' | 'connected' | 'lost';

/** A server that a node shares. */
export interface ClusterServer {
  name: string;
  state: ServerState;
  /** Calls that the node has of all its callers. */
  in_flight: number;
  /** The least busy node takes a call (`cluster: true`). */
  cluster: boolean;
}

export interface ClusterNode {
  name: string;
  /** The daemon that answers. */
  self: boolean;
  /** Null while it is not known. */
  version: string | null;
  /** `draining`: it takes no new calls. `away`: its presence has lapsed. */
  state: 'up' | 'draining' | 'away';
  /** When it came into this state; ISO 8601. */
  since: string;
  /** Of a message to the node and back; null where it is not measured, as for this node. */
  latency_ms: number | null;
  servers: ClusterServer[];
}

export interface ClusterStatus {
  /** Null where the state is `off`, as are `name` and `node`. */
  engine: 'nats' | null;
  name: string | null;
  /** The name of this node. */
  node: string | null;
  state: ClusterState;
  /** Why it is not connected. Absent where it is, and without a cluster in the config. */
  why?: string;
  /** What to do about that. */
  fix?: string;
  /** When it came into this state; ISO 8601; null where the state is `off`. */
  since: string | null;
  /** This node takes no calls of others, by `fleet/cluster_drain`. */
  draining: boolean;
  /** The NATS servers of the config. */
  servers_url: string[];
  /** This node first, then the others by name. While NATS is away: those that were there last, as `away`. */
  nodes: ClusterNode[];
}

/** What `status` says of the cluster. */
export interface ClusterSummary
  extends Pick<ClusterStatus, 'name' | 'node' | 'state' | 'why' | 'fix' | 'draining'> {
  /** Other nodes that are up. */
  nodes: number;
}

/** Another node that has a server, too. */
export interface ServerNode {
  node: string;
  state: ServerState;
  in_flight: number;
}

/** The status of a daemon that is in no cluster. */
export function noCluster(problem?: { why: string; fix: string }): ClusterStatus {
  return {
    ...{ engine: null, name: null, node: null, state: 'off' },
    ...problem,
    ...{ since: null, draining: false, servers_url: [], nodes: [] },
  };
}
