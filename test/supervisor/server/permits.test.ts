import { describe, expect, test } from 'vitest';
import { createActor } from 'xstate';
import type { StartPurpose } from '../../../src/machines/permit.js';
import { Permits, StartTicket } from '../../../src/supervisor/server/permits.js';
import { permitLogic } from '../../../src/supervisor/server/shared-machines.js';
import { settled } from '../world.js';

/** Asks n times; who was granted, in order. */
function crowd(permits: Permits, count: number) {
  const granted: number[] = [];
  const giveBack = Array.from({ length: count }, (_, who) => permits.ask(() => granted.push(who)));
  return { granted, giveBack };
}

test('a start that waits for npm gives its permit back, once', async () => {
  const permits = new Permits(1);
  const [first, second, third] = [
    new StartTicket(permits),
    new StartTicket(permits),
    new StartTicket(permits),
  ];
  const granted: string[] = [];
  const end = first.askAfter(Promise.resolve(), () => granted.push('first'));
  second.askAfter(Promise.resolve(), () => granted.push('second'));
  third.askAfter(Promise.resolve(), () => granted.push('third'));
  await settled();
  expect(granted).toEqual(['first']);
  first.giveBack();
  expect(granted).toEqual(['first', 'second']);
  end();
  expect(granted).toEqual(['first', 'second']);
});

describe('permits', () => {
  test('P11: are at most n at once, first come, first served', () => {
    const permits = new Permits(2);
    const { granted, giveBack } = crowd(permits, 5);
    expect([granted, permits.waiting]).toEqual([[0, 1], 3]);
    giveBack[1]?.();
    expect(granted).toEqual([0, 1, 2]);
    giveBack[0]?.();
    expect([granted, permits.waiting]).toEqual([[0, 1, 2, 3], 1]);
  });

  test('are freed once, also when given back twice', () => {
    const permits = new Permits(1);
    const { granted, giveBack } = crowd(permits, 3);
    giveBack[0]?.();
    giveBack[0]?.();
    expect(granted).toEqual([0, 1]);
  });

  test("that are withdrawn in the queue take no other request's place", () => {
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

  test('are freed when the start ends before `ask` returns', () => {
    const permits = new Permits(1);
    const giveBack = permits.ask((back) => back());
    expect(crowd(permits, 1).granted).toEqual([0]);
    giveBack();
    expect(crowd(permits, 1).granted).toEqual([]);
  });
});

describe('permits for a discovery', () => {
  /** Asks once for each; who was granted, in order. */
  function ask(permits: Permits, purposes: Record<string, StartPurpose>) {
    const granted: string[] = [];
    const giveBack = Object.fromEntries(
      Object.keys(purposes).map((who) => [
        who,
        permits.ask(
          () => granted.push(who),
          () => purposes[who]!,
        ),
      ]),
    );
    return { granted, giveBack };
  }

  test('P11: are granted after starts for use; each kind is first come, first served', () => {
    const permits = new Permits(1);
    const { granted, giveBack } = ask(permits, {
      first: 'use',
      found: 'discovery',
      found2: 'discovery',
      called: 'use',
      called2: 'use',
    });
    for (const who of ['first', 'called', 'called2', 'found', 'found2']) giveBack[who]?.();
    expect([granted, permits.waiting]).toEqual([['first', 'called', 'called2', 'found', 'found2'], 0]);
  });

  test('never include the last one of several', () => {
    const permits = new Permits(3);
    const found = ask(permits, { a: 'discovery', b: 'discovery', c: 'discovery', d: 'discovery' });
    expect(found.granted).toEqual(['a', 'b']);
    const called = ask(permits, { e: 'use', f: 'use' });
    expect(called.granted).toEqual(['e']);
    called.giveBack.e?.();
    expect([found.granted, called.granted]).toEqual([
      ['a', 'b'],
      ['e', 'f'],
    ]);
    found.giveBack.a?.();
    expect(found.granted).toEqual(['a', 'b', 'c']);
    expect(ask(new Permits(1), { only: 'discovery' }).granted).toEqual(['only']);
  });

  test('include the last one after it became a start for use, before later requests', () => {
    const permits = new Permits(2);
    const purposes: Record<string, StartPurpose> = { a: 'discovery', b: 'discovery', c: 'discovery' };
    const { granted, giveBack } = ask(permits, purposes);
    expect(granted).toEqual(['a']);
    purposes.c = 'use';
    permits.reconsider();
    expect(granted).toEqual(['a', 'c']);
    const later = ask(permits, { d: 'use' });
    purposes.b = 'use';
    permits.reconsider();
    giveBack.c?.();
    expect([granted, later.granted]).toEqual([['a', 'c', 'b'], []]);
  });

  test('count as discovery until given back, also when a call waits for the server since', () => {
    const permits = new Permits(2);
    const purposes: Record<string, StartPurpose> = { a: 'discovery', b: 'discovery' };
    const { granted } = ask(permits, purposes);
    purposes.a = 'use';
    permits.reconsider();
    expect([granted, ask(permits, { called: 'use' }).granted]).toEqual([['a'], ['called']]);
  });
});

describe('a permit actor', () => {
  const start = (permits: Permits, after: Promise<unknown>) => {
    const permit = (granted: () => void) => permits.askAfter(after, granted);
    return createActor(permitLogic, { input: { name: 'srv', host: { permit } } }).start();
  };

  test('I1: asks for its permit after the predecessor is gone', async () => {
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

  test('gives its permit back when it is stopped: granted, queued or not yet asked for', async () => {
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
