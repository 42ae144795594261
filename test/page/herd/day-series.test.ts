import { describe, expect, it } from 'vitest';
import { daySeries } from '../../../src/page/herd/day-series.js';

const zeros = new Array(1440).fill(0);
const history = (...calls: number[][]) => recorded('2026-11-17T12:00:00.000Z', ...calls);
const recorded = (since: string, ...calls: number[][]) => ({
  since,
  from: '2026-11-17T12:00:00.000Z',
  minute_ms: 60_000,
  servers: calls.map((each, index) => ({
    name: `s${index}`,
    agent: null,
    calls: each,
    failures: zeros,
    restarts: zeros,
    rss_bytes: zeros,
  })),
});

describe('the bars of a day', () => {
  it('a day has 144 bars of ten minutes, and the last one ends with the present minute', () => {
    const { times, stepMs } = daySeries(history(zeros));
    expect(times).toHaveLength(144);
    expect(times.at(-1)! * 1000 + stepMs / 2).toBe(Date.parse('2026-11-18T12:00:00.000Z'));
  });

  it('a bar has the calls of all servers', () => {
    const { calls, totals } = daySeries(history([...zeros.slice(2), 1, 2], [...zeros.slice(1), 4]));
    expect(calls.at(-1)).toBe(7);
    expect(totals.calls).toBe(7);
  });

  it.each([
    ['2026-11-18T11:50:30.000Z', 'hour', 60],
    ['2026-11-18T10:30:00.000Z', '3 hours', 90],
    ['2026-11-18T02:00:00.000Z', '12 hours', 144],
    ['2026-11-10T12:00:00.000Z', '24 hours', 144],
  ])('a daemon that records since %s shows the last %s in %d bars', (since, span, bars) => {
    const series = daySeries(recorded(since, [...zeros.slice(1), 3]));
    expect(series.span).toBe(span);
    expect(series.times).toHaveLength(bars);
    expect(series.calls.at(-1)).toBe(3);
  });

  it('a herd without servers has no bars', () => {
    expect(daySeries(history()).times).toEqual([]);
  });
});
