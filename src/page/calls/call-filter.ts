import type { AuditParams, CallEvent } from '../../fleet/fleet.js';

/** What the page asks the audit for; the params of `fleet/audit`. */
export interface CallFilter {
  server: string;
  tool: string;
  caller: string;
  outcome: '' | 'ok' | 'failed';
  text: string;
}

export const FILTER_KEYS = ['server', 'tool', 'caller', 'outcome', 'text'] as const;

export function readFilter(query: URLSearchParams): CallFilter {
  const outcome = query.get('outcome');
  return {
    server: query.get('server') ?? '',
    tool: query.get('tool') ?? '',
    caller: query.get('caller') ?? '',
    outcome: outcome === 'ok' || outcome === 'failed' ? outcome : '',
    text: query.get('text') ?? '',
  };
}

/** Without what is not asked for. */
export function paramsOf(filter: CallFilter): AuditParams {
  return Object.fromEntries(FILTER_KEYS.map((key) => [key, filter[key]]).filter(([, value]) => value !== ''));
}

/** A call is one line of the audit, and no two of a daemon end at one time with one caller and request. */
export function callKey({
  at,
  server,
  tool,
  method,
  caller,
  request_id,
  duration_ms,
  daemon_pid,
}: CallEvent): string {
  return [at, daemon_pid, caller, request_id, server, tool ?? method, duration_ms].join('|');
}

/** Live calls before the fetched ones, newest first, each once. */
export function joined(live: readonly CallEvent[], fetched: readonly CallEvent[]): CallEvent[] {
  const seen = new Set<string>();
  return [...live, ...fetched].filter((call) => {
    const key = callKey(call);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
