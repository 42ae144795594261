import type { HerdServerSpec } from '../../config/fields/spec.js';
import type { ServerState } from '../../fleet/fleet.js';

/** The same server on another node of the cluster, as that node last reported it. Each report is a new object. */
export interface PeerReplica {
  /** The name of the node. */
  node: string;
  /**
   * The connection to the server there, with the name that the server has here. The same object for as long as it is the
   * same server of the same daemon.
   */
  spec: HerdServerSpec;
  state: ServerState;
  /** A process is there that takes calls now. */
  isReady: boolean;
  /** A call would start one. */
  mayStart: boolean;
  /** Calls that the node has of all its callers, this daemon included. */
  load: number;
}

/** The nodes that offer one server. Nodes come and go. */
export interface Peers {
  /** Each node once. Nodes that drain are not among them. */
  list(): readonly PeerReplica[];
  /** `listener` runs after each report and each change of the list. Returns the function that ends it. */
  onChange(listener: () => void): () => void;
}
