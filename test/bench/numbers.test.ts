import { expect, test } from 'vitest';
import { interleave, median, orderOf, quantile } from '../../bench/numbers.mjs';

test('a median is the middle, or the mean of the two in the middle', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 3, 2])).toBe(2.5);
  expect(median([10, 9, 100])).toBe(10);
  expect(median([])).toBeNaN();
});

test('a quantile is a value of the list: the nearest rank', () => {
  const list = Array.from({ length: 100 }, (_, at) => 100 - at);
  expect(quantile(list, 0.5)).toBe(50);
  expect(quantile(list, 0.99)).toBe(99);
  expect(quantile(list, 1)).toBe(100);
  expect(quantile([7], 0.99)).toBe(7);
});

test('the caller’s list is not changed', () => {
  const list = [3, 1, 2];
  median(list);
  quantile(list, 0.5);
  expect(list).toEqual([3, 1, 2]);
});

test('every round has everybody once, and everybody is first in turn', () => {
  const names = ['a', 'b', 'c'];
  const rounds = Array.from({ length: 6 }, (_, round) => orderOf(names, round));
  for (const order of rounds) expect([...order].sort()).toEqual(names);
  expect(new Set(rounds.slice(0, 3).map(([first]) => first))).toEqual(new Set(names));
  expect(new Set(rounds.map((order) => order.join(''))).size).toBe(6);
});

test('warm-ups are run and thrown away', async () => {
  const seen: [string, number][] = [];
  const run = (system: number, name: string, round: number) => {
    seen.push([name, round]);
    return system + round;
  };
  const outcomes = await interleave({ rounds: 2, warmups: 1, systems: { a: 10, b: 20 }, run });
  expect(outcomes).toEqual({ a: [10, 11], b: [20, 21] });
  expect(seen).toHaveLength(6);
});
