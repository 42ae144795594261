import type { Fleet } from '../../fleet/fleet.js';
import { wrong } from '../jsonrpc/params.js';

/** The herd as one connection sees it. */
export interface ConnectionView {
  /** For calls and lists: with `per-agent` servers of its own, which come to be when this is looked at. */
  readonly fleet: Fleet;
  /** For looking and ordering: what is there, without anything of its own if it has called nothing. */
  readonly seen: Fleet;
  /** The agent's file; null: the global herd. */
  readonly agent: string | null;
  /** Rejects where this view has no server of this name, whatever other views have. */
  check(server: string): Promise<void>;
  /** The connection has ended, or sees another one from now on. */
  close(): void;
}

/**
 * Which agent files a client may name. `trusted`: those that the user's settings let run. `allowed`: of these only those
 * in the trust store.
 */
export type AgentFiles = 'trusted' | 'allowed';

/** Gives every connection its herd. `caller`: its name, which no other connection has. */
export interface FleetProvider {
  /** The global herd. */
  own(caller: string): ConnectionView;
  /** What an agent's file makes of it. Rejects where that file is missing, wrong, or not allowed. */
  ofAgent(caller: string, file: string, files: AgentFiles): Promise<ConnectionView>;
}

/** A herd that everybody sees alike. */
export function singleFleetProvider(fleet: Fleet): FleetProvider {
  const check = async (server: string) => void (await fleet.status([server]));
  return {
    own: () => ({ fleet, seen: fleet, agent: null, check, close: () => undefined }),
    ofAgent: () => Promise.reject(wrong("'agent' is not supported here: everybody sees the same herd")),
  };
}
