import type { SurfaceMode } from '../shared/mcp/surface.js';
import type { Caller } from './calls.js';

/** A call that has begun and has no outcome. It may wait for its server. */
export interface OpenCall {
  server: string;
  /** The tool's own name; null where it is no call of a tool. */
  tool: string | null;
  method: string;
  /** When it began; ISO 8601. */
  since: string;
}

/** A connection to the daemon: an agent, a script, the command. */
export interface ConnectedAgent {
  /** The name of the connection, which no other one of this daemon has. */
  caller: string;
  via: Caller['via'];
  /** The name that it gives; null where it gives none. */
  client: Caller['client'];
  /** The agent's file; null: the global herd. */
  agent: string | null;
  profile: string | null;
  /** What its client chose; null: that of the config. */
  surface: SurfaceMode | null;
  /** When it connected; ISO 8601. */
  since: string;
  /** Requests of it to servers that have ended. */
  calls: number;
  in_flight: OpenCall[];
  /** It is the connection that asked. */
  self?: true;
}

/** Which connections, and which of their calls, a connection may see: one with an agent file or a profile only those of the same. */
export interface ViewScope {
  agent: string | null;
  profile: string | null;
  /** Who asks. */
  caller?: string;
}

/** Whether a connection of this scope sees what belongs to this agent file and profile. */
export function isInScope(
  { agent, profile }: ViewScope,
  other: { agent: string | null; profile?: string | null | undefined } | undefined,
): boolean {
  return (
    (agent === null || other?.agent === agent) && (profile === null || (other?.profile ?? null) === profile)
  );
}
