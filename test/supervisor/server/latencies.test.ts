import { expect, test } from 'vitest';
import { Latencies } from '../../../src/supervisor/server/configured-server.js';

function after(values: Iterable<number>): Latencies {
  const latencies = new Latencies();
  for (const value of values) latencies.add(value);
  return latencies;
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

test('quantile is null before the first call', () => {
  expect(new Latencies().quantile(0.5)).toBeNull();
});

test('quantile gives median, 99th percentile and maximum for any order of values', () => {
  const hundred = after(upTo(100).reverse());
  expect([hundred.quantile(0.5), hundred.quantile(0.99), hundred.quantile(1)]).toEqual([51, 100, 100]);
  expect([after([7]).quantile(0.5), after([7]).quantile(0.99)]).toEqual([7, 7]);
});

test('quantile sorts numerically and rounds to hundredths', () => {
  expect(after([9, 10, 100]).quantile(0.5)).toBe(10);
  expect(after([1.23456]).quantile(0.5)).toBe(1.23);
});

test('only the latest 512 durations count', () => {
  const latencies = after([...Array(512).fill(1000), ...Array(512).fill(2)]);
  expect([latencies.quantile(0), latencies.quantile(0.99)]).toEqual([2, 2]);
  latencies.add(5);
  expect([latencies.quantile(0.99), latencies.quantile(1)]).toEqual([2, 5]);
});
