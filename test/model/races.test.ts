import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { KeeperEvent } from '../../src/machines/index.js';
import { type Behaviour, healthy, reports, SimulatedWorld, stateName } from '../../src/testing/index.js';
import { defaults, startKeeper, times } from './setting.js';

/** A world that answers nothing but kill: what else happens is for the scheduler to order. */
const deaf: Behaviour = { kill: [{ afterMs: 200, report: reports.closed(true) }] };

const orders = fc.array(fc.constantFrom<KeeperEvent['type']>('start', 'stop', 'restart', 'reset'), {
  maxLength: 8,
});
const calls = fc.array(fc.constant('call.waiting' as const), { maxLength: 6 });
const lives = fc.array(
  fc.constantFrom(
    reports.opened(),
    reports.opened(),
    reports.opened(),
    reports.discovered(),
    reports.exited(0),
    reports.exited(1),
    reports.failed(),
    reports.hung(),
    reports.closed(),
    reports.closeFailed(),
  ),
  { maxLength: 20 },
);
const pauses = fc.array(fc.constantFrom(1, 600, times.closeTimeoutMs, times.startTimeoutMs), {
  maxLength: 10,
});

describe('layer 3: for any interleaving of orders, calls, reports, permits and timers', () => {
  test('I1 I4 I5 I7 I8: the invariants hold at every step; in a good world start leads to connected, stop to nothing', async () => {
    const world = new SimulatedWorld({ permitsAreFree: false });
    const ends = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), orders, calls, lives, pauses, async (scheduler, ...scripts) => {
        world.reset();
        world.script = () => deaf;
        const keeper = startKeeper(world, { ...defaults, maxRestarts: 3 });
        const state = () => stateName(keeper.getSnapshot().value);
        const check = () => {
          const { context, status } = keeper.getSnapshot();
          if (status !== 'active') throw new Error(`the keeper itself is ${status}`);
          world.check(context.incumbent?.getSnapshot());
        };
        const [givenOrders, givenCalls, givenLives, givenPauses] = scripts;
        const interleave = <T>(steps: readonly T[], act: (step: T) => void) =>
          scheduler.scheduleSequence(
            steps.map((step) => async () => {
              act(step);
              check();
            }),
          );
        interleave(givenOrders, (type) => keeper.send({ type } as KeeperEvent));
        interleave(givenCalls, (type) => keeper.send({ type }));
        interleave(givenLives, (report) => world.say(report));
        interleave(givenLives, () => world.grant());
        interleave(givenPauses, (ms) => world.clock.advance(ms));
        await scheduler.waitIdle();
        ends.set(state(), (ends.get(state()) ?? 0) + 1);

        // The old life runs out its limits; from then on the world is good.
        world.script = () => healthy();
        const pass = (ms: number, inSteps: number) => {
          for (let step = 0; step < inSteps; step += 1) {
            world.grant();
            world.clock.advance(ms / inSteps);
            check();
          }
        };
        pass(times.startTimeoutMs + times.closeTimeoutMs + 1_000, 38);
        keeper.send({ type: 'start' });
        pass(1_000, 5);
        expect(state()).toMatch(/^running\.(up|recalled)$/);
        expect(world.gate).toBe(keeper.getSnapshot().context.incarnation);
        keeper.send({ type: 'stop' });
        pass(times.closeTimeoutMs + 300, 2);
        expect(state()).toBe('stopped');
        expect([world.alive, world.clock.pending, world.permitsHeld]).toEqual([[], 0, 0]);
      }),
      { seed: 20261116, numRuns: 120 },
    );
    expect(ends.size, `ended in ${[...ends.keys()]}`).toBeGreaterThan(6);
  });
});
