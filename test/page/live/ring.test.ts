import { describe, expect, it } from 'vitest';
import { appended, Batch } from '../../../src/page/live/ring.js';

describe('the newest values', () => {
  it('a full list drops its oldest values', () => {
    expect(appended([1, 2, 3], [4, 5], 4)).toEqual([2, 3, 4, 5]);
  });

  it('more new values than the limit leave only the newest of them', () => {
    expect(appended([1], [2, 3, 4, 5], 2)).toEqual([4, 5]);
  });

  it('no new values leave the same list, so that nothing is drawn again', () => {
    const kept = [1, 2];
    expect(appended(kept, [], 2)).toBe(kept);
  });
});

describe('a batch', () => {
  function batchOf(limit: number) {
    const frames: (() => void)[] = [];
    const taken: { values: readonly number[]; dropped: number }[] = [];
    const batch = new Batch<number>(
      limit,
      (flush) => frames.push(flush),
      (values, dropped) => taken.push({ values, dropped }),
    );
    return { batch, frames, taken };
  }

  it('values of one frame are handed over together', () => {
    const { batch, frames, taken } = batchOf(10);
    for (const value of [1, 2, 3]) batch.add(value);
    expect(frames).toHaveLength(1);
    frames[0]!();
    expect(taken).toEqual([{ values: [1, 2, 3], dropped: 0 }]);
  });

  it('the next frame has only the values that came after the last one', () => {
    const { batch, frames, taken } = batchOf(10);
    batch.add(1);
    frames[0]!();
    batch.add(2);
    frames[1]!();
    expect(taken.map(({ values }) => values)).toEqual([[1], [2]]);
  });

  it('a frame that never comes keeps the newest values and counts the rest', () => {
    const { batch, frames, taken } = batchOf(100);
    for (let value = 0; value < 100_000; value += 1) batch.add(value);
    frames[0]!();
    expect(taken).toHaveLength(1);
    expect(taken[0]!.values).toHaveLength(100);
    expect(taken[0]!.values.at(-1)).toBe(99_999);
    expect(taken[0]!.dropped).toBe(99_900);
  });
});
