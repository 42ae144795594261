import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  afterEnding,
  afterRestart,
  backoffMs,
  decide,
  disconnected,
  failed,
  forgiven,
  type History,
  intensityUnreachable,
  noHistory,
  pauseAfter,
} from '../../../src/machines/index.js';
import { defaults } from '../../model/setting.js';

const crash = failed({ cause: 'exit', message: 'ended with 1', code: 1, signal: null });
const full: History = { ...noHistory, restarts: [10, 20, 30, 40, 50], streak: 5, hasConnected: true };

describe('what follows an ending', () => {
  test('a failure is answered with a restart under on-failure and always, never under never', () => {
    const verdictOf = (restart: 'on-failure' | 'always' | 'never') =>
      decide(crash, noHistory, { ...defaults, restart }, 0);
    expect(verdictOf('on-failure')).toEqual({ verdict: 'restart', attempt: 0 });
    expect(verdictOf('always')).toEqual({ verdict: 'restart', attempt: 0 });
    expect(verdictOf('never')).toEqual({ verdict: 'rest' });
  });

  test('a start that failed is not repeated at once, a crash is', () => {
    const afterStart = decide(crash, { ...noHistory, failedStarts: 1 }, defaults, 0);
    const afterCrash = decide(crash, { ...noHistory, hasConnected: true }, defaults, 0);
    expect([afterStart, afterCrash]).toEqual([
      { verdict: 'restart', attempt: 1 },
      { verdict: 'restart', attempt: 0 },
    ]);
  });

  test('a clean end is answered with a restart only under always', () => {
    const verdictOf = (restart: 'on-failure' | 'always' | 'never') =>
      decide(disconnected('ended'), noHistory, { ...defaults, restart }, 0).verdict;
    expect(['on-failure', 'always', 'never'].map((restart) => verdictOf(restart as 'always'))).toEqual([
      'rest',
      'restart',
      'rest',
    ]);
  });

  test('an end that was ordered, or that came of idleness, rests even under always', () => {
    for (const reason of ['stopped', 'idle', 'rested'] as const) {
      expect(decide(disconnected(reason), noHistory, { ...defaults, restart: 'always' }, 0).verdict).toBe(
        'rest',
      );
    }
  });

  test('a close that failed rests: its end was wanted, and no new one was asked for', () => {
    const ending = failed({ cause: 'close', message: 'the session could not be ended' });
    expect(decide(ending, noHistory, { ...defaults, restart: 'always' }, 0).verdict).toBe('rest');
  });

  test('simulated P-10: a failure that a retry cannot solve is quarantined at once, for every policy', () => {
    const ending = failed({ cause: 'spawn', message: 'no such command', permanent: true });
    for (const restart of ['on-failure', 'always', 'never'] as const) {
      expect(decide(ending, noHistory, { ...defaults, restart }, 0)).toEqual({
        verdict: 'quarantine',
        reason: 'a restart cannot help',
      });
    }
  });

  test('P14: a start without free files or processes is retried without a limit, and is no failed start', () => {
    const ending = failed({ cause: 'spawn', message: 'no more processes', shortage: true });
    const worst = { ...full, failedStarts: 99 };
    expect(decide(ending, worst, defaults, 50)).toEqual({ verdict: 'restart', attempt: 5 });
    expect(decide(ending, worst, defaults, 50, true)).toEqual({ verdict: 'restart', attempt: 5 });
    expect(decide(ending, worst, { ...defaults, restart: 'never' }, 50).verdict).toBe('quarantine');
    expect(afterEnding(full, ending, undefined, defaults)).toEqual({ ...full, restarts: [] });
  });

  describe('an entry that looks misconfigured', () => {
    const ending = failed({ cause: 'protocol', message: 'HTTP 404', looksMisconfigured: true });

    test('is rechecked if it was never connected, and restarted if it was', () => {
      expect(decide(ending, noHistory, defaults, 0)).toEqual({ verdict: 'recheck' });
      const connected = { ...noHistory, hasConnected: true };
      expect(decide(ending, connected, defaults, 0)).toEqual({ verdict: 'restart', attempt: 0 });
    });

    test('rests under never, and is quarantined after max_restarts tries', () => {
      expect(decide(ending, noHistory, { ...defaults, restart: 'never' }, 0).verdict).toBe('rest');
      expect(decide(ending, { ...noHistory, failedStarts: 6 }, defaults, 0).verdict).toBe('quarantine');
      expect(decide(ending, { ...full, hasConnected: false }, defaults, 60).verdict).toBe('quarantine');
    });
  });

  test('"was connected" survives a failed start and a reset', () => {
    const connected = afterEnding(noHistory, crash, 1, defaults);
    expect(connected.hasConnected).toBe(true);
    expect(afterEnding(connected, crash, undefined, defaults).hasConnected).toBe(true);
    expect(forgiven({ ...full, failedStarts: 3 })).toEqual({ ...noHistory, hasConnected: true });
    expect(forgiven({ ...full, hasConnected: false })).toBe(noHistory);
  });

  test('a missing authorisation is a matter for a person, before any count', () => {
    const ending = failed({ cause: 'auth', message: 'sign in first', permanent: true });
    expect(decide(ending, { ...full, failedStarts: 99 }, defaults, 50)).toEqual({ verdict: 'authorise' });
  });

  test('FR-023: a refusal that may be the word of a gateway is retried like a 404', () => {
    const ending = failed({ cause: 'auth', message: 'HTTP 403', looksMisconfigured: true });
    expect(decide(ending, noHistory, defaults, 0)).toEqual({ verdict: 'recheck' });
    const connected = { ...noHistory, hasConnected: true };
    expect(decide(ending, connected, defaults, 0)).toMatchObject({ verdict: 'restart' });
    expect(afterEnding(connected, ending, undefined, defaults).failedStarts).toBe(1);
  });

  test('simulated P-12: max_restarts failed starts in a row are tried again, one more is quarantined, also under never', () => {
    const verdictOf = (failedStarts: number, restart: 'on-failure' | 'never' = 'on-failure') =>
      decide(crash, { ...noHistory, failedStarts }, { ...defaults, restart }, 0);
    expect(verdictOf(5).verdict).toBe('restart');
    expect(verdictOf(6)).toEqual({ verdict: 'quarantine', reason: '6 failed starts in a row' });
    expect(verdictOf(5, 'never').verdict).toBe('rest');
    expect(verdictOf(6, 'never').verdict).toBe('quarantine');
  });

  test('simulated P-9: the restart after max_restarts in the window is not let go', () => {
    expect(decide(crash, full, defaults, 60)).toEqual({
      verdict: 'quarantine',
      reason: '5 restarts in 60 s',
    });
    const oneLess = { ...full, restarts: full.restarts.slice(1) };
    expect(decide(crash, oneLess, defaults, 60)).toEqual({ verdict: 'restart', attempt: 5 });
  });

  test('both ends of the window count: a restart exactly one window ago is in it, a moment earlier is not', () => {
    expect(decide(crash, full, defaults, 60_010).verdict).toBe('quarantine');
    expect(decide(crash, full, defaults, 60_011).verdict).toBe('restart');
  });

  test('the first failure is the last with max_restarts 0', () => {
    const strict = { ...defaults, maxRestarts: 0 };
    expect(decide(crash, noHistory, strict, 0).verdict).toBe('quarantine');
    expect(decide(crash, { ...noHistory, failedStarts: 1 }, strict, 0)).toEqual({
      verdict: 'quarantine',
      reason: '1 failed start in a row',
    });
  });
});

describe('the history', () => {
  test('a restart is remembered as long as it can count, and lengthens the streak', () => {
    const history = afterRestart({ ...full, streak: 7 }, defaults, 60_020);
    expect(history).toEqual({ ...full, restarts: [20, 30, 40, 50, 60_020], streak: 8 });
  });

  test('an error before the handshake is a failed start; a stop, a bad close, a missing authorisation are not', () => {
    expect(afterEnding(noHistory, crash, undefined, defaults).failedStarts).toBe(1);
    expect(afterEnding(noHistory, disconnected('stopped'), undefined, defaults)).toEqual(noHistory);
    for (const cause of ['close', 'auth'] as const) {
      expect(afterEnding(noHistory, failed({ cause, message: '' }), undefined, defaults)).toEqual(noHistory);
    }
  });

  test('a handshake ends a row of failed starts; only a healthy time ends a streak', () => {
    const before = { ...noHistory, failedStarts: 3, streak: 4 };
    const after = { restarts: [], failedStarts: 0, quarantines: 0, hasConnected: true };
    expect(afterEnding(before, crash, 29_999, defaults)).toEqual({ ...after, streak: 4 });
    expect(afterEnding(before, crash, 30_000, defaults)).toEqual({ ...after, streak: 0 });
    expect(afterEnding(full, crash, 30_000, defaults).restarts).toEqual(full.restarts);
  });
});

describe('the pause before the next try', () => {
  const plain = { ...defaults.backoff, jitter: 0 };
  const restart = (attempt: number, atLeastMs?: number) =>
    ({ verdict: 'restart', attempt, atLeastMs }) as const;

  test('a restart pauses for its backoff, a recheck for ten times the longest; a call may come after a third of that', () => {
    expect(pauseAfter(restart(2), plain, 0.5)).toEqual({ retryMs: 1000, holdMs: 10_000 });
    expect(pauseAfter({ verdict: 'recheck' }, plain, 0.5)).toEqual({ retryMs: 300_000, holdMs: 10_000 });
    expect(pauseAfter({ verdict: 'recheck' }, defaults.backoff, 0)).toEqual({
      retryMs: 240_000,
      holdMs: 10_000,
    });
    expect(pauseAfter({ verdict: 'recheck' }, { ...plain, maxMs: 1000 }, 0.5).holdMs).toBe(334);
  });

  test('a recheck pauses for a second at least: without any backoff it would be a loop', () => {
    expect(pauseAfter({ verdict: 'recheck' }, { ...plain, minMs: 0, maxMs: 0 }, 0.5)).toEqual({
      retryMs: 1000,
      holdMs: 0,
    });
  });

  test('is as long as the remote end asked for, for callers too, but no longer than that of a recheck', () => {
    expect(pauseAfter(restart(0, 45_000), plain, 0.5)).toEqual({ retryMs: 45_000, holdMs: 45_000 });
    expect(pauseAfter(restart(2, 10), plain, 0.5)).toEqual({ retryMs: 1000, holdMs: 10_000 });
    expect(pauseAfter(restart(2, 10 ** 9), plain, 0.5)).toEqual({ retryMs: 300_000, holdMs: 300_000 });
  });
});

describe('the backoff', () => {
  const plain = { ...defaults.backoff, jitter: 0 };

  test('is nothing for the first restart, then min, growing by factor up to max', () => {
    const delays = [0, 1, 2, 3, 4, 5, 6, 7, 8, 2000].map((attempt) => backoffMs(attempt, plain, 0.9));
    expect(delays).toEqual([0, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
  });

  test('spreads by its jitter to both sides', () => {
    expect(backoffMs(1, defaults.backoff, 0)).toBe(400);
    expect(backoffMs(1, defaults.backoff, 0.5)).toBe(500);
    expect(backoffMs(1, defaults.backoff, 0.999)).toBe(600);
  });

  test('is a number also where growth overflows', () => {
    expect(backoffMs(5000, { ...plain, minMs: 0 }, 0.5)).toBe(0);
    expect(backoffMs(5000, { ...plain, factor: 10 }, 0.5)).toBe(30_000);
  });
});

describe('an intensity that cannot be reached', () => {
  const tight = { ...defaults, maxRestarts: 10, backoff: { minMs: 1000, maxMs: 8000, factor: 2, jitter: 0 } };

  test('the default policy can reach its limit', () => {
    expect(intensityUnreachable(defaults)).toBeUndefined();
  });

  test('is explained with figures and a remedy that works', () => {
    // 0 1 2 4 8 8 8 8 8 8: ten restarts take 55 s, and of 40 s there is room for eight.
    expect(intensityUnreachable({ ...tight, restartWindowMs: 55_000 })).toBeUndefined();
    expect(intensityUnreachable({ ...tight, restartWindowMs: 54_999 })).toMatch(
      /^max_restarts 10 .* 54\.999 s: /,
    );
    const text = intensityUnreachable({ ...tight, restartWindowMs: 40_000 });
    expect(text).toBe(
      'max_restarts 10 can never be reached in a restart_window of 40 s: with this backoff 9 restarts take at least ' +
        '47 s; lower max_restarts to 8 or less, or widen restart_window',
    );
    expect(intensityUnreachable({ ...tight, restartWindowMs: 40_000, maxRestarts: 8 })).toBeUndefined();
    expect(intensityUnreachable({ ...tight, restartWindowMs: 40_000, maxRestarts: 9 })).toBeDefined();
  });

  test('takes the least the jitter allows; with full jitter or no minimum everything can be reached', () => {
    const window = { ...tight, restartWindowMs: 40_000 };
    expect(intensityUnreachable({ ...window, backoff: { ...tight.backoff, jitter: 0.2 } })).toBeDefined();
    expect(intensityUnreachable({ ...window, backoff: { ...tight.backoff, jitter: 0.3 } })).toBeUndefined();
    expect(intensityUnreachable({ ...window, backoff: { ...tight.backoff, jitter: 1 } })).toBeUndefined();
    expect(intensityUnreachable({ ...window, backoff: { ...tight.backoff, minMs: 0 } })).toBeUndefined();
  });

  test('is found at once for any number of restarts', { timeout: 1_000 }, () => {
    const endless = { ...tight, maxRestarts: 1e9, restartWindowMs: 40_000 };
    expect(intensityUnreachable(endless)).toBeDefined();
    expect(intensityUnreachable({ ...endless, backoff: { ...tight.backoff, minMs: 0 } })).toBeUndefined();
  });

  test('does not matter under never', () => {
    expect(intensityUnreachable({ ...tight, restartWindowMs: 1, restart: 'never' })).toBeUndefined();
  });

  test('I3: an accepted intensity leads to quarantine when every start dies at once, a refused one never does', () => {
    const policies = fc.record({
      maxRestarts: fc.integer({ min: 0, max: 12 }),
      restartWindowMs: fc.integer({ min: 1, max: 60_000 }),
      minMs: fc.integer({ min: 0, max: 3000 }),
      factor: fc.constantFrom(1, 1.5, 2, 3),
      jitter: fc.constantFrom(0, 0.2, 0.5),
    });
    const seen = { reached: 0, refused: 0 };
    fc.assert(
      fc.property(policies, ({ maxRestarts, restartWindowMs, minMs, factor, jitter }) => {
        const backoff = { minMs, maxMs: 20_000, factor, jitter };
        const policy = { ...defaults, maxRestarts, restartWindowMs, backoff };
        let [now, history] = [0, noHistory];
        for (let round = 0; round < 60; round += 1) {
          history = afterEnding(history, crash, 0, policy);
          const given = decide(crash, history, policy, now);
          if (given.verdict === 'quarantine') {
            seen.reached += 1;
            return intensityUnreachable(policy) === undefined;
          }
          // Rounding up is the daemon's mercy, not the law's: take the least delay as it stands.
          now +=
            given.verdict === 'restart'
              ? backoffMs(given.attempt, { ...backoff, jitter: 0 }, 0) * (1 - jitter)
              : 0;
          history = afterRestart(history, policy, now);
        }
        seen.refused += 1;
        return intensityUnreachable(policy) !== undefined;
      }),
      { seed: 20261116, numRuns: 600 },
    );
    expect(seen.reached).toBeGreaterThan(150);
    expect(seen.refused).toBeGreaterThan(50);
  });
});
