import { describe, expect, it } from 'vitest';
import { added, bucketed } from '../../../src/page/text/series.js';

describe('series', () => {
  it('counts are added up in buckets, and the newest bucket is full', () => {
    expect(bucketed([1, 1, 1, 1, 1], 3, 'sum')).toEqual([1, 2, 2]);
  });

  it('a bucket of measured values has the newest that is known', () => {
    expect(bucketed([1, 2, 3, null, null, null], 3, 'last')).toEqual([2, 3, null]);
  });

  it('no sum of counts is lost in buckets', () => {
    const values = Array.from({ length: 1440 }, (_, index) => index % 7);
    const total = values.reduce((sum, value) => sum + value, 0);
    expect(bucketed(values, 48, 'sum').reduce((sum: number, value) => sum + (value ?? 0), 0)).toBe(total);
    expect(bucketed(values, 48, 'sum')).toHaveLength(48);
  });

  it('an empty series has no buckets', () => {
    expect(bucketed([], 48, 'sum')).toEqual([]);
  });

  it('several series are added position by position', () => {
    expect(
      added(
        [
          [1, 2],
          [3, 4],
        ],
        2,
      ),
    ).toEqual([4, 6]);
    expect(added([], 2)).toEqual([0, 0]);
  });
});
