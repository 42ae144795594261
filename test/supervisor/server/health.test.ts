import { describe, expect, test } from 'vitest';
import { Health } from '../../../src/supervisor/server/health.js';
import { VirtualClock } from '../../../src/testing/index.js';
import { FakeLink } from '../fake-link.js';
import { Caller, request, settled, spec } from '../world.js';

function stage(ping = { intervalMs: 1000, timeoutMs: 300 }, isRemote = false) {
  const clock = new VirtualClock();
  const state = { answers: true, pings: 0, hung: [] as string[] };
  const on = { opened: () => {}, notification: () => {}, ended: () => {} };
  const link = new FakeLink(spec(), 1, on, clock, {
    ping: () => {
      state.pings += 1;
      if (state.answers) return Promise.resolve();
      return new Promise((_, reject) =>
        clock.setTimeout(() => reject(new Error('no answer to ping')), ping.timeoutMs),
      );
    },
  });
  link.opens();
  const health = new Health({ link, clock, ping, isRemote, hung: (message) => state.hung.push(message) });
  const passes = async (ms: number) => {
    for (let done = 0; done < ms; done += 50) {
      clock.advance(50);
      await settled();
    }
  };
  return { clock, state, link, health, passes };
}

describe('the health of a server', () => {
  test('one that answers is asked again and again', async () => {
    const { state, passes } = stage();
    await passes(3500);
    expect([state.pings, state.hung]).toEqual([3, []]);
  });

  test('P8: one that is silent and has nothing to do hangs, and is asked no more', async () => {
    const { state, passes, clock } = stage();
    state.answers = false;
    await passes(1250);
    expect(state.hung).toEqual([]);
    await passes(100);
    expect(state.hung).toEqual(['no answer to ping']);
    await passes(5000);
    expect([state.pings, clock.pending]).toEqual([1, 0]);
  });

  test('P8: one that is silent while it has a call may be busy; when the call is over it has no excuse', async () => {
    const { state, link, passes } = stage();
    state.answers = false;
    link.session.send(request(), new Caller());
    await passes(4000);
    expect([state.pings, state.hung]).toEqual([3, []]);
    link.answers();
    await passes(2700);
    expect(state.hung).toEqual(['no answer to ping']);
  });

  test('U6: a remote one that is silent is gone, calls or not, unless something is heard of it', async () => {
    const { state, link, passes } = stage(undefined, true);
    state.answers = false;
    link.session.send(request(), { settle: () => {}, progress: () => {} });
    const heard = { jsonrpc: '2.0', method: 'notifications/message', params: {} };
    await passes(1100);
    link.session.deliverParsed(heard);
    await passes(1000);
    expect([state.pings, state.hung]).toEqual([1, []]);
    // a call more is no sign of life of the server
    link.session.send(request(), new Caller());
    await passes(1300);
    expect([state.pings, state.hung]).toEqual([2, ['no answer to ping']]);
  });

  test('P8: it is not the server that hangs when we were asleep', async () => {
    const { state, clock } = stage();
    state.answers = false;
    clock.advance(1000);
    // the timer of the ping fires together with everything that was due in the meantime
    clock.setTimeout(() => {}, 10_000);
    await settled();
    clock.advance(10_000);
    await settled();
    expect(state.hung).toEqual([]);
  });

  test('off means off', () => {
    for (const ping of [
      { intervalMs: 0, timeoutMs: 300 },
      { intervalMs: 1000, timeoutMs: 0 },
    ]) {
      expect(stage(ping).clock.pending).toBe(0);
    }
  });

  test('stopped in the middle of a ping it says nothing more', async () => {
    const { state, health, passes, clock } = stage();
    state.answers = false;
    await passes(1100);
    health.stop();
    await passes(2000);
    expect([state.hung, clock.pending]).toEqual([[], 0]);
  });
});
