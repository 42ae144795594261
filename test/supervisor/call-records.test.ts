import { describe, expect, it } from 'vitest';
import type { CallEvent } from '../../src/ipc/fleet.js';
import type { EndedCall } from '../../src/supervisor/call-event.js';
import { type CallRecordOptions, CallRecords } from '../../src/supervisor/call-records.js';
import { VirtualClock } from '../../src/testing/index.js';

const tick = () => new Promise(setImmediate);

function stage(options: Partial<CallRecordOptions> = {}) {
  const written: string[] = [];
  const told: string[] = [];
  const faults: string[] = [];
  const records = new CallRecords({
    clock: new VirtualClock(),
    redact: (value) => value,
    audit: (record) => written.push((JSON.parse(record) as CallEvent).server),
    warn: (text) => faults.push(text),
    ...options,
  });
  const add = (server: string, outcome: EndedCall['outcome'] = { ok: true, result: {} }) => {
    const request = { method: 'tools/call', params: { name: 't' } };
    const call = { request, outcome, elapsedMs: 1, incarnation: 1 };
    records.add(server, call, (describe) => told.push(describe().server));
  };
  return { records, add, written, told, faults };
}

const BROKEN: EndedCall['outcome'] = {
  ok: true,
  get result(): never {
    throw new Error('it says what nobody may see');
  },
};

describe('the records of calls', () => {
  it('are written and told in their order, each once, when the turn in which they ended is over', async () => {
    const { add, written, told } = stage();
    add('a');
    add('b');
    expect([written, told]).toEqual([[], []]);
    await tick();
    add('c');
    await tick();
    expect([written, told]).toEqual([
      ['a', 'b', 'c'],
      ['a', 'b', 'c'],
    ]);
  });

  it('are there at once for whoever ends it all, and not once more after it', async () => {
    const { records, add, written, told } = stage();
    add('a');
    records.flush();
    add('b');
    expect(written).toEqual(['a']);
    await tick();
    records.flush();
    expect([written, told]).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
  });

  it('one that cannot be made costs no other, nor the process', async () => {
    const { add, written, told, faults } = stage();
    add('a');
    add('broken', BROKEN);
    add('b');
    await tick();
    expect([written, told]).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
    expect(faults).toEqual(['a fault in toolherd itself: a call of broken was not recorded: Error']);
  });
});
