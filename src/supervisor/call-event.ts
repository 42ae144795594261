import type { CallEvent } from '../ipc/fleet.js';
import type { CallRequest, Outcome } from '../link/session/call.js';

/** A request to a server that has its outcome. */
export interface EndedCall {
  request: CallRequest;
  outcome: Outcome;
  elapsedMs: number;
}

/** What may be told of it to others: neither what was asked nor what was answered. */
export function describeCall({
  request,
  outcome,
  elapsedMs,
}: EndedCall): Omit<CallEvent, 'topic' | 'server' | 'at'> {
  const { method, params, caller = null } = request;
  const error = errorOf(method, outcome);
  const tool = method === 'tools/call' && typeof params?.name === 'string' ? params.name : null;
  return { method, tool, caller, duration_ms: elapsedMs, ok: error === null, error };
}

/** A long result is passed on unread: it counts as one that went well. */
function errorOf(method: string, outcome: Outcome): string | null {
  if (!outcome.ok) return outcome.error.type;
  if (method !== 'tools/call' || outcome.raw !== undefined) return null;
  return outcome.result.isError === true ? 'MCPToolError' : null;
}
