import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StopSequence, type StopSequenceEnd, type StopStep } from '../../src/processes/stop-sequence.js';
import { FakeClock } from '../link/fake-clock.js';

/** A process group that exits at the given step, or (undefined) never. */
function climb(leaderGoesAt: StopStep | undefined, helpersGoAt: StopStep | undefined = leaderGoesAt) {
  const clock = new FakeClock();
  const start = clock.now();
  const did: string[] = [];
  const ends: (StopSequenceEnd & { at: number })[] = [];
  let leader = true;
  let helpers = true;
  const reach = (rung: StopStep) => {
    did.push(`${rung}@${clock.now() - start}`);
    if (helpersGoAt === rung) helpers = false;
    if (leaderGoesAt !== rung || !leader) return;
    leader = false;
    clock.setTimeout(() => ladder.leaderExited(), 1);
  };
  const ladder: StopSequence = new StopSequence(
    {
      clock,
      closeInput: () => reach('close'),
      signal: (signal) => reach(signal === 'SIGTERM' ? 'term' : 'kill'),
      groupRuns: () => leader || helpers,
    },
    { closeMs: 2000, termMs: 5000 },
    (end) => ends.push({ ...end, at: clock.now() - start }),
  );
  const crash = () => {
    leader = false;
    ladder.leaderExited();
  };
  return { clock, ladder, did, ends, crash };
}

describe('the stop sequence', () => {
  it('ends with the input when that is enough', () => {
    const { clock, ladder, did, ends } = climb('close');
    ladder.begin('close');
    clock.advance(10_000);
    expect(did).toEqual(['close@0']);
    expect(ends).toEqual([{ killed: false, gone: true, at: 1 }]);
  });

  it('sends TERM after the close time', () => {
    const { clock, ladder, did, ends } = climb('term');
    ladder.begin('close');
    clock.advance(10_000);
    expect(did).toEqual(['close@0', 'term@2000']);
    expect(ends).toEqual([{ killed: false, gone: true, at: 2001 }]);
  });

  it('kills a group that ignores both, at the end of its grace and not later (P6, I7)', () => {
    const { clock, ladder, did, ends } = climb('kill');
    ladder.begin('close');
    clock.advance(10_000);
    expect(did).toEqual(['close@0', 'term@2000', 'kill@7000']);
    expect(ends).toEqual([{ killed: true, gone: true, at: 7001 }]);
  });

  it('sends TERM to helpers as soon as the leader has exited, and gives them their time (P5)', () => {
    const { clock, ladder, did, ends } = climb('close', 'kill');
    ladder.begin('close');
    clock.advance(10_000);
    expect(did).toEqual(['close@0', 'term@1', 'kill@5001']);
    expect(ends).toMatchObject([{ killed: false, gone: true }]);
  });

  it('is not over while a helper is left', () => {
    const { clock, ladder, ends } = climb('close', 'kill');
    ladder.begin('close');
    clock.advance(5000);
    expect(ends).toEqual([]);
  });

  it('gives the helpers of a crashed leader a quarter of a second (P5)', () => {
    const { clock, did, ends, crash } = climb(undefined, 'kill');
    crash();
    clock.advance(10_000);
    expect(did).toEqual(['close@0', 'term@0', 'kill@250']);
    expect(ends).toMatchObject([{ killed: false, gone: true }]);
  });

  it('skips to a later step at once when ordered, and never goes back', () => {
    const { clock, ladder, did } = climb('kill');
    ladder.begin('term');
    ladder.begin('close');
    clock.advance(10);
    ladder.begin('kill');
    ladder.begin('term');
    clock.advance(10_000);
    expect(did).toEqual(['close@0', 'term@0', 'kill@10']);
  });

  it('reports a process that survives KILL', () => {
    const { clock, ladder, ends } = climb(undefined);
    ladder.begin('kill');
    clock.advance(10_000);
    expect(ends).toEqual([{ killed: true, gone: false, at: 2000 }]);
  });

  it('ends exactly once, in bounded time, for any exits and any orders (I7)', () => {
    const rung = fc.constantFrom<StopStep>('close', 'term', 'kill');
    const order = fc.record({ rung, afterMs: fc.nat(9000) });
    fc.assert(
      fc.property(
        fc.option(rung, { nil: undefined }),
        rung,
        rung,
        fc.array(order),
        (leader, helpers, first, orders) => {
          const { clock, ladder, ends, did } = climb(leader, helpers);
          ladder.begin(first);
          for (const { rung: next, afterMs } of orders) {
            clock.advance(afterMs);
            ladder.begin(next);
          }
          clock.advance(10_000);
          expect(ends).toHaveLength(1);
          expect(ends[0]?.at).toBeLessThanOrEqual(9200);
          expect(clock.pending).toBe(0);
          for (const step of ['close', 'term', 'kill']) {
            expect(did.filter((one) => one.startsWith(step)).length).toBeLessThanOrEqual(1);
          }
        },
      ),
    );
  });
});
