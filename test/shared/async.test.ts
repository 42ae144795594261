import { getEventListeners } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import {
  abortReason,
  coalesce,
  limitConcurrency,
  onAbort,
  serialize,
  shareByKey,
  withTimeout,
} from '../../src/shared/async.js';
import { FakeClock } from '../link/fake-clock.js';

/** Work that the test ends. */
function createWork() {
  const ends: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const work = () => new Promise<void>((resolve, reject) => ends.push({ resolve, reject }));
  return { work, ends };
}

describe('serialize', () => {
  it('starts a task when the one before it has ended, also by an error', async () => {
    const { work, ends } = createWork();
    const inTurn = serialize();
    const first = inTurn(work);
    const second = inTurn(work);
    const third = inTurn(async () => 'third');
    await nextTurn();
    expect(ends).toHaveLength(1);
    ends[0]?.reject(new Error('no'));
    await expect(first).rejects.toThrow('no');
    await nextTurn();
    expect(ends).toHaveLength(2);
    ends[1]?.resolve();
    await second;
    expect(await third).toBe('third');
  });

  it('gives a task that throws before its promise exists as a rejection', async () => {
    const inTurn = serialize();
    const failed = inTurn(() => {
      throw new Error('at once');
    });
    await expect(failed).rejects.toThrow('at once');
    expect(await inTurn(async () => 1)).toBe(1);
  });
});

describe('coalesce', () => {
  it('runs at the first change at once', () => {
    const { work, ends } = createWork();
    coalesce(work)();
    expect(ends).toHaveLength(1);
  });

  it('runs once more for any number of changes during a run, and then rests', async () => {
    const { work, ends } = createWork();
    const changed = coalesce(work);
    changed();
    for (let count = 0; count < 5; count += 1) changed();
    expect(ends).toHaveLength(1);
    ends[0]?.resolve();
    await nextTurn();
    expect(ends).toHaveLength(2);
    ends[1]?.resolve();
    await nextTurn();
    expect(ends).toHaveLength(2);
    changed();
    expect(ends).toHaveLength(3);
  });

  it('runs again after a run that failed', async () => {
    const { work, ends } = createWork();
    const changed = coalesce(work);
    changed();
    changed();
    ends[0]?.reject(new Error('no'));
    await nextTurn();
    expect(ends).toHaveLength(2);
  });
});

describe('withTimeout', () => {
  it('resolves when the work is done, and leaves no timer', async () => {
    const clock = new FakeClock();
    await withTimeout(1000, Promise.resolve(), clock);
    await nextTurn();
    expect(clock.pending).toBe(0);
  });

  it('resolves when the time is over, although the work goes on', async () => {
    const clock = new FakeClock();
    let isOver = false;
    const waiting = withTimeout(1000, createWork().work(), clock).then(() => {
      isOver = true;
    });
    clock.advance(999);
    await nextTurn();
    expect(isOver).toBe(false);
    clock.advance(1);
    await waiting;
  });

  it('rejects with the error of the work, and leaves no timer', async () => {
    const clock = new FakeClock();
    await expect(withTimeout(1000, Promise.reject(new Error('no')), clock)).rejects.toThrow('no');
    await nextTurn();
    expect(clock.pending).toBe(0);
  });
});

describe('abortReason', () => {
  it('is the message of the error of the abort', () => {
    expect(abortReason(AbortSignal.abort(new Error('not wanted')))).toBe('not wanted');
  });

  it.each([
    ['no signal', undefined],
    ['a signal that was not aborted', new AbortController().signal],
    ['a reason that is no error', AbortSignal.abort('text')],
  ])('is undefined for %s', (_, signal) => {
    expect(abortReason(signal)).toBeUndefined();
  });
});

describe('onAbort', () => {
  it('runs every function once, in the order in which they came', () => {
    const controller = new AbortController();
    const ran: number[] = [];
    for (const number of [1, 2, 3]) onAbort(controller.signal, () => ran.push(number));
    expect(ran).toEqual([]);
    controller.abort();
    controller.abort();
    expect(ran).toEqual([1, 2, 3]);
  });

  it('runs a function at once if the signal was aborted before', () => {
    let ran = 0;
    onAbort(AbortSignal.abort(), () => {
      ran += 1;
    });
    expect(ran).toBe(1);
  });

  it('never runs a function that was cancelled or has no signal', () => {
    const controller = new AbortController();
    let ran = 0;
    const run = () => {
      ran += 1;
    };
    onAbort(controller.signal, run)();
    onAbort(undefined, run)();
    controller.abort();
    expect(ran).toBe(0);
  });

  it('lets one function wait twice, and cancels only one of the two', () => {
    const controller = new AbortController();
    let ran = 0;
    const run = () => {
      ran += 1;
    };
    const cancel = onAbort(controller.signal, run);
    onAbort(controller.signal, run);
    cancel();
    cancel();
    controller.abort();
    expect(ran).toBe(1);
  });

  it('has one listener for any number of functions, and none when all are cancelled', () => {
    const { signal } = new AbortController();
    const listeners = () => getEventListeners(signal, 'abort').length;
    const cancels = Array.from({ length: 20 }, () => onAbort(signal, () => undefined));
    expect(listeners()).toBe(1);
    for (const cancel of cancels) cancel();
    expect(listeners()).toBe(0);
    onAbort(signal, () => undefined);
    expect(listeners()).toBe(1);
  });
});

describe('limitConcurrency', () => {
  it('runs at most so many tasks at once, in their order, and goes on after a failure', async () => {
    const limited = limitConcurrency(2);
    const ends: (() => void)[] = [];
    const begun: number[] = [];
    const task = (n: number) =>
      limited(() => {
        begun.push(n);
        return new Promise<void>((resolve, reject) =>
          ends.push(n === 0 ? () => reject(new Error('no')) : resolve),
        );
      });
    const all = Promise.allSettled([0, 1, 2, 3].map(task));
    await Promise.resolve();
    expect(begun).toEqual([0, 1]);
    for (let at = 0; at < 4; at += 1) {
      ends[at]?.();
      await nextTurn();
    }
    expect(begun).toEqual([0, 1, 2, 3]);
    expect((await all).map(({ status }) => status)).toEqual([
      'rejected',
      'fulfilled',
      'fulfilled',
      'fulfilled',
    ]);
  });
});

describe('shareByKey', () => {
  it('runs work with one key once at a time; after its end, also by an error, it runs again', async () => {
    const { work, ends } = createWork();
    const sharing = shareByKey<void>();
    const first = sharing('a', work);
    const second = sharing('a', work);
    const other = sharing('b', work);
    expect(ends).toHaveLength(2);
    ends[0]?.reject(new Error('no'));
    ends[1]?.resolve();
    await expect(first).rejects.toThrow('no');
    await expect(second).rejects.toThrow('no');
    await other;
    void sharing('a', work);
    expect(ends).toHaveLength(3);
  });
});
