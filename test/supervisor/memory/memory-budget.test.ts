import { describe, expect, test } from 'vitest';
import type { MemoryUser } from '../../../src/supervisor/memory/memory-budget.js';
import { MemoryBudget } from '../../../src/supervisor/memory/memory-budget.js';
import { VirtualClock } from '../../../src/testing/index.js';

const MIB = 2 ** 20;

class Beast implements MemoryUser {
  readonly pids: number[];
  maxRss = 0;
  bytes = 0;
  idleMs = 60_000;
  isEager = false;
  isNeededAfterAll = false;
  readonly told: string[] = [];
  evictable: MemoryUser['evictable'];

  constructor(pid: number, changes: Partial<Beast> = {}) {
    this.pids = [pid];
    this.evictable = {
      isEager: changes.isEager ?? false,
      isLeaving: () => false,
      idleForMs: () => this.idleMs,
      rest: (why) => {
        if (!this.isNeededAfterAll) this.told.push(why);
        return !this.isNeededAfterAll;
      },
    };
    Object.assign(this, changes);
  }

  over(bytes: number): void {
    this.told.push(`over: ${bytes / MIB}`);
  }
}

function createBudget(...beasts: Beast[]) {
  const clock = new VirtualClock();
  const warnings: string[] = [];
  let looks = 0;
  const budget = new MemoryBudget({
    clock,
    memoryOf: (leaders) => {
      looks += 1;
      return new Map(leaders.map((pid) => [pid, beasts.find(({ pids }) => pids[0] === pid)?.bytes ?? 0]));
    },
    warn: (text) => warnings.push(text),
  });
  const ways = beasts.map((beast) => budget.watch(beast));
  return { clock, budget, warnings, ways, looks: () => looks };
}

const told = (...beasts: Beast[]) => beasts.map(({ told }) => told.length);

describe('the budget of a server', () => {
  test('a server without max_rss causes no measurement and no timer', () => {
    const { clock, looks } = createBudget(new Beast(1, { bytes: 10 ** 12 }));
    clock.advance(10_000);
    expect([looks(), clock.pending]).toEqual([0, 0]);
  });

  test('is checked once a second while the server runs, and not after its end', () => {
    const { clock, looks, ways } = createBudget(new Beast(1, { maxRss: MIB }), new Beast(2));
    clock.advance(5000);
    expect(looks()).toBe(5);
    ways[0]?.();
    clock.advance(5000);
    expect([looks(), clock.pending]).toEqual([5, 0]);
  });

  test('ends a server over its limit once, also during a call; at the limit it does not', () => {
    const beasts = [
      new Beast(1, { maxRss: MIB, bytes: MIB }),
      new Beast(2, { maxRss: MIB, bytes: 2 * MIB, idleMs: 0 }),
      new Beast(3, { bytes: 10 ** 12 }),
    ];
    createBudget(...beasts).clock.advance(5000);
    expect(beasts.map(({ told }) => told)).toEqual([[], ['over: 2'], []]);
  });
});

describe('the budget of the herd', () => {
  test('evicts the servers that were unused for longest, and no more than needed', () => {
    const [old, older, oldest] = [10_000, 20_000, 30_000].map(
      (idleMs, index) => new Beast(index + 1, { idleMs, bytes: 10 * MIB }),
    ) as [Beast, Beast, Beast];
    const { clock, budget, warnings } = createBudget(old, older, oldest);
    budget.limit(20 * MIB);
    clock.advance(1000);
    expect(told(old, older, oldest)).toEqual([0, 0, 1]);
    expect(oldest.told[0]).toBe(
      'stopped to free memory, because it was idle: the herd uses 30 MiB, more than the 20 MiB of daemon.max_rss',
    );
    // it is stopping, and still there: no other has to stop for it
    clock.advance(3000);
    expect(told(old, older, oldest)).toEqual([0, 0, 1]);
    expect(warnings).toEqual([]);
    expect(budget.report()).toEqual({ max_rss: 20 * MIB, rss_bytes: 30 * MIB, problem: null });
  });

  test('evicts eager servers last', () => {
    const eager = new Beast(1, { isEager: true, idleMs: 90_000, bytes: 10 * MIB });
    const lazy = new Beast(2, { idleMs: 9000, bytes: 10 * MIB });
    const { clock, budget } = createBudget(eager, lazy);
    budget.limit(15 * MIB);
    clock.advance(1000);
    expect(told(eager, lazy)).toEqual([0, 1]);
    budget.limit(5 * MIB);
    clock.advance(1000);
    expect(told(eager, lazy)).toEqual([1, 1]);
  });

  test('evicts no busy server, none that was used within 3 s and no spare; the warning comes once', () => {
    const busy = new Beast(1, { idleMs: 0, bytes: 10 * MIB });
    const fresh = new Beast(2, { idleMs: 2999, bytes: 10 * MIB });
    const spare = new Beast(3, { bytes: 10 * MIB, evictable: undefined });
    const { clock, budget, warnings } = createBudget(busy, fresh, spare);
    budget.limit(MIB);
    clock.advance(10_000);
    expect(told(busy, fresh, spare)).toEqual([0, 0, 0]);
    const problem =
      'the herd uses 30 MiB, more than the 1 MiB of daemon.max_rss, and no server is idle that could be stopped';
    expect(warnings).toEqual([problem]);
    expect(budget.report()?.problem).toBe(problem);
    // below it and over it again: the report has the problem at once, the log not again
    busy.bytes = fresh.bytes = spare.bytes = 0;
    clock.advance(1000);
    expect(budget.report()).toEqual({ max_rss: MIB, rss_bytes: 0, problem: null });
    busy.bytes = 30 * MIB;
    clock.advance(1000);
    expect(budget.report()?.problem).toBe(problem);
    expect(warnings).toEqual([problem]);
  });

  test('evicts the next server when the first is needed after all', () => {
    const first = new Beast(1, { idleMs: 9000, bytes: 10 * MIB, isNeededAfterAll: true });
    const second = new Beast(2, { idleMs: 8000, bytes: 10 * MIB });
    const { clock, budget } = createBudget(first, second);
    budget.limit(15 * MIB);
    clock.advance(1000);
    expect(told(first, second)).toEqual([0, 1]);
    // and is asked again when there is reason to
    budget.limit(5 * MIB);
    first.isNeededAfterAll = false;
    clock.advance(1000);
    expect(told(first, second)).toEqual([1, 1]);
  });

  test('evicts no server for the memory of one that is over its own max_rss', () => {
    const hungry = new Beast(1, { maxRss: MIB, idleMs: 0, bytes: 90 * MIB });
    const idle = new Beast(2, { bytes: 10 * MIB });
    const { clock, budget } = createBudget(hungry, idle);
    budget.limit(50 * MIB);
    clock.advance(3000);
    expect(told(hungry, idle)).toEqual([1, 0]);
  });

  test('reports no use and no problem when the last server is gone', () => {
    const { clock, budget, ways } = createBudget(new Beast(1, { idleMs: 0, bytes: 10 * MIB }));
    budget.limit(MIB);
    clock.advance(1000);
    expect(budget.report()).toMatchObject({ rss_bytes: 10 * MIB, problem: expect.any(String) });
    ways[0]?.();
    clock.advance(5000);
    expect(budget.report()).toEqual({ max_rss: MIB, rss_bytes: 0, problem: null });
  });

  test('is not checked after the limit was removed', () => {
    const { clock, budget, looks } = createBudget(new Beast(1));
    budget.limit(MIB);
    clock.advance(2000);
    budget.limit(0);
    clock.advance(5000);
    expect([looks(), clock.pending, budget.report()]).toEqual([2, 0, undefined]);
  });

  test('warns once where memory cannot be measured, and stops its timer', () => {
    const clock = new VirtualClock();
    const warnings: string[] = [];
    const budget = new MemoryBudget({ clock, memoryOf: () => null, warn: (text) => warnings.push(text) });
    budget.watch(new Beast(1, { maxRss: MIB }));
    budget.limit(MIB);
    clock.advance(5000);
    expect(warnings).toEqual([`memory is not measured on ${process.platform}: max_rss has no effect here`]);
    expect([clock.pending, budget.report()?.problem]).toEqual([0, warnings[0]]);
    // a changed limit is as useless as the one before
    budget.limit(2 * MIB);
    clock.advance(5000);
    expect([clock.pending, budget.report()?.problem]).toEqual([0, warnings[0]]);
  });
});
