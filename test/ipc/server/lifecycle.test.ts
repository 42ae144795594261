import { expect, it } from 'vitest';
import { Lifecycle } from '../../../src/ipc/server/lifecycle.js';

it('a daemon serves, closes with a reason, and is closed once', () => {
  const life = new Lifecycle();
  expect([life.state, life.why]).toEqual([{ name: 'serving' }, null]);
  expect(life.beginClosing({ reason: 'shutdown' })).toBe(true);
  expect(life.state).toEqual({ name: 'closing', why: { reason: 'shutdown' } });
  expect([life.close(), life.close()]).toEqual([true, false]);
  expect(life.state).toEqual({ name: 'closed', why: { reason: 'shutdown' } });
});

it('a replacement overrides a shutdown in any order, and the first successor stays', () => {
  const life = new Lifecycle();
  const first = { reason: 'replaced', successor: 1 } as const;
  const orders = [
    { reason: 'shutdown' },
    first,
    { reason: 'replaced', successor: 2 },
    { reason: 'shutdown' },
  ] as const;
  expect(orders.map((why) => life.beginClosing(why))).toEqual([true, true, false, false]);
  expect(life.state).toEqual({ name: 'closing', why: first });
});
