import type { RestartPolicy } from '../../machines/restart/restart-policy.js';
import { toMs } from '../fields/defaults.js';
import { FIELDS } from '../fields/entry-fields.js';
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
  const share = (value: unknown, fallback: number) => (typeof value === 'number' ? value : fallback);
  const { min, max, factor, jitter } = FIELDS.backoff.default;
  const maxRestarts = transport === 'stdio' ? FIELDS.max_restarts.default.value : Number.POSITIVE_INFINITY;
  return {
    restart: (fields.restart ?? FIELDS.restart.default) as RestartPolicy['restart'],
    maxRestarts: share(fields.max_restarts, maxRestarts),
    restartWindowMs: toMs(fields.restart_window, FIELDS.restart_window.default),
    backoff: {
      minMs: toMs(backoff.min, min),
      maxMs: toMs(backoff.max, max),
      factor: share(backoff.factor, factor),
      jitter: share(backoff.jitter, jitter),
    },
    healthyAfterMs: toMs(fields.healthy_after, FIELDS.healthy_after.default),
  };
}
