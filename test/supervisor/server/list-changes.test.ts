import { expect, test } from 'vitest';
import { ListChanges } from '../../../src/supervisor/server/list-changes.js';
import { VirtualClock } from '../../../src/testing/index.js';

function createChanges() {
  const clock = new VirtualClock();
  const told: number[] = [];
  const changes = new ListChanges(clock, () => void told.push(clock.now()));
  return { clock, told, changes };
}

test('FR-016: notifications within a tenth of a second cause one reading', () => {
  const { clock, told, changes } = createChanges();
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

test('a storm causes one reading a second, and one after its end', () => {
  const { clock, told, changes } = createChanges();
  for (let ms = 0; ms < 3050; ms += 10) {
    changes.note();
    clock.advance(10);
  }
  clock.advance(2000);
  expect(told).toEqual([100, 1100, 2100, 3100]);
});

test('after stop no reading follows', () => {
  const { clock, told, changes } = createChanges();
  changes.note();
  changes.stop();
  clock.advance(5000);
  expect([told, clock.pending]).toEqual([[], 0]);
});

test('a list of many thousand entries is read less often, but at least every half minute', () => {
  const { clock, told, changes } = createChanges();
  const storm = (ms: number) => {
    for (const end = clock.now() + ms; clock.now() < end; clock.advance(50)) changes.note();
  };
  storm(100);
  changes.read(80_000);
  storm(8000);
  expect(told).toEqual([100, 8100]);
  changes.read(600_000);
  storm(30_000);
  expect(told).toEqual([100, 8100, 38_100]);
  changes.read(5);
  storm(1000);
  expect(told).toEqual([100, 8100, 38_100, 39_100]);
});
