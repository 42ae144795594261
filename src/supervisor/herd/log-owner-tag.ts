import type { ServerSpec } from '../../config/schema/spec.js';

/**
 * Whose a line is in a log that several servers of one name share: that of an agent's file, or of one agent alone.
 * Undefined for what everybody sees: most logs have no marks in them. `life`: no other server ever had it.
 */
export function logOwnerTag({ sharing, origin }: ServerSpec, life: string): string | undefined {
  if (sharing === 'per-agent') return life;
  return origin.scope === 'agent' ? origin.file : undefined;
}
