import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RestartPolicy } from '../../src/machines/restart/restart-policy.js';
import { SimulatedWorld } from '../../src/testing/index.js';
import { allCommands, type Real } from './commands.js';
import { startKeeper, times } from './setting.js';
import { Spec } from './spec.js';

const policies: fc.Arbitrary<RestartPolicy> = fc.record({
  restart: fc.constantFrom('on-failure', 'on-failure', 'always', 'never'),
  maxRestarts: fc.integer({ min: 0, max: 4 }),
  restartWindowMs: fc.constantFrom(5_000, 60_000, 600_000),
  healthyAfterMs: fc.constantFrom(1_000, 20_000),
  backoff: fc.record({
    minMs: fc.constantFrom(0, 100, 750),
    maxMs: fc.constantFrom(1_000, 30_000),
    factor: fc.constantFrom(1, 1.5, 2, 3),
    jitter: fc.constant(0.2),
  }),
});

describe('layer 3: for any sequence of events a keeper follows its specification', () => {
  test('I1 I3 I4 I5 I8: random orders, reports, bugs and times against an independent specification', () => {
    const reached: Real['reached'] = new Map();
    // The stop sequence has an end here: a process that does not exit when asked is killed at its last step.
    const world = new SimulatedWorld({
      script: () => ({ kill: [{ afterMs: 0, report: { type: 'link.closed', killed: true } }] }),
      permitsAreFree: false,
    });
    fc.assert(
      fc.property(
        policies,
        fc.commands(allCommands, { maxCommands: 40, size: 'max' }),
        (policy, commands) => {
          const spec = new Spec(policy, { startMs: times.startTimeoutMs, closeMs: times.closeTimeoutMs });
          fc.modelRun(() => {
            world.reset();
            return {
              model: spec,
              real: { world, keeper: startKeeper(world, policy, { idleTimeoutMs: 0 }), reached },
            };
          }, commands);
          const restarts = spec.uncalledFor();
          const dense = restarts.find((from) => {
            const inWindow = restarts.filter((at) => at >= from && at - from <= policy.restartWindowMs);
            return inWindow.length > policy.maxRestarts;
          });
          expect(dense, 'I3: restarts in any window ≤ max_restarts').toBeUndefined();
        },
      ),
      { seed: 20261116, numRuns: 200 },
    );
    const often = Object.fromEntries([...reached].filter(([, times]) => times >= 5));
    expect(
      Object.keys(often).sort(),
      'every place and every reason was reached, and not by one lucky run',
    ).toEqual([
      'given up: a restart cannot help',
      'given up: its one try after a quarantine failed',
      'given up: n failed start in a row',
      'given up: n failed starts in a row',
      'given up: n restart in n s',
      'given up: n restarts in n s',
      'idle',
      'needs_auth',
      'quarantined.callable',
      'quarantined.holding',
      'running.recalled',
      'running.restarting',
      'running.starting.connecting',
      'running.starting.queued',
      'running.stopping',
      'running.up',
      'stopped',
      'waiting.callable',
      'waiting.holding',
    ]);
    expect(reached.get('waiting.holding')).toBeGreaterThan(50);
    expect(reached.get('quarantined.holding')).toBeGreaterThan(500);
    expect(reached.get('quarantined.callable')).toBeGreaterThan(50);
  });
});
