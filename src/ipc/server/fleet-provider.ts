import type { LocalFleet } from '../../fleet/fleet.js';
import { DEFAULT_SURFACE, type Surface } from '../../shared/mcp/surface.js';
import type { ConfigProblem } from '../../shared/report/config-problem.js';
import { wrong } from '../jsonrpc/params.js';

/** The herd as one connection sees it. */
export interface ConnectionView {
  /**
   * The fleet for calls and lists. Where the config has `per-agent` servers, the first call of this gives the connection
   * its own ones.
   */
  fleetForUse(): LocalFleet;
  /** The fleet for status and orders. It creates nothing. */
  fleetForReading(): LocalFleet;
  /** The agent's file; null: the global view. */
  readonly agent: string | null;
  /** The part of the herd that the client has chosen; null: all of it. */
  readonly profile: string | null;
  /** Of the agent's file. */
  readonly warnings: readonly ConfigProblem[];
  /** What the tools of the herd look like to the agent, where its client does not choose. */
  readonly surface: Surface;
  /** Rejects where this view has no server of this name, even if another view has one. */
  check(server: string): Promise<void>;
  /** The connection has ended, or has changed to another view. */
  close(): void;
}

/**
 * Which agent files a client may name. `trusted`: those that the user's settings let run. `allowed`: of these only those
 * in the trust store.
 */
export type AgentFiles = 'trusted' | 'allowed';

/** What the daemon knows of the client of a connection. */
export interface ConnectionFacts {
  /** The name of the connection, which no other one has. */
  readonly caller: string;
  /** The folder that its client works in, from `fleet/hello`. Undefined: not known. */
  readonly folder?: string | undefined;
}

/** Gives every connection its view. */
export interface FleetProvider {
  /** The view of a connection that names no agent file. Throws where there is no such profile. */
  global(connection: ConnectionFacts, profile?: string): ConnectionView;
  /** The view of an agent's file. Rejects where that file is missing, wrong, or not allowed, or has no such profile. */
  ofAgent(
    connection: ConnectionFacts,
    file: string,
    files: AgentFiles,
    profile?: string,
  ): Promise<ConnectionView>;
}

/** Gives every connection the same fleet. */
export function singleFleetProvider(fleet: LocalFleet): FleetProvider {
  const check = async (server: string) => void (await fleet.status([server]));
  const view = {
    fleetForUse: () => fleet,
    fleetForReading: () => fleet,
    agent: null,
    profile: null,
    warnings: [],
    surface: DEFAULT_SURFACE,
    check,
    close: () => undefined,
  };
  return {
    global: (_, profile) => {
      if (profile === undefined) return view;
      throw wrong("'profile' is not supported here: all clients see the same herd");
    },
    ofAgent: () => Promise.reject(wrong("'agent' is not supported here: all clients see the same herd")),
  };
}
