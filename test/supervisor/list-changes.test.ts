import { expect, test } from 'vitest';
import { ListChanges } from '../../src/supervisor/list-changes.js';
import type { ListName } from '../../src/supervisor/lists.js';
import { VirtualClock } from '../../src/testing/index.js';

function stage() {
  const clock = new VirtualClock();
  const told: { at: number; lists: ListName[] }[] = [];
  const changes = new ListChanges(clock, (lists) => told.push({ at: clock.now(), lists }));
  return { clock, told, changes };
}

test('FR-016: what follows within a tenth of a second is told together', () => {
  const { clock, told, changes } = stage();
  changes.note('tools');
  clock.advance(50);
  changes.note('prompts');
  changes.note('tools');
  clock.advance(49);
  expect(told).toEqual([]);
  clock.advance(1);
  expect(told).toEqual([{ at: 100, lists: ['tools', 'prompts'] }]);
  clock.advance(10_000);
  expect(told).toHaveLength(1);
});

test('a storm is told once a second, and its end is told too', () => {
  const { clock, told, changes } = stage();
  for (let ms = 0; ms < 3050; ms += 10) {
    changes.note('tools');
    clock.advance(10);
  }
  clock.advance(2000);
  expect(told.map(({ at }) => at)).toEqual([100, 1100, 2100, 3100]);
});

test('after the end nothing is told', () => {
  const { clock, told, changes } = stage();
  changes.note('tools');
  changes.stop();
  clock.advance(5000);
  expect([told, clock.pending]).toEqual([[], 0]);
});
