import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ServerUnavailableError } from '../../../src/shared/call-errors.js';
import { Gate } from '../../../src/supervisor/server/gate.js';
import { VirtualClock } from '../../../src/testing/index.js';
import { FakeLink } from '../fake-link.js';
import { Caller, request, spec } from '../world.js';

type Step =
  | { do: 'call'; timeoutMs: number | undefined }
  | { do: 'cancel'; which: number }
  | { do: 'pass'; ms: number }
  | { do: 'open' | 'seal' | 'die' | 'fail' | 'answer' };

const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('call' as const),
      timeoutMs: fc.constantFrom(undefined, 50, 400),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel' as const), which: fc.nat(30) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(1, 30, 100, 500) }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom('open', 'seal', 'die', 'fail', 'answer') }) },
);

test('I2 I10: a call settles once and is written at most once for any order of events', () => {
  const reached = { waitedThenWritten: 0, expired: 0, crashed: 0, failed: 0, answered: 0, cancelled: 0 };
  fc.assert(
    fc.property(fc.array(steps, { minLength: 10, maxLength: 60, size: 'max' }), (script) => {
      const clock = new VirtualClock();
      const gate = new Gate({ name: 'srv', clock, refusal: () => undefined, wake: () => {} });
      const on = { opened: () => {}, notification: () => {}, ended: () => {} };
      const links: FakeLink[] = [];
      const calls: { caller: Caller; cancel: () => void; waited: boolean }[] = [];
      const act = (step: Step) => {
        const link = links.at(-1);
        if (step.do === 'call') {
          const caller = new Caller();
          const waited = !gate.isOpen;
          const handle = gate.send(request(String(calls.length), step.timeoutMs), caller);
          calls.push({ caller, cancel: () => handle?.cancel(), waited });
        } else if (step.do === 'cancel') calls[step.which % Math.max(1, calls.length)]?.cancel();
        else if (step.do === 'pass') clock.advance(step.ms);
        else if (step.do === 'open' && !link?.isAlive) {
          links.push(new FakeLink(spec({ maxInFlight: 3 }), links.length + 1, on, clock, {}));
          links.at(-1)?.opens();
          gate.open(links.at(-1)!.session);
        } else if (step.do === 'seal') gate.seal();
        else if (step.do === 'die') link?.dies();
        else if (step.do === 'fail') gate.fail(new ServerUnavailableError('srv: was stopped'));
        else if (step.do === 'answer' && link?.isAlive && link.session.inFlight > 0) {
          const { id } = link.calls.at(-1)!;
          link.session.deliver(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, result: {} })));
        }
      };
      for (const step of script) act(step);
      gate.fail(new ServerUnavailableError('srv: was stopped'));
      for (const link of links) link.dies();

      const written = links.flatMap((link) =>
        link.calls.map(({ params }) => (params.arguments as { mark: string }).mark),
      );
      expect(new Set(written).size).toBe(written.length);
      for (const [index, { caller, waited }] of calls.entries()) {
        expect(caller.outcomes.length).toBe(1);
        const [outcome] = caller.outcomes;
        const wasWritten = written.includes(String(index));
        if (outcome?.ok) reached.answered += 1;
        else {
          expect(outcome?.error.sent, 'sent is true exactly for written calls').toBe(wasWritten);
          if (outcome?.error.type === 'MCPTimeoutError') reached.expired += 1;
          if (outcome?.error.type === 'ServerCrashedError') reached.crashed += 1;
          if (outcome?.error.type === 'ServerUnavailableError') reached.failed += 1;
          if (outcome?.error.type === 'CancelledError') reached.cancelled += 1;
        }
        if (waited && wasWritten) reached.waitedThenWritten += 1;
      }
      expect([gate.waiting, clock.pending === 0 || gate.load === 0]).toEqual([0, true]);
    }),
    { seed: 20261116, numRuns: 300 },
  );
  for (const [what, times] of Object.entries(reached)) expect(times, what).toBeGreaterThan(50);
});
