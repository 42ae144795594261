import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RestartPolicy } from '../../src/machines/restart/restart-policy.js';
import { settled } from '../supervisor/world.js';
import { allCommands, Model, Real } from './supervisor-commands.js';

const policies: fc.Arbitrary<RestartPolicy> = fc.record({
  restart: fc.constantFrom('on-failure', 'on-failure', 'always', 'never'),
  maxRestarts: fc.integer({ min: 0, max: 4 }),
  restartWindowMs: fc.constantFrom(5_000, 60_000, 600_000),
  healthyAfterMs: fc.constantFrom(1_000, 20_000),
  backoff: fc.record({
    minMs: fc.constantFrom(0, 100, 750),
    maxMs: fc.constantFrom(1_000, 30_000),
    factor: fc.constantFrom(1, 1.5, 2),
    jitter: fc.constant(0.2),
  }),
});

/** The world is good from now on: every server that is wanted is connected, or waits, or was given up (I8). */
async function comesToRest(real: Real): Promise<void> {
  for (let round = 0; round < 12; round += 1) {
    for (const link of real.world.alive) if (link.session.state === 'open') link.opens();
    real.world.clock.advance(10_000);
    await settled();
  }
  for (const { name, state, detail } of real.herd.view.status()) {
    const isWell = detail === 'running' ? state === 'connected' : true;
    expect([name, state, detail, isWell]).toEqual([name, state, detail, true]);
  }
}

describe('layer 3: for any sequence of events a herd follows its specification', () => {
  test('I1 I2 I3 I6 I8 I10 P4 P9: random calls, orders, deaths, configs and times against an independent specification', async () => {
    const reached = new Map<string, number>();
    const told = new Map<string, number>();
    let waitedAndServed = 0;
    let servedByLastChance = 0;
    await fc.assert(
      fc.asyncProperty(
        policies,
        fc.commands(allCommands, { maxCommands: 40, size: 'max' }),
        async (policy, commands) => {
          const model = new Model(policy);
          const real = new Real(policy, reached);
          await fc.asyncModelRun(() => ({ model, real }), commands);
          await comesToRest(real);
          const ending = real.herd.shutdown(60_000, async () => undefined);
          for (let step = 0; step < 4; step += 1) {
            real.world.clock.advance(9_000);
            await settled();
          }
          await ending;
          expect([real.world.alive, real.world.clock.pending]).toEqual([[], 0]);
          for (const { result, times } of real.calls.values()) {
            expect(times, 'I2: told once').toBe(1);
            const what = result!.error === null ? 'ok' : `${result!.error.type} ${result!.error.sent}`;
            told.set(what, (told.get(what) ?? 0) + 1);
          }
          for (const { calls } of model.all) {
            waitedAndServed += calls.filter(({ told: end, life }) => end === 'ok' && life?.isRestart).length;
            servedByLastChance += calls.filter(
              ({ told: end, life }) => end === 'ok' && life?.isLastChance,
            ).length;
          }
        },
      ),
      { seed: 20261116, numRuns: 300 },
    );
    const often = [...reached].filter(([, count]) => count >= 50).map(([what]) => what);
    expect(often.sort()).toEqual([
      'idle',
      'quarantined',
      'running',
      'running with calls waiting',
      'stopped',
      'waiting',
      'waiting with calls waiting',
    ]);
    for (const what of [
      'ok',
      'CancelledError false',
      'CancelledError true',
      'MCPTimeoutError false',
      'ServerCrashedError false',
      'ServerCrashedError true',
      'ServerUnavailableError false',
      'ServerUnavailableError true',
    ]) {
      expect(told.get(what), what).toBeGreaterThan(10);
    }
    expect(waitedAndServed, 'served by an incarnation that the policy brought back').toBeGreaterThan(10);
    expect(servedByLastChance, 'served by the one try after a quarantine').toBeGreaterThan(10);
  }, 120_000);
});
