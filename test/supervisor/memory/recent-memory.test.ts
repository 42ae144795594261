import { describe, expect, test } from 'vitest';
import { RecentMemory } from '../../../src/supervisor/memory/recent-memory.js';
import { until } from '../../support/until.js';

/** A meter of processes that all have as many bytes as the test says. */
function createMemory() {
  const world = { ms: 1000, bytes: 1, gone: new Set<number>(), measured: [] as (readonly number[])[] };
  function* measure(leaders: readonly number[]) {
    for (let step = 0; step < 100; step += 1) yield;
    world.measured.push(leaders);
    return new Map(
      leaders.filter((leader) => !world.gone.has(leader)).map((leader) => [leader, world.bytes]),
    );
  }
  const of = (leaders: readonly number[]) => {
    const steps = measure(leaders);
    for (;;) {
      const { done, value } = steps.next();
      if (done === true) return value;
    }
  };
  return { world, memory: new RecentMemory({ of, measure }, () => world.ms) };
}

describe('recent memory', () => {
  test('the first answer is measured, and so is one after 5 s', () => {
    const { world, memory } = createMemory();
    expect(memory.of([1, 2])).toEqual(
      new Map([
        [1, 1],
        [2, 1],
      ]),
    );
    world.bytes = 2;
    world.ms += 5001;
    expect(memory.of([1, 2])).toEqual(
      new Map([
        [1, 2],
        [2, 2],
      ]),
    );
    expect(world.measured).toHaveLength(2);
  });

  test('between them an answer is the last one, and what is measured meanwhile is in the next', async () => {
    const { world, memory } = createMemory();
    memory.of([1, 2]);
    world.bytes = 2;
    world.ms += 501;
    expect(memory.of([1, 2])?.get(1)).toBe(1);
    // it is measured once, however often it is asked for
    expect(memory.of([1, 2])?.get(1)).toBe(1);
    expect(world.measured).toHaveLength(1);
    await until(() => world.measured.length === 2);
    expect(memory.of([1, 2])?.get(1)).toBe(2);
    expect(world.measured).toHaveLength(2);
  });

  test('a process that is new is measured at once, alone', () => {
    const { world, memory } = createMemory();
    memory.of([1, 2]);
    expect(memory.of([1, 3])?.get(3)).toBe(1);
    expect(world.measured).toEqual([[1, 2], [3]]);
  });

  test('a process that is gone is forgotten by the next measurement, and one that came meanwhile is kept', async () => {
    const { world, memory } = createMemory();
    memory.of([1, 2]);
    world.gone.add(1);
    world.ms += 501;
    memory.of([1, 2]);
    memory.of([2, 3]);
    await until(() => world.measured.length === 3);
    expect(memory.of([2, 3])).toEqual(
      new Map([
        [2, 1],
        [3, 1],
      ]),
    );
  });
});
