import type { RestartPolicy } from '../../machines/restart/restart-policy.js';
import type { ParsedEntry } from '../fields/parsed-entry.js';
import { isMap } from '../parse/document.js';

/**
 * The restart policy of an entry in milliseconds, with defaults. A remote server has no limit of restarts unless its
 * entry sets one: nothing of it runs here, and it may come back at any time.
 */
export function restartPolicy({
  fields,
  transport,
}: Pick<ParsedEntry, 'fields' | 'transport'>): RestartPolicy {
  const backoff = isMap(fields.backoff) ? fields.backoff : {};
  const ms = (value: unknown, seconds: number) =>
    Math.round((typeof value === 'number' ? value : seconds) * 1000);
  const share = (value: unknown, fallback: number) => (typeof value === 'number' ? value : fallback);
  return {
    restart: (fields.restart ?? 'on-failure') as RestartPolicy['restart'],
    maxRestarts: share(fields.max_restarts, transport === 'stdio' ? 5 : Number.POSITIVE_INFINITY),
    restartWindowMs: ms(fields.restart_window, 60),
    backoff: {
      minMs: ms(backoff.min, 0.5),
      maxMs: ms(backoff.max, 30),
      factor: share(backoff.factor, 2),
      jitter: share(backoff.jitter, 0.2),
    },
    healthyAfterMs: ms(fields.healthy_after, 30),
  };
}
