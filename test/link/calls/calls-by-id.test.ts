import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Call } from '../../../src/link/calls/call.js';
import { CallsById } from '../../../src/link/calls/calls-by-id.js';

const callOf = (id: number) => ({ id }) as Call;

describe('calls in flight', () => {
  it('are found by their ids as in a Map, also beside very long calls', () => {
    const steps = fc.array(
      fc.record({ skip: fc.integer({ min: 1, max: 3000 }), end: fc.nat({ max: 20 }), look: fc.integer() }),
    );
    fc.assert(
      fc.property(steps, (list) => {
        const inFlight = new CallsById();
        const model = new Map<number, Call>();
        let id = 2 ** 30;
        for (const { skip, end, look } of list) {
          id += skip;
          inFlight.add(callOf(id));
          model.set(id, inFlight.get(id)!);
          const ended = [...model.values()][end];
          if (ended !== undefined) {
            expect(inFlight.delete(ended)).toBe(true);
            expect(inFlight.delete(ended)).toBe(false);
            model.delete(ended.id);
          }
          expect(inFlight.size).toBe(model.size);
          expect(inFlight.all()).toEqual([...model.values()]);
          for (const wanted of [look, id, id - 1024, id - 2048, look + 0.5]) {
            expect(inFlight.get(wanted)).toBe(model.get(wanted));
          }
        }
      }),
      { seed: 7, numRuns: 60 },
    );
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, -1, 0.5, 2 ** 53])('none has the id %s', (id) => {
    const inFlight = new CallsById();
    inFlight.add(callOf(2 ** 30));
    expect(inFlight.get(id)).toBeUndefined();
  });
});
