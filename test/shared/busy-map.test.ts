import { describe, expect, it } from 'vitest';
import { BusyMap } from '../../src/shared/busy-map.js';

describe('a map of things that come and go', () => {
  it('an entry stays, in its order, while ten thousand others come and go', () => {
    const map = new BusyMap<number, string>();
    map.set(-2, 'first');
    map.set(-1, 'second');
    for (let key = 0; key < 10_000; key += 1) {
      map.set(key, 'short');
      expect(map.delete(key)).toBe(true);
    }
    expect(map.size).toBe(2);
    expect([...map.values()]).toEqual(['first', 'second']);
    expect([map.get(-1), map.get(5)]).toEqual(['second', undefined]);
  });

  it('an entry that is set again keeps its place, and one that was deleted is gone', () => {
    const map = new BusyMap<string, number>();
    map.set('a', 1);
    map.set('b', 2);
    map.set('a', 3);
    expect([...map.values()]).toEqual([3, 2]);
    expect([map.delete('a'), map.delete('a')]).toEqual([true, false]);
    map.clear();
    expect([map.size, map.get('b')]).toEqual([0, undefined]);
  });
});
