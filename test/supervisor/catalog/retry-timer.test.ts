import { expect, test } from 'vitest';
import { RetryTimer } from '../../../src/supervisor/catalog/retry-timer.js';
import { VirtualClock } from '../../../src/testing/index.js';

function stage() {
  const clock = new VirtualClock();
  const timer = new RetryTimer(
    { clock, random: () => 0.5 },
    { minMs: 100, maxMs: 300, factor: 2, jitter: 0.2 },
  );
  const tries: number[] = [];
  const fail = () => timer.set(() => tries.push(clock.now()));
  return { clock, timer, tries, fail };
}

test('each failure doubles the wait for the next try, up to a limit', () => {
  const { clock, tries, fail } = stage();
  for (let count = 0; count < 4; count += 1) {
    fail();
    clock.advance(300);
  }
  expect(tries).toEqual([100, 500, 900, 1200]);
});

test('failures before the next try share that try and do not lengthen the next wait', () => {
  const { clock, timer, tries, fail } = stage();
  fail();
  fail();
  expect([timer.isSet, clock.pending]).toEqual([true, 1]);
  clock.advance(100);
  expect([timer.isSet, tries]).toEqual([false, [100]]);
  fail();
  clock.advance(200);
  expect(tries).toEqual([100, 300]);
});

test('clear cancels the next try; after forgive the next failure waits the shortest time', () => {
  const { clock, timer, tries, fail } = stage();
  fail();
  timer.clear();
  timer.clear();
  clock.advance(1000);
  expect([timer.isSet, tries]).toEqual([false, []]);
  timer.forgive();
  fail();
  clock.advance(100);
  expect(tries).toEqual([1100]);
});
