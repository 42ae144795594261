import { describe, expect, test } from 'vitest';
import { Health } from '../../../src/supervisor/server/health.js';
import { VirtualClock } from '../../../src/testing/index.js';
import { FakeLink } from '../fake-link.js';
import { Caller, request, settled, spec } from '../world.js';

function checkHealth(ping = { intervalMs: 1000, timeoutMs: 300 }, isRemote = false) {
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

describe('the health check', () => {
  test('pings a server that answers once per interval', async () => {
    const { state, passes } = checkHealth();
    await passes(3500);
    expect([state.pings, state.hung]).toEqual([3, []]);
  });

  test('P8: reports a silent server without calls as hung, once', async () => {
    const { state, passes, clock } = checkHealth();
    state.answers = false;
    await passes(1250);
    expect(state.hung).toEqual([]);
    await passes(100);
    expect(state.hung).toEqual(['no answer to ping']);
    await passes(5000);
    expect([state.pings, clock.pending]).toEqual([1, 0]);
  });

  test('P8: spares a silent server with a call in flight, and reports it after the call', async () => {
    const { state, link, passes } = checkHealth();
    state.answers = false;
    link.session.send(request(), new Caller());
    await passes(4000);
    expect([state.pings, state.hung]).toEqual([3, []]);
    link.answers();
    await passes(2700);
    expect(state.hung).toEqual(['no answer to ping']);
  });

  test('U6: reports a silent remote server, with or without calls, unless a message arrived from it', async () => {
    const { state, link, passes } = checkHealth(undefined, true);
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

  test('P8: does not report a server after this machine slept', async () => {
    const { state, clock } = checkHealth();
    state.answers = false;
    clock.advance(1000);
    // the timer of the ping fires together with everything that was due in the meantime
    clock.setTimeout(() => {}, 10_000);
    await settled();
    clock.advance(10_000);
    await settled();
    expect(state.hung).toEqual([]);
  });

  test('does nothing when the interval or the timeout is 0', () => {
    for (const ping of [
      { intervalMs: 0, timeoutMs: 300 },
      { intervalMs: 1000, timeoutMs: 0 },
    ]) {
      expect(checkHealth(ping).clock.pending).toBe(0);
    }
  });

  test('that is stopped during a ping reports nothing', async () => {
    const { state, health, passes, clock } = checkHealth();
    state.answers = false;
    await passes(1100);
    health.stop();
    await passes(2000);
    expect([state.hung, clock.pending]).toEqual([[], 0]);
  });
});
