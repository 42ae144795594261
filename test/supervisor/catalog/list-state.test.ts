import { expect, test } from 'vitest';
import { ListState } from '../../../src/supervisor/catalog/list-state.js';
import { VirtualClock } from '../../../src/testing/index.js';

function createList() {
  const clock = new VirtualClock();
  const tries: number[] = [];
  const list = new ListState({ clock, retry: () => tries.push(clock.now()) });
  const fail = () => list.failed('no');
  return { clock, list, tries, fail };
}

test('each failure waits longer for the next try, up to a minute', () => {
  const { clock, tries, fail } = createList();
  for (let count = 0; count < 8; count += 1) {
    fail();
    clock.advance(60_000);
  }
  expect(tries.map((at, index) => at - index * 60_000)).toEqual([
    1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000,
  ]);
});

test('failures while a try is to come share it and do not lengthen the next', () => {
  const { clock, list, tries, fail } = createList();
  fail();
  fail();
  expect([list.nextTryAt, clock.pending]).toEqual([1000, 1]);
  clock.advance(1000);
  expect([list.nextTryAt, tries]).toEqual([undefined, [1000]]);
  fail();
  clock.advance(2000);
  expect(tries).toEqual([1000, 3000]);
});

test('a suspended try never comes; a reading forgets the failures', () => {
  const { clock, list, tries, fail } = createList();
  fail();
  list.suspend();
  list.suspend();
  clock.advance(10_000);
  expect([list.nextTryAt, tries]).toEqual([undefined, []]);
  list.read(0);
  fail();
  clock.advance(1000);
  expect(tries).toEqual([11_000]);
});
