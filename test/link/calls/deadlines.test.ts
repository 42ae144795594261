import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { Deadlines, TICK_MS, type Timed } from '../../../src/link/calls/deadlines.js';
import { systemClock } from '../../../src/shared/clock.js';
import { until } from '../../support/until.js';
import { FakeClock } from '../fake-clock.js';

function wheel() {
  const clock = new FakeClock();
  const expired: { name: string; at: number }[] = [];
  const start = clock.now();
  const deadlines = new Deadlines<{ name: string; deadline: number; tick: number }>(clock, ({ name }) =>
    expired.push({ name, at: clock.now() - start }),
  );
  const add = (name: string, ms: number) => {
    const item = { name, deadline: clock.now() + ms, tick: 0 };
    deadlines.add(item);
    return item;
  };
  return { clock, expired, deadlines, add };
}

describe('the timer wheel', () => {
  it('never fires early and at most a tick late', () => {
    const { clock, expired, add } = wheel();
    for (const ms of [1, 15, 20, 21, 999, 60_000]) add(String(ms), ms);
    clock.advance(70_000);
    expect(expired.map(({ name }) => Number(name)).sort((a, b) => a - b)).toEqual([
      1, 15, 20, 21, 999, 60_000,
    ]);
    // a tick that comes too early would have to be armed again and again
    expect(clock.armed).toBeLessThanOrEqual(6);
    for (const { name, at } of expired) {
      expect(at).toBeGreaterThanOrEqual(Number(name));
      expect(at).toBeLessThanOrEqual(Number(name) + TICK_MS);
    }
  });

  it('expires an item whose deadline was moved at the new deadline', () => {
    const { clock, expired, add } = wheel();
    const item = add('moved', 100);
    clock.advance(50);
    item.deadline += 500;
    clock.advance(400);
    expect(expired).toEqual([]);
    clock.advance(200);
    expect(expired).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });

  it('never fires a removed item', () => {
    const { clock, expired, deadlines, add } = wheel();
    const item = add('removed', 100);
    add('stays', 100);
    deadlines.remove(item);
    clock.advance(1000);
    expect(expired.map(({ name }) => name)).toEqual(['stays']);
  });

  it('arms one timer for any number of short calls', () => {
    const { clock, deadlines, add } = wheel();
    for (let count = 0; count < 10_000; count += 1) {
      const item = add('call', 60_000);
      clock.advance(1);
      deadlines.remove(item);
    }
    expect(clock.armed).toBe(1);
    clock.advance(200_000);
    expect(clock.armed).toBe(1);
  });

  it('fires the earlier of two, whichever was added first', () => {
    const { clock, expired, add } = wheel();
    add('late', 1000);
    add('early', 100);
    clock.advance(150);
    expect(expired.map(({ name }) => name)).toEqual(['early']);
    clock.advance(1000);
    expect(expired.map(({ name }) => name)).toEqual(['early', 'late']);
  });

  it('has one timer at a time: none more for items of the same moment, or for an earlier one', () => {
    const { clock, add } = wheel();
    for (let count = 0; count < 100; count += 1) add('together', 1000);
    expect(clock.armed).toBe(1);
    add('earlier', 100);
    expect(clock.pending).toBe(1);
  });

  it('arms it once for each new deadline, for any number of later items', () => {
    const { clock, expired, add } = wheel();
    for (let second = 50; second > 0; second -= 1) add(String(second), second * 1000);
    const armed = clock.armed;
    clock.advance(60_000);
    expect(expired).toHaveLength(50);
    expect(clock.armed - armed).toBeLessThanOrEqual(50);
  });

  it('stops its timer when it is cleared', () => {
    const { clock, deadlines, add } = wheel();
    add('cleared', 100);
    deadlines.clear();
    expect(clock.pending).toBe(0);
  });

  it('removes every item when it is cleared, and works as new afterwards', () => {
    const { clock, expired, deadlines, add } = wheel();
    add('cleared', 100);
    deadlines.clear();
    add('after', 200);
    clock.advance(1000);
    expect(expired.map(({ name }) => name)).toEqual(['after']);
  });

  it('reads what came in time before it expires anything, after the daemon stood still', async () => {
    const events: string[] = [];
    const deadlines = new Deadlines<Timed>(systemClock, () => events.push('expired'));
    const child = spawn('/bin/sh', ['-c', 'read go; echo answer'], { stdio: ['pipe', 'pipe', 'ignore'] });
    const answered = { deadline: systemClock.now() + 100, tick: 0 };
    const silent = { ...answered };
    child.stdout.once('data', () => {
      events.push('answered');
      deadlines.remove(answered);
    });
    await once(child, 'spawn');
    child.stdin.write('go\n');
    deadlines.add(answered);
    deadlines.add(silent);
    // nothing runs in this process meanwhile
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
    await once(child, 'close');
    await until(() => events.includes('expired'));
    expect(events).toEqual(['answered', 'expired']);
  });
});
