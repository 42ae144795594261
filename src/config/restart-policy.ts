import { isMap } from './document.js';
import type { Draft } from './draft.js';
import type { RestartPolicy } from './spec.js';

/** The restart policy of an entry, in milliseconds, with the defaults filled in. */
export function restartPolicy(fields: Draft['fields']): RestartPolicy {
  const backoff = isMap(fields.backoff) ? fields.backoff : {};
  const ms = (value: unknown, seconds: number) =>
    Math.round((typeof value === 'number' ? value : seconds) * 1000);
  const share = (value: unknown, fallback: number) => (typeof value === 'number' ? value : fallback);
  return {
    restart: (fields.restart ?? 'on-failure') as RestartPolicy['restart'],
    maxRestarts: share(fields.max_restarts, 5),
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

/**
 * Says when a server could crash for ever without being quarantined: even the least delays between `maxRestarts`
 * restarts (the first is immediate) already take longer than the window.
 */
export function intensityUnreachable(policy: RestartPolicy): string | undefined {
  const { maxRestarts, restartWindowMs, backoff } = policy;
  if (policy.restart === 'never') return undefined;
  let delay = backoff.minMs;
  let total = 0;
  for (let restart = 2; restart <= maxRestarts && total <= restartWindowMs; restart++) {
    total += Math.min(delay, backoff.maxMs) * (1 - backoff.jitter);
    delay = Math.min(delay * backoff.factor, backoff.maxMs);
  }
  if (total <= restartWindowMs) return undefined;
  return `${maxRestarts} restarts can never happen within ${restartWindowMs / 1000} s, because the backoff alone takes longer`;
}
