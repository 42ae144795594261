/**
 * What follows an ending. Pure functions: the keeper asks, nothing here remembers.
 *
 * | word | meaning |
 * |---|---|
 * | restart | a fresh incarnation that the policy started, without an order or a call |
 * | failed start | an incarnation that failed before it was connected (one that was being stopped, or that wants an authorisation, did not fail) |
 * | shortage | the machine has no room for a process: no failure of the server, which is tried again for as long as it takes |
 * | streak | restarts since the server was last healthy; the next one is the streak's number |
 * | healthy | connected for at least `healthy_after` |
 * | recheck | a slow restart: of a remote server that was never connected, because its entry looks wrong |
 * | intensity | at most `max_restarts` restarts in any `restart_window` |
 * | cool-down | the time of a quarantine in which a call makes no try |
 * | trial | the one try after the cool-down, made by a call or by the supervisor; it fails if the incarnation fails before it is healthy; after a shortage the policy repeats it |
 *
 * Two counts, because each is blind to what the other sees. The window alone never notices a server whose every
 * start runs into a timeout of two minutes. Failed starts alone never notice one that shakes hands and then dies.
 *
 * The first restart of a streak is immediate after a crash: most crashes are the only one of their day, and a caller
 * waits. After a failed start, and from the second restart on, the delay is `min · factor^k`, at most `max`, plus or minus
 * its jitter, so that fifty servers that died of one cause do not come back in one moment.
 *
 * A remote server that was connected before is restarted like any other, whichever answer comes: an ingress says
 * 404 for as long as a deployment takes, a firewall says 403. One that was never connected is rechecked. Every few minutes
 * is often enough for what a person most likely has to correct, and a call may bring the next try sooner.
 *
 * A quarantine ends by a trial, too: what was missing (the network after a login, a command, a token in a file) may have
 * come, and no person watches a daemon. A trial that fails doubles the next cool-down, so that a hopeless server costs little.
 */

import { seconds } from './durations.js';
import type { Ending, Failed } from './ending.js';

export interface Backoff {
  minMs: number;
  maxMs: number;
  factor: number;
  /** Share of the delay that is random, 0 to 1: a delay d becomes d × (1 ± jitter). */
  jitter: number;
}

export interface RestartPolicy {
  restart: 'on-failure' | 'always' | 'never';
  maxRestarts: number;
  restartWindowMs: number;
  backoff: Backoff;
  healthyAfterMs: number;
}

export interface History {
  /** When restarts began, oldest first; those before the window are forgotten. */
  restarts: readonly number[];
  failedStarts: number;
  streak: number;
  /** Since it was last healthy. */
  quarantines: number;
  /** It was connected once, with this config. */
  hasConnected: boolean;
}

export const noHistory: History = {
  restarts: [],
  failedStarts: 0,
  streak: 0,
  quarantines: 0,
  hasConnected: false,
};
const noFailures: History = { ...noHistory, hasConnected: true };

/** The same history without its failures. `hasConnected` stays. */
export function forgiven({ hasConnected }: History): History {
  return hasConnected ? noFailures : noHistory;
}

/**
 * `restart`: start a fresh incarnation, after the delay of this attempt (0 = now), and not before `atLeastMs`.
 * `recheck`: the same, slowly. `rest`: no incarnation is wanted now; the next call or order starts one. `quarantine`: no
 * more tries until an order, or the trial after the cool-down. `authorise`: a person must act first.
 */
export type Verdict =
  | { verdict: 'restart'; attempt: number; atLeastMs?: number | undefined }
  | { verdict: 'recheck' }
  | { verdict: 'rest' }
  | { verdict: 'quarantine'; reason: string }
  | { verdict: 'authorise' };

/** `isTrial`: the incarnation was a trial, and did not become healthy. */
export function decide(
  ending: Ending,
  history: History,
  policy: RestartPolicy,
  now: number,
  isTrial = false,
): Verdict {
  if (ending.kind === 'disconnected') {
    const comesBack = ending.reason === 'ended' && policy.restart === 'always';
    return comesBack ? withinIntensity(history, policy, now) : { verdict: 'rest' };
  }
  if (needsPerson(ending)) return { verdict: 'authorise' };
  if (ending.permanent) return { verdict: 'quarantine', reason: 'a restart cannot help' };
  if (ending.shortage && policy.restart !== 'never') return { verdict: 'restart', attempt: history.streak };
  if (history.failedStarts > policy.maxRestarts) {
    return { verdict: 'quarantine', reason: `${times(history.failedStarts, 'failed start')} in a row` };
  }
  // Its end was wanted, only the closing failed: no new incarnation was asked for.
  if (ending.cause === 'close') return { verdict: 'rest' };
  if (isTrial) return { verdict: 'quarantine', reason: 'its one try after a quarantine failed' };
  if (policy.restart === 'never') return { verdict: 'rest' };
  const verdict = withinIntensity(history, policy, now);
  if (verdict.verdict !== 'restart') return verdict;
  if (ending.looksMisconfigured && !history.hasConnected) return { verdict: 'recheck' };
  return { ...verdict, atLeastMs: ending.retryAfterMs };
}

function withinIntensity(history: History, policy: RestartPolicy, now: number): Verdict {
  const recent = inWindow(history.restarts, policy, now).length;
  // a start that failed is not repeated at once: its callers have their error, and what it lacks takes time to come
  const attempt = history.failedStarts > 0 ? Math.max(1, history.streak) : history.streak;
  if (recent < policy.maxRestarts) return { verdict: 'restart', attempt };
  return {
    verdict: 'quarantine',
    reason: `${times(recent, 'restart')} in ${seconds(policy.restartWindowMs)}`,
  };
}

function times(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

/** Both ends of the window count: a restart exactly one window ago is still in it. */
function inWindow(restarts: readonly number[], policy: RestartPolicy, now: number): readonly number[] {
  return restarts.filter((at) => at >= now - policy.restartWindowMs);
}

/** Noted when the restart begins, not when it is decided: the wait for a permit must not thin out the window. */
export function afterRestart(history: History, policy: RestartPolicy, now: number): History {
  return {
    ...history,
    restarts: [...inWindow(history.restarts, policy, now), now],
    streak: history.streak + 1,
  };
}

/** `connectedForMs` is undefined for an incarnation that was never connected. */
export function afterEnding(
  history: History,
  ending: Ending,
  connectedForMs: number | undefined,
  policy: RestartPolicy,
): History {
  // Restarts on a machine without room say nothing about the server.
  if (ending.kind === 'error' && ending.shortage) return { ...history, restarts: [] };
  if (connectedForMs === undefined) {
    return isFailedStart(ending) ? { ...history, failedStarts: history.failedStarts + 1 } : history;
  }
  const healthy = connectedForMs >= policy.healthyAfterMs;
  const { streak, quarantines } = healthy ? noHistory : history;
  return { ...history, failedStarts: 0, streak, quarantines, hasConnected: true };
}

export function afterQuarantine(history: History): History {
  return { ...history, quarantines: history.quarantines + 1 };
}

function isFailedStart(ending: Ending): boolean {
  if (ending.kind !== 'error' || ending.shortage) return false;
  return ending.cause !== 'close' && !needsPerson(ending);
}

/** The server asks for an authorisation. An answer that may come from a gateway in front of it does not count. */
function needsPerson({ cause, looksMisconfigured }: Failed): boolean {
  return cause === 'auth' && !looksMisconfigured;
}

/** `random` is in [0, 1). Rounded up, so that no delay is shorter than the least one promised. */
export function backoffMs(attempt: number, backoff: Backoff, random: number): number {
  return jittered(plainBackoffMs(attempt, backoff), backoff, random);
}

/** With the default backoff a recheck comes every 5 minutes, and a call makes a try 10 s after the last one. */
const RECHECK_IN_BACKOFFS = 10;
const HOLD_IN_BACKOFFS = 1 / 3;
/** A backoff of 0 must not become a loop. */
const LEAST_RECHECK_MS = 1000;

/** With the default backoff the first cool-down takes 30 s, and the longest 16 minutes. */
const MOST_DOUBLINGS = 5;

/** For how long there is no trial, in the quarantine with this number. */
export function cooldownMs(quarantines: number, { maxMs }: Backoff): number {
  return Math.max(LEAST_RECHECK_MS, maxMs) * 2 ** Math.min(quarantines - 1, MOST_DOUBLINGS);
}

export interface Pause {
  /** Until the next try. */
  retryMs: number;
  /** Until a call may make the next try at once. */
  holdMs: number;
}

/** How long a server waits that is to be tried again. What a remote end asks for is granted up to a recheck's time. */
export function pauseAfter(verdict: Verdict, backoff: Backoff, random: number): Pause {
  const holdMs = Math.ceil(backoff.maxMs * HOLD_IN_BACKOFFS);
  const recheckMs = Math.max(LEAST_RECHECK_MS, backoff.maxMs * RECHECK_IN_BACKOFFS);
  if (verdict.verdict !== 'restart') return { retryMs: jittered(recheckMs, backoff, random), holdMs };
  const leastMs = Math.min(verdict.atLeastMs ?? 0, recheckMs);
  return {
    retryMs: Math.max(leastMs, backoffMs(verdict.attempt, backoff, random)),
    holdMs: Math.max(leastMs, holdMs),
  };
}

function jittered(ms: number, { jitter }: Backoff, random: number): number {
  return Math.ceil(ms * (1 + jitter * (2 * random - 1)));
}

function plainBackoffMs(attempt: number, { minMs, maxMs, factor }: Backoff): number {
  // 0 × Infinity is NaN, and a timer of NaN ms fires at once, again and again.
  if (attempt === 0 || minMs === 0) return 0;
  return Math.min(maxMs, minMs * factor ** (attempt - 1));
}

/**
 * Why a server that dies the moment it starts would never be quarantined, or undefined where it would: the least
 * delays of `max_restarts` restarts (0, then the backoff less its jitter) do not fit into `restart_window`. Such a
 * config promises a limit that cannot be reached, so it is refused when it is loaded.
 */
export function intensityUnreachable(policy: RestartPolicy): string | undefined {
  const { backoff, maxRestarts, restartWindowMs } = policy;
  if (policy.restart === 'never' || maxRestarts === Number.POSITIVE_INFINITY) return undefined;
  let spanMs = 0;
  for (let attempt = 1; attempt < maxRestarts; attempt += 1) {
    const leastMs = plainBackoffMs(attempt, backoff) * (1 - backoff.jitter);
    if (leastMs <= 0) return undefined;
    spanMs += leastMs;
    if (spanMs > restartWindowMs) {
      return (
        `max_restarts ${maxRestarts} can never be reached in a restart_window of ${seconds(restartWindowMs)}: with this ` +
        `backoff ${attempt + 1} restarts take at least ${seconds(spanMs)}; lower max_restarts to ${attempt} or less, ` +
        'or widen restart_window'
      );
    }
  }
  return undefined;
}
