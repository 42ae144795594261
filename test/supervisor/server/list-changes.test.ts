import { expect, test } from 'vitest';
import { ListChanges } from '../../../src/supervisor/server/list-changes.js';
import { VirtualClock } from '../../../src/testing/index.js';

function stage() {
  const clock = new VirtualClock();
  const told: number[] = [];
  const changes = new ListChanges(clock, () => void told.push(clock.now()));
  return { clock, told, changes };
}

test('FR-016: what follows within a tenth of a second is told together', () => {
  const { clock, told, changes } = stage();
  changes.note();
  clock.advance(50);
  changes.note();
  changes.note();
  clock.advance(49);
  expect(told).toEqual([]);
  clock.advance(1);
  expect(told).toEqual([100]);
  clock.advance(10_000);
  expect(told).toHaveLength(1);
});

test('a storm is told once a second, and its end is told too', () => {
  const { clock, told, changes } = stage();
  for (let ms = 0; ms < 3050; ms += 10) {
    changes.note();
    clock.advance(10);
  }
  clock.advance(2000);
  expect(told).toEqual([100, 1100, 2100, 3100]);
});

test('after the end nothing is told', () => {
  const { clock, told, changes } = stage();
  changes.note();
  changes.stop();
  clock.advance(5000);
  expect([told, clock.pending]).toEqual([[], 0]);
});
