import { describe, expect, it } from 'vitest';
import type { Inspection, JournalEntry } from '../../../src/fleet/fleet.js';
import { keeperState, lastStep, timelineOf } from '../../../src/page/server/timeline.js';

const step = (more: Partial<JournalEntry>): JournalEntry => ({
  at: '2026-01-01T00:00:00Z',
  incarnation: 1,
  chart: 'server',
  from: 'a',
  to: 'b',
  event: 'e',
  cause: 's: exited with code 7',
  ...more,
});

const journal = [
  step({ kind: 'failed', earlier: true }),
  step({ kind: 'started' }),
  step({ from: 'b', to: 'c' }),
  step({ kind: 'noted', cause: 'installed x', chart: 'keeper' }),
  step({ kind: 'quarantined', chart: 'keeper', from: 'waiting', to: 'quarantined' }),
];
const inspection = { server: 's', status: { transport: 'stdio' }, journal } as unknown as Inspection;

describe('the time line of a server', () => {
  it('has the sentences of why, the newest first, each with its tone', () => {
    expect(timelineOf(inspection, false)).toEqual([
      {
        at: journal[4]!.at,
        text: 'toolherd quarantined it: it failed too often, or a restart cannot help',
        tone: 'bad',
        earlier: false,
      },
      { at: journal[3]!.at, text: 'toolherd: installed x', tone: 'plain', earlier: false },
      { at: journal[1]!.at, text: 'process 1 is started', tone: 'plain', earlier: false },
      {
        at: journal[0]!.at,
        text: 'earlier process 1 failed: exited with code 7',
        tone: 'bad',
        earlier: true,
      },
    ]);
  });

  it('has every step of the statecharts on demand', () => {
    expect(timelineOf(inspection, true)).toHaveLength(journal.length);
  });

  it('the last step of a chart is one of this daemon, and no note', () => {
    expect(lastStep(journal, 'keeper')?.to).toBe('quarantined');
    expect(lastStep(journal, 'server')?.to).toBe('c');
    expect(lastStep([journal[0]!], 'server')).toBeUndefined();
  });

  it('the state of the upper chart of a transient server is that of its journal', () => {
    const snapshot = { server: 'created', keeper: 'idle' };
    const steps = [step({ chart: 'keeper', from: 'open.refilling', to: 'open.stocked' })];
    const of = (lifecycle: string) =>
      keeperState({ status: { lifecycle }, snapshot, journal: steps } as unknown as Inspection);
    expect([of('transient'), of('singleton')]).toEqual(['open.stocked', 'idle']);
  });
});
