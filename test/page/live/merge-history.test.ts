import { describe, expect, it } from 'vitest';
import type { FleetHistory } from '../../../src/fleet/fleet.js';
import { mergeHistory } from '../../../src/page/live/merge-history.js';

const START = Date.parse('2026-11-18T12:00:00.000Z');

/** A history of one server that begins so many minutes after noon. */
function historyOf(minute: number, calls: number[], name = 'a'): FleetHistory {
  const zeros = calls.map(() => 0);
  return {
    since: new Date(START).toISOString(),
    from: new Date(START + minute * 60_000).toISOString(),
    minute_ms: 60_000,
    servers: [{ name, agent: null, calls, failures: zeros, restarts: zeros, rss_bytes: calls.map(() => 1) }],
  };
}

describe('a history and its newer tail', () => {
  it('minutes of the tail replace those that were fetched before', () => {
    const merged = mergeHistory(historyOf(0, [1, 2, 3]), historyOf(2, [4, 5]));
    expect(merged?.servers[0]?.calls).toEqual([1, 2, 4, 5]);
    expect(merged?.from).toBe(historyOf(0, []).from);
  });

  it('a day is the most that is kept, and its beginning moves', () => {
    const merged = mergeHistory(historyOf(0, new Array(1440).fill(1)), historyOf(1439, [2, 3]));
    expect(merged?.servers[0]?.calls).toHaveLength(1440);
    expect(merged?.servers[0]?.calls.slice(-3)).toEqual([1, 2, 3]);
    expect(merged?.from).toBe(historyOf(1, []).from);
  });

  it('a server that the tail names first has no past', () => {
    const merged = mergeHistory(historyOf(0, [1, 2]), historyOf(1, [7, 8], 'new'));
    expect(merged?.servers).toHaveLength(1);
    expect(merged?.servers[0]).toMatchObject({ name: 'new', calls: [0, 7, 8], rss_bytes: [null, 1, 1] });
  });

  it('a tail that begins after the end is refused: the minutes between are not known', () => {
    expect(mergeHistory(historyOf(0, [1, 2]), historyOf(3, [1]))).toBeUndefined();
  });

  it('a tail from before the beginning is refused: the clock went back', () => {
    expect(mergeHistory(historyOf(5, [1, 2]), historyOf(3, [1]))).toBeUndefined();
  });
});
