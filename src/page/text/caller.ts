import type { CallEvent } from '../../fleet/fleet.js';

/** Who called, as the client names it; else the name of the connection. */
export function callerName({ client, caller }: Pick<CallEvent, 'client' | 'caller'>): string {
  if (client === null) return caller ?? 'unknown';
  return [client.name, client.version].filter(Boolean).join(' ');
}
