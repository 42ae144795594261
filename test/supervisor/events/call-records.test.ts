import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { CallEvent, Caller } from '../../../src/fleet/fleet.js';
import { systemClock } from '../../../src/shared/clock.js';
import { CallRecords } from '../../../src/supervisor/events/call-records.js';
import { until } from '../../support/until.js';

const ENDED = {
  request: { method: 'tools/call', params: { name: 't', arguments: {} }, caller: 'c1' },
  outcome: { ok: true as const, result: {} },
  elapsedMs: 1,
  incarnation: 1,
};

function createRecords({ isHeard = false, isAudited = true } = {}) {
  const written: CallEvent[] = [];
  const told: CallEvent[] = [];
  const who: Caller = { via: 'socket', client: { name: 'early', version: null }, agent: null };
  const faults: string[] = [];
  const redacting = { redact: (text: string) => text };
  const time = { now: systemClock.now() };
  const records = new CallRecords(
    {
      warn: (text) => void faults.push(text),
      clock: { ...systemClock, now: () => time.now },
      redact: <T>(value: T) => redacting.redact(String(value)) as T,
      callerOf: () => who,
      ...(isAudited && { audit: (text: string) => void written.push(JSON.parse(text)) }),
    },
    { hasListeners: () => isHeard, emit: (_server, _slot, describe) => void told.push(describe()) },
  );
  return { records, written, told, who, faults, redacting, time };
}

describe('the record of a call', () => {
  it('is not written in the turn in which the call ends, but shortly after', async () => {
    const { records, written } = createRecords();
    records.add('s', 's', ENDED);
    expect(written).toEqual([]);
    await until(() => written.length === 1);
    expect(written[0]).toMatchObject({ server: 's', tool: 't', ok: true });
  });

  it('reaches listeners in the next turn', async () => {
    const { records, told } = createRecords({ isHeard: true, isAudited: false });
    records.add('s', 's', ENDED);
    expect(told).toEqual([]);
    await setImmediate();
    expect(told).toMatchObject([{ server: 's', tool: 't' }]);
  });

  it('is written in the next turn when a hundred calls have ended', async () => {
    const { records, written } = createRecords();
    for (let count = 0; count < 100; count += 1) records.add('s', 's', ENDED);
    await setImmediate();
    expect(written).toHaveLength(100);
  });

  it('is written at once by flush, and only once', async () => {
    const { records, written } = createRecords();
    records.add('s', 's', ENDED);
    records.flush();
    expect(written).toHaveLength(1);
    records.flush();
    records.add('s', 's', ENDED);
    await until(() => written.length === 2);
  });

  it("has the caller's name at the time of the call", () => {
    const { records, written, who } = createRecords();
    records.add('s', 's', ENDED);
    who.client = { name: 'late', version: null };
    records.flush();
    expect(written[0]?.client?.name).toBe('early');
  });

  it('has its own caller, also when no caller gave a client name', () => {
    const { records, written, who } = createRecords();
    who.client = null;
    for (const caller of ['c1', 'c2', 'c2', 'c1'])
      records.add('s', 's', { ...ENDED, request: { ...ENDED.request, caller } });
    records.flush();
    expect(written.map(({ caller }) => caller)).toEqual(['c1', 'c2', 'c2', 'c1']);
  });

  it('has its own caller, also when the record before it could not be written', () => {
    const { records, written, redacting } = createRecords();
    const of = (caller: string) => ({ ...ENDED, request: { ...ENDED.request, caller } });
    records.add('s', 's', of('c1'));
    records.flush();
    redacting.redact = (text) => {
      if (text === 'c2') throw new Error('it cannot be redacted');
      return text;
    };
    records.add('s', 's', of('c2'));
    records.flush();
    redacting.redact = (text) => text;
    records.add('s', 's', of('c2'));
    records.flush();
    expect(written.map(({ caller }) => caller)).toEqual(['c1', 'c2']);
  });

  it('has a caller name that became a secret for one more second at most', () => {
    const { records, written, redacting, time } = createRecords();
    records.add('s', 's', ENDED);
    records.flush();
    redacting.redact = (text) => text.replaceAll('early', '[REDACTED]');
    time.now += 1000;
    records.add('s', 's', ENDED);
    records.flush();
    expect(written.map(({ client }) => client?.name)).toEqual(['early', '[REDACTED]']);
  });

  it('that cannot be built is logged as a fault; other records are written', () => {
    const { records, written, faults } = createRecords();
    const broken = {
      ok: true as const,
      get result(): never {
        throw new Error('it has a secret');
      },
    };
    records.add('a', 'a', ENDED);
    records.add('broken', 'broken', { ...ENDED, outcome: broken });
    const unshaped = {
      get deep(): never {
        throw new Error('nor this');
      },
    };
    const request = { method: 'tools/call', params: { name: 't', arguments: unshaped } };
    records.add('odd', 'odd', { ...ENDED, request });
    records.add('b', 'b', ENDED);
    records.flush();
    expect(written.map(({ server }) => server)).toEqual(['a', 'b']);
    expect(faults).toEqual(
      ['broken', 'odd'].map(
        (name) => `a fault in toolherd itself: a call of ${name} was not recorded: Error`,
      ),
    );
  });

  it('is not built without an audit file and a listener', async () => {
    const { records, told, written } = createRecords({ isAudited: false });
    records.add('s', 's', ENDED);
    records.flush();
    expect([told, written]).toEqual([[], []]);
  });
});
