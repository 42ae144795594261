import { describe, expect, it } from 'vitest';
import { matches, sorted } from '../../../src/page/text/sort.js';

const same = <Value>(value: Value): Value => value;

describe('sorting', () => {
  it('names with numbers stand as people count', () => {
    expect(sorted(['a10', 'a2', 'b1'], same, 'up')).toEqual(['a2', 'a10', 'b1']);
  });

  it('numbers are sorted as numbers', () => {
    expect(sorted([9, 100, 20], same, 'down')).toEqual([100, 20, 9]);
  });

  it.each(['up', 'down'] as const)('values that are not known stand last when sorted %s', (order) => {
    expect(sorted([null, 1, null, 2], same, order).slice(2)).toEqual([null, null]);
  });

  it('the given rows stay as they were', () => {
    const rows = [2, 1];
    sorted(rows, same, 'up');
    expect(rows).toEqual([2, 1]);
  });
});

describe('a filter', () => {
  it('each of its words must be in one of the texts, in any case', () => {
    expect(matches('GIT run', ['github', 'running'])).toBe(true);
    expect(matches('git stopped', ['github', 'running'])).toBe(false);
  });

  it('an empty filter matches everything, also rows without texts', () => {
    expect(matches('  ', [null, undefined])).toBe(true);
  });
});
