import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InOrder, type Waiter } from '../../../src/link/session/waiting-line.js';

describe('the waiting line', () => {
  it('is an ordered list, whatever joins and leaves', () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('push' as const), bytes: fc.nat(100) }),
      fc.record({ do: fc.constant('shift' as const) }),
      fc.record({ do: fc.constant('remove' as const), place: fc.nat() }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
        const line = new InOrder<Waiter>();
        const model: Waiter[] = [];
        for (const one of steps) {
          if (one.do === 'push') {
            const item = { bytes: one.bytes, caller: undefined };
            model.push(item);
            line.push(item);
          } else if (one.do === 'shift') expect(line.shift()).toBe(model.shift());
          else {
            const [item] = model.splice(one.place % (model.length + 1), 1);
            const known = item !== undefined;
            expect(line.remove(item ?? { bytes: 1, caller: undefined })).toBe(known);
          }
          expect(line.size).toBe(model.length);
          expect(line.bytes).toBe(model.reduce((sum, { bytes }) => sum + bytes, 0));
        }
        for (const item of model) expect(line.shift()).toBe(item);
        expect(line.shift()).toBeUndefined();
      }),
    );
  });

  it('stays fast when everybody leaves from the middle', () => {
    const line = new InOrder<Waiter>();
    const first = { bytes: 1, caller: undefined };
    line.push(first);
    const startedAt = performance.now();
    for (let count = 0; count < 200_000; count += 1) {
      const item = { bytes: 1, caller: undefined };
      line.push(item);
      line.remove(item);
    }
    expect(performance.now() - startedAt).toBeLessThan(3000);
    expect(line.shift()).toBe(first);
  });

  it('stays fast when it is long and everybody gets a turn', () => {
    const line = new InOrder<Waiter>();
    const items = Array.from({ length: 20_000 }, () => ({ bytes: 1, caller: undefined }));
    for (const item of items) line.push(item);
    const startedAt = performance.now();
    const served = items.map(() => line.shift());
    expect(performance.now() - startedAt).toBeLessThan(3000);
    expect(served.every((item, place) => item === items[place])).toBe(true);
  });
});
