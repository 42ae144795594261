import { describe, expect, it } from 'vitest';
import { Slots } from '../../../src/page/server/slots.js';

const lines = (...ids: number[]) => ids.map((id) => ({ id }));

describe('Slots', () => {
  it('a line keeps its slot, and a new one takes that of a line that is gone', () => {
    const slots = new Slots();
    expect([...slots.assign(lines(1, 2, 3)).values()]).toEqual([0, 1, 2]);
    expect(slots.assign(lines(2, 3, 4))).toEqual(
      new Map([
        [2, 1],
        [3, 2],
        [4, 0],
      ]),
    );
  });

  it('there are no more slots than lines at once', () => {
    const slots = new Slots();
    const used = new Set<number>();
    for (let first = 0; first < 100; first += 3) {
      const shown = slots.assign(lines(first, first + 1, first + 2, first + 3));
      expect(new Set(shown.values()).size).toBe(4);
      for (const slot of shown.values()) used.add(slot);
    }
    expect([...used].sort()).toEqual([0, 1, 2, 3]);
  });
});
