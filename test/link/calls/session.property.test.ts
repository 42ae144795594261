import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FIRST_CALL_ID } from '../../../src/link/calls/reply-router.js';
import { ServerCrashedError } from '../../../src/shared/call-errors.js';
import { harness } from './harness.js';

/** What can happen to a session, in any order. `pick` chooses among the calls made so far. */
const step = fc.oneof(
  {
    weight: 30,
    arbitrary: fc.record({ do: fc.constant('send' as const), progress: fc.boolean(), ms: fc.nat(3000) }),
  },
  { weight: 20, arbitrary: fc.record({ do: fc.constant('reply' as const), pick: fc.nat() }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('fail' as const), pick: fc.nat() }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('broken' as const), pick: fc.nat() }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('oversized' as const), pick: fc.nat() }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('progress' as const), pick: fc.nat() }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('cancel' as const), pick: fc.nat() }) },
  { weight: 10, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat(1500) }) },
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constant('wire' as const), ready: fc.boolean(), accepts: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('seal' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('exit' as const) }) },
);

describe('a session, for any sequence of events', () => {
  it('settles every call exactly once (I2), writes none twice (I10), and marks exactly those that were sent', () => {
    const reached = new Map<string, number>();
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120, size: 'max' }), (steps) => {
        const world = harness({ maxInFlight: 3, maxWaiting: 5 });
        const { session, wire, clock } = world;
        const calls: ReturnType<typeof world.send>[] = [];
        for (const one of steps) {
          const id = 'pick' in one ? FIRST_CALL_ID + Math.max(0, calls.length + 1 - (one.pick % 8)) : 0;
          if (one.do === 'send') {
            const more = one.progress
              ? { timeoutMs: one.ms, progress: () => undefined }
              : { timeoutMs: one.ms };
            calls.push(world.send('tools/call', { number: calls.length }, more));
          } else if (one.do === 'reply') world.reply(id);
          else if (one.do === 'fail')
            world.deliver({ jsonrpc: '2.0', id, error: { code: 1, message: 'no' } });
          else if (one.do === 'broken') world.deliver({ jsonrpc: '2.0', id, result: 1 });
          else if (one.do === 'oversized') {
            const head = Buffer.from(`{"jsonrpc":"2.0","id":${id},"result":{`);
            session.deliverOversized({ bytes: 1, head, tail: Buffer.alloc(0) });
          } else if (one.do === 'progress') world.progress(id);
          else if (one.do === 'cancel') calls[calls.length - 1 - (one.pick % 8)]?.handle?.cancel();
          else if (one.do === 'wait') clock.advance(one.ms);
          else if (one.do === 'wire') {
            Object.assign(wire, { ready: one.ready, accepts: one.accepts });
            session.resume();
          } else if (one.do === 'seal') session.seal();
          else session.close((sent) => new ServerCrashedError('gone', { sent }));
          if (calls.some(({ outcomes }) => outcomes.length > 1)) throw new Error('settled twice');
          if (session.inFlight > 3 || session.waiting > 5) throw new Error('over a cap');
        }
        // every accepted call that nothing else ended is ended by its hard total
        clock.advance(10_000);
        const written = world.requests().map(({ params }) => params?.number);
        expect(new Set(written).size).toBe(written.length);
        calls.forEach(({ outcomes }, number) => {
          expect(outcomes).toHaveLength(1);
          const [outcome] = outcomes;
          const wasWritten = written.includes(number);
          if (outcome?.ok === false) {
            expect(outcome.error.sent).toBe(wasWritten);
            if (wasWritten) expect(outcome.error.retryable).toBe(false);
            reached.set(outcome.error.type, (reached.get(outcome.error.type) ?? 0) + 1);
          } else {
            expect(wasWritten).toBe(true);
            reached.set('ok', (reached.get('ok') ?? 0) + 1);
          }
        });
        expect(session).toMatchObject({ inFlight: 0, waiting: 0 });
        expect(world.faults).toEqual([]);
      }),
      { numRuns: 300, seed: 20_261_116 },
    );
    // the walk is worth something only if it got everywhere
    for (const type of [
      'ok',
      'ServerCrashedError',
      'ServerUnavailableError',
      'MCPTimeoutError',
      'MCPProtocolError',
      'ResultTooLargeError',
      'CancelledError',
      'OverloadedError',
    ]) {
      expect(reached.get(type) ?? 0, type).toBeGreaterThan(20);
    }
  });
});
