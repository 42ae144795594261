import { describe, expect, test } from 'vitest';
import type { AnyStateMachine, AnyStateNode } from 'xstate';
import {
  type KeeperContext,
  keeperDelays,
  keeperMachine,
  type ServerContext,
  serverDelays,
  serverMachine,
  type TransientContext,
  transientDelays,
  transientMachine,
} from '../../src/machines/index.js';
import { longestTimerMs, seconds, timerMs } from '../../src/machines/restart/durations.js';
import { LONGEST_TIMER_MS } from '../../src/shared/clock.js';
import { seconds as sharedSeconds } from '../../src/shared/text/seconds.js';

function referenced(machine: AnyStateMachine): string[] {
  const delaysOf = (node: AnyStateNode): string[] => [
    ...node.after.map(({ delay }) => String(delay)),
    ...Object.values<AnyStateNode>(node.states).flatMap(delaysOf),
  ];
  return [...new Set(delaysOf(machine.root))].sort();
}

describe('named delays', () => {
  test('every delay that a machine refers to is in its map, and nothing else is: a missing one would fire at once', () => {
    expect(referenced(serverMachine)).toEqual(Object.keys(serverDelays).sort());
    expect(referenced(keeperMachine)).toEqual(Object.keys(keeperDelays).sort());
    expect(referenced(transientMachine)).toEqual(Object.keys(transientDelays).sort());
  });

  test('no delay is longer than a timer can wait, or shorter than nothing', () => {
    expect([longestTimerMs, LONGEST_TIMER_MS]).toEqual([2_147_483_647, 2_147_483_647]);
    expect([timerMs(-5), timerMs(7), timerMs(2 ** 31), timerMs(Number.POSITIVE_INFINITY)]).toEqual([
      0,
      7,
      longestTimerMs,
      longestTimerMs,
    ]);
    const endless = {
      startTimeoutMs: 2 ** 40,
      discoverTimeoutMs: 2 ** 40,
      closeTimeoutMs: 2 ** 40,
      idleTimeoutMs: 2 ** 40,
      idleForMs: () => 0,
    } as ServerContext;
    for (const delay of Object.values(serverDelays)) expect(delay({ context: endless })).toBe(longestTimerMs);
    const far = { nextRetryAt: 2 ** 40, now: () => 0 } as KeeperContext;
    expect(keeperDelays.backoff({ context: far })).toBe(longestTimerMs);
    const later = { nextRetryAt: 2 ** 40, now: () => 0 } as TransientContext;
    expect(transientDelays.backoff({ context: later })).toBe(longestTimerMs);
    const held = { callableAt: 2 ** 40, now: () => 0 } as KeeperContext;
    expect(keeperDelays.hold({ context: held })).toBe(longestTimerMs);
  });

  test('each delay reads its own figure', () => {
    const context = {
      startTimeoutMs: 1,
      discoverTimeoutMs: 2,
      closeTimeoutMs: 3,
      idleTimeoutMs: 4,
      idleForMs: () => 0,
    } as ServerContext;
    const { startTimeout, discoverTimeout, closeTimeout, idleTimeout } = serverDelays;
    const all = [startTimeout, discoverTimeout, closeTimeout, idleTimeout].map((delay) => delay({ context }));
    expect(all).toEqual([1, 2, 3, 4]);
    const waiting = { nextRetryAt: 12, callableAt: 7, now: () => 5 } as KeeperContext;
    expect([keeperDelays.backoff, keeperDelays.hold].map((delay) => delay({ context: waiting }))).toEqual([
      7, 2,
    ]);
    const failing = { nextRetryAt: 12, now: () => 5 } as TransientContext;
    expect([transientDelays.refill(), transientDelays.backoff({ context: failing })]).toEqual([50, 7]);
  });

  test.each([
    ['the machines', seconds],
    ['all other folders', sharedSeconds],
  ])('durations of %s are written for people', (_, write) => {
    expect([500, 60_000, 0, 1234.4].map(write)).toEqual(['0.5 s', '60 s', '0 s', '1.234 s']);
  });
});
