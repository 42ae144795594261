import { describe, expect, test } from 'vitest';
import { VirtualClock } from '../../src/testing/index.js';

describe('virtual time', () => {
  test('a chain of timers runs through in one step, each link at its own moment', () => {
    const clock = new VirtualClock();
    const fired: number[] = [];
    const chain = () => {
      fired.push(clock.now());
      if (fired.length < 3) clock.setTimeout(chain, 100);
    };
    clock.setTimeout(chain, 100);
    clock.advance(300);
    expect(fired).toEqual([100, 200, 300]);
    expect(clock.now()).toBe(300);
  });

  test('timers fire in the order in which they fall due, at one moment the older first; a cleared one never', () => {
    const clock = new VirtualClock();
    const fired: string[] = [];
    clock.setTimeout(() => fired.push('late'), 20);
    clock.setTimeout(() => fired.push('first'), 10);
    clock.setTimeout(() => fired.push('second'), 10);
    clock.clearTimeout(clock.setTimeout(() => fired.push('never'), 10));
    clock.advance(9);
    expect(fired).toEqual([]);
    clock.advance(11);
    expect(fired).toEqual(['first', 'second', 'late']);
    expect(clock.pending).toBe(0);
  });

  test('a loop that waits for nothing is an error, not an endless test', () => {
    const clock = new VirtualClock();
    const again = () => clock.setTimeout(again, 0);
    again();
    expect(() => clock.advance(1)).toThrow('time stands still');
  });

  test('a timer without a figure is refused: it is how a missing delay shows', () => {
    expect(() => new VirtualClock().setTimeout(() => {}, Number.NaN)).toThrow('a named delay is missing');
  });
});
