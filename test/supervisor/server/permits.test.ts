import { describe, expect, test } from 'vitest';
import { createActor } from 'xstate';
import { Permits } from '../../../src/supervisor/server/permits.js';
import { permitLogic } from '../../../src/supervisor/server/shared-machines.js';
import { settled } from '../world.js';

/** Asks n times; who was granted, in order. */
function crowd(permits: Permits, count: number) {
  const granted: number[] = [];
  const giveBack = Array.from({ length: count }, (_, who) => permits.ask(() => granted.push(who)));
  return { granted, giveBack };
}

describe('permits', () => {
  test('P11: never more than n at once, first come, first served', () => {
    const permits = new Permits(2);
    const { granted, giveBack } = crowd(permits, 5);
    expect([granted, permits.waiting]).toEqual([[0, 1], 3]);
    giveBack[1]?.();
    expect(granted).toEqual([0, 1, 2]);
    giveBack[0]?.();
    expect([granted, permits.waiting]).toEqual([[0, 1, 2, 3], 1]);
  });

  test('giving back twice is harmless', () => {
    const permits = new Permits(1);
    const { granted, giveBack } = crowd(permits, 3);
    giveBack[0]?.();
    giveBack[0]?.();
    expect(granted).toEqual([0, 1]);
  });

  test('who stops asking loses the place, and nobody else does', () => {
    const permits = new Permits(1);
    const { granted, giveBack } = crowd(permits, 4);
    giveBack[2]?.();
    giveBack[2]?.();
    expect(permits.waiting).toBe(2);
    giveBack[0]?.();
    giveBack[1]?.();
    expect(granted).toEqual([0, 1, 3]);
    giveBack[3]?.();
    expect(permits.waiting).toBe(0);
    expect(crowd(permits, 2).granted).toEqual([0]);
  });

  test('one that is over before the asking has returned gives back all the same', () => {
    const permits = new Permits(1);
    const giveBack = permits.ask((back) => back());
    expect(crowd(permits, 1).granted).toEqual([0]);
    giveBack();
    expect(crowd(permits, 1).granted).toEqual([]);
  });
});

describe('a permit as an actor', () => {
  const start = (permits: Permits, after: Promise<unknown>) => {
    const permit = (granted: () => void) => permits.askAfter(after, granted);
    return createActor(permitLogic, { input: { name: 'srv', host: { permit } } }).start();
  };

  test('I1: is not asked for before the predecessor is gone', async () => {
    const permits = new Permits(1);
    let gone = () => {};
    start(
      permits,
      new Promise<void>((resolve) => {
        gone = resolve;
      }),
    );
    await settled();
    const probe = crowd(permits, 1);
    expect(probe.granted).toEqual([0]);
    gone();
    await settled();
    expect(permits.waiting).toBe(1);
    probe.giveBack[0]?.();
    expect(crowd(permits, 1).granted).toEqual([]);
  });

  test('is given back when the actor is stopped, whether granted, queued or not yet asked for', async () => {
    const permits = new Permits(1);
    const granted = start(permits, Promise.resolve());
    await settled();
    const queued = start(permits, Promise.resolve());
    await settled();
    const early = start(permits, Promise.resolve());
    early.stop();
    await settled();
    expect(permits.waiting).toBe(1);
    queued.stop();
    expect(permits.waiting).toBe(0);
    granted.stop();
    expect(crowd(permits, 2).granted).toEqual([0]);
  });
});
