import { describe, expect, test } from 'vitest';
import type { FleetHistory } from '../../../src/fleet/history.js';
import { History, type Totals } from '../../../src/supervisor/events/history.js';
import { PackedMinutes } from '../../../src/supervisor/events/packed-minutes.js';
import { VirtualClock } from '../../../src/testing/index.js';

const MINUTE = 60_000;
const MIB = 2 ** 20;
const SERVER = { key: 'a', name: 'a', agent: null };

/** A herd whose totals a test changes, and its history. */
function recorded(names = ['a']) {
  const clock = new VirtualClock();
  const totals = names.map(
    (key): Totals => ({ key, calls: 0, failures: 0, restarts: 0, rssBytes: 10 * MIB }),
  );
  let measured = 0;
  const history = new History(clock, () => {
    measured += 1;
    return totals.map((one) => ({ ...one }));
  });
  history.begin();
  const read = (minutes?: number): FleetHistory => history.read([SERVER], minutes);
  return { clock, history, totals, one: totals[0]!, read, measured: () => measured };
}

describe('the history of a herd', () => {
  test('each minute has what was added to the counts in it, and the last is the present one', () => {
    const { clock, one, read } = recorded();
    one.calls = 3;
    clock.advance(MINUTE);
    one.calls = 5;
    one.failures = 1;
    one.restarts = 2;
    one.rssBytes = 20 * MIB;
    clock.advance(MINUTE);
    one.calls = 6;
    expect(read(4)).toEqual({
      since: '1970-01-01T00:00:00.000Z',
      from: '1969-12-31T23:59:00.000Z',
      minute_ms: MINUTE,
      servers: [
        {
          name: 'a',
          agent: null,
          calls: [0, 3, 2, 1],
          failures: [0, 0, 1, 0],
          restarts: [0, 0, 2, 0],
          rss_bytes: [null, 10 * MIB, 20 * MIB, 20 * MIB],
        },
      ],
    });
  });

  test('every array has as many elements as minutes were asked for, at most 1440', () => {
    const { clock, read } = recorded();
    clock.advance(3 * MINUTE);
    for (const [asked, length] of [
      [undefined, 1440],
      [1, 1],
      [0, 1],
      [99_999, 1440],
    ] as const) {
      const { calls, failures, restarts, rss_bytes } = read(asked).servers[0]!;
      expect([calls, failures, restarts, rss_bytes].map((one) => one.length)).toEqual(
        [1, 2, 3, 4].map(() => length),
      );
    }
  });

  test('a day later the first minutes are gone, and nothing else is lost', () => {
    const { clock, one, read } = recorded();
    one.calls = 7;
    clock.advance(MINUTE);
    for (let minute = 0; minute < 1439; minute += 1) {
      one.calls += 1 + (minute % 300);
      clock.advance(MINUTE);
    }
    const { calls } = read().servers[0]!;
    expect(calls.slice(0, -1)).toEqual(Array.from({ length: 1439 }, (_, minute) => 1 + (minute % 300)));
    clock.advance(90 * MINUTE);
    expect(read().servers[0]!.calls[0]).toBe(1 + (90 % 300));
    expect(
      read()
        .servers[0]!.calls.slice(-90)
        .every((count) => count === 0),
    ).toBe(true);
  });

  test('a server whose entry was changed counts from 0 again', () => {
    const { clock, one, read } = recorded();
    one.calls = 9;
    clock.advance(MINUTE);
    one.calls = 2;
    clock.advance(MINUTE);
    expect(read(3).servers[0]!.calls).toEqual([9, 2, 0]);
  });

  test('minutes in which the machine slept are unknown', () => {
    const clock = new VirtualClock();
    let asleepMs = 0;
    const dated = {
      now: () => clock.now(),
      date: () => clock.now() + asleepMs,
      setTimeout: (fire: () => void, ms: number) => clock.setTimeout(fire, ms),
      clearTimeout: (timer: unknown) => clock.clearTimeout(timer as number),
    };
    const one: Totals = { key: 'a', calls: 0, failures: 0, restarts: 0, rssBytes: MIB };
    const history = new History(dated, () => [{ ...one }]);
    history.begin();
    clock.advance(MINUTE);
    one.calls = 4;
    asleepMs = 3 * MINUTE;
    clock.advance(MINUTE);
    one.calls = 5;
    clock.advance(MINUTE);
    const { calls, rss_bytes } = history.read([SERVER], 7).servers[0]!;
    expect(calls).toEqual([0, 4, 0, 0, 0, 1, 0]);
    expect(rss_bytes).toEqual([MIB, MIB, null, null, null, MIB, MIB]);
    asleepMs += 2 * 1440 * MINUTE;
    clock.advance(2 * MINUTE);
    expect(history.read([SERVER]).servers[0]!.calls.every((count) => count === 0)).toBe(true);
  });

  test('memory that is not known is null, and a server that does not run has 0', () => {
    const { clock, one, read } = recorded();
    one.rssBytes = null;
    clock.advance(MINUTE);
    one.rssBytes = 0;
    clock.advance(MINUTE);
    one.rssBytes = 3 * MIB + 1;
    expect(read(3).servers[0]!.rss_bytes).toEqual([null, 0, 3 * MIB]);
  });

  test('the system is measured once a minute, and once for each question', () => {
    const { clock, read, measured } = recorded();
    clock.advance(10 * MINUTE);
    expect(measured()).toBe(10);
    read();
    expect(measured()).toBe(11);
  });

  test('the timer ends with it, and a forgotten server has no history', () => {
    const { clock, history, one, read } = recorded();
    one.calls = 1;
    clock.advance(MINUTE);
    history.forget('a');
    expect(read(2).servers[0]!.calls).toEqual([0, 1]);
    history.end();
    expect(clock.pending).toBe(0);
  });

  test('50 busy servers with restless memory stay under 320 kB for a day, quiet ones under 15 kB', () => {
    const names = Array.from({ length: 50 }, (_, index) => `s${index}`);
    const { clock, history, totals } = recorded(names);
    clock.advance(1500 * MINUTE);
    const quiet = history.bytes;
    // a working day: each server is called in a third of the minutes, and its memory moves with the calls
    for (let minute = 0; minute < 1500; minute += 1) {
      for (const [index, one] of totals.entries()) {
        if ((minute * 13 + index * 7) % 3 !== 0) continue;
        one.calls += 1 + (minute % 40);
        one.rssBytes = 80 * MIB + ((minute * 7919 + index * 31) % 8) * MIB;
      }
      clock.advance(MINUTE);
    }
    const usual = history.bytes;
    for (let minute = 0; minute < 1500; minute += 1) {
      for (const [index, one] of totals.entries()) {
        one.calls += 100 + ((minute * 37 + index * 11) % 400);
        one.failures += minute % 20 === 0 ? 1 : 0;
        one.rssBytes = 80 * MIB + ((minute * 7919 + index * 31) % 20) * MIB;
      }
      clock.advance(MINUTE);
    }
    const busy = history.bytes;
    expect(usual).toBeLessThan(200_000);
    expect(quiet).toBeLessThan(15_000);
    expect(busy).toBeLessThan(320_000);
  });
});

describe('packed minutes', () => {
  test('any numbers come back as they were', () => {
    const minutes = new PackedMinutes();
    const put = Array.from({ length: 500 }, (_, at) => ({
      calls: at % 3 === 0 ? 0 : at ** 3,
      failures: at % 7 === 0 ? at : 0,
      restarts: at % 50 === 0 ? 1 : 0,
      rss: at % 11 === 0 ? null : at % 13 === 0 ? 0 : Math.floor(Math.abs(Math.sin(at)) * 2 ** 33),
    }));
    for (const [at, minute] of put.entries()) minutes.append(at, minute);
    const back: unknown[] = [];
    minutes.read(0, (at, minute) => {
      back[at] = minute;
    });
    expect(back).toEqual(put);
    const late: number[] = [];
    minutes.read(470, (at) => late.push(at));
    expect(late).toEqual(Array.from({ length: 30 }, (_, index) => 470 + index));
  });
});
