import { expect, test } from 'vitest';
import { grouped, sparkline } from '../../../src/cli/ui/sparkline.js';

test('a sparkline has a bar for each number, the highest full, and dots for nothing', () => {
  expect(sparkline([0, 1, 4, 8, null])).toBe('·▁▄█·');
  expect(sparkline([0, 0])).toBe('··');
  expect(sparkline([])).toBe('');
  expect(sparkline([0.001, 1000])).toBe('▁█');
});

test('groups take every value once, also where they do not divide evenly', () => {
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  expect(grouped([1, 2, 3, 4], 2, sum)).toEqual([3, 7]);
  const uneven = grouped(
    Array.from({ length: 100 }, () => 1),
    7,
    sum,
  );
  expect(uneven).toHaveLength(7);
  expect(sum(uneven as number[])).toBe(100);
});
