import { expect, test } from 'vitest';
import { bars, decades, lines, niceTop, shortNumber } from '../../bench/report/svg.mjs';

test('an axis has whole decades, at least one', () => {
  expect(decades([0.05, 20])).toEqual({ low: -2, high: 2 });
  expect(decades([1, 1])).toEqual({ low: 0, high: 1 });
});

test('numbers are short', () => {
  expect([0.0512, 999, 12_345, 2_000_000].map(shortNumber)).toEqual(['0.0512', '999', '12.3k', '2M']);
});

test('an axis ends at a round number that holds everything', () => {
  expect([1, 1.1, 23, 84, 100].map(niceTop)).toEqual([1, 2, 25, 100, 100]);
});

test('bars: one for each value, longer for more, names escaped', () => {
  const svg = bars({
    title: 'a & b',
    unit: 'ms',
    legend: ['p50'],
    rows: [
      ['<x>', 1],
      ['y', 10],
    ],
  });
  const widths = [...svg.matchAll(/<rect x="190" y="\d+" width="([\d.]+)" height="11"/g)].map(([, width]) =>
    Number(width),
  );
  expect(widths).toHaveLength(2);
  expect(widths[1]).toBeGreaterThan(widths[0] ?? Number.NaN);
  expect(svg).toContain('&lt;x&gt;');
  expect(svg).toContain('aria-label="a &amp; b"');
  expect(svg).not.toContain('NaN');
});

test('lines: one path a series, readable in light and dark', () => {
  const series: Record<string, [number, number][]> = {
    a: [
      [1, 1],
      [10, 5],
    ],
    b: [
      [1, 2],
      [10, 80],
    ],
  };
  for (const linear of [false, true]) {
    const svg = lines({ title: 't', xUnit: 'servers', yUnit: 'ms', series, linear });
    expect(svg.match(/<path /g)).toHaveLength(2);
    expect(svg).toContain('prefers-color-scheme: dark');
    expect(svg).not.toContain('NaN');
  }
});
