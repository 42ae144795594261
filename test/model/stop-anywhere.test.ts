import { describe, expect, test } from 'vitest';
import { reports, SimulatedWorld } from '../../src/testing/index.js';
import { serverGraph } from './graphs.js';
import { happens, keeperHarness, possibleEdges } from './keeper-harness.js';
import { serverHarness } from './server-harness.js';
import { times } from './setting.js';
import { happensInPool, possibleTransientEdges, transientHarness } from './transient-harness.js';

/** Deaf to every polite word, and even KILL takes its time. */
const killMs = 300;
const deaf = () => ({ kill: [{ afterMs: killMs, report: reports.closed(true) }] });
const ladderMs = times.closeTimeoutMs + killMs;

describe('layer 2: stop always wins, from every state, against a process that ends only by kill', () => {
  test.each([
    ['in use', false],
    ['idle', true],
  ])('I5 I7: the server machine, %s: final within its ladder, and the process is gone', (_, idle) => {
    const world = new SimulatedWorld({ script: deaf });
    const paths = new Set(serverGraph({ idle }).map(({ path }) => path));
    for (const path of paths) {
      const harness = serverHarness(world, { idle });
      for (const step of path) harness.happens(step);
      const from = harness.state();
      harness.happens({ type: 'stop' });
      world.clock.advance(ladderMs);
      harness.check();
      expect([from, harness.state()]).toEqual([from, expect.stringMatching(/^(disconnected|error)$/)]);
      expect(world.alive).toEqual([]);
      expect(world.clock.pending).toBe(0);
    }
    expect(paths.size).toBeGreaterThan(10);
  });

  test('I5 I7: the keeper: stopped within the ladder, nothing left, and nothing comes back', () => {
    const world = new SimulatedWorld({ script: deaf, permitsAreFree: false });
    const ways = new Map(possibleEdges().map(({ from, way }) => [from, way]));
    for (const way of ways.values()) {
      const harness = keeperHarness(world);
      for (const step of way) happens(harness, step);
      happens(harness, 'stop');
      world.clock.advance(ladderMs);
      const label = way.join(' > ');
      expect(harness.state(), label).toBe('stopped');
      expect(world.alive, label).toEqual([]);
      expect(world.clock.pending, label).toBe(0);
      expect(Object.keys(harness.keeper.getSnapshot().children), label).toEqual([]);
      expect(world.permitsHeld, label).toBe(0);
      expect(world.gate, label).toBeUndefined();
    }
    expect(ways.size).toBeGreaterThan(80);
  });

  test('I5 I6 I7: the transient machine: every process gone within the ladder, calls refused, and nothing comes back', () => {
    const world = new SimulatedWorld({ script: deaf, replicas: 100 });
    const ways = new Map(possibleTransientEdges().map(({ from, way }) => [from, way]));
    for (const way of ways.values()) {
      const pool = transientHarness(world, { startTimeoutMs: 10 ** 9, discoverTimeoutMs: 10 ** 9 });
      for (const step of way) happensInPool(world, pool, step);
      const label = way.join(' > ');
      happensInPool(world, pool, 'stop');
      const { launched } = pool;
      pool.call();
      world.clock.advance(ladderMs);
      pool.check();
      expect(pool.state, label).toBe('stopped');
      expect([world.alive, pool.processes.size, pool.waiting], label).toEqual([[], 0, []]);
      expect(world.clock.pending, label).toBe(0);
      expect([pool.launched, pool.refused > 0], label).toEqual([launched, true]);
    }
    expect(ways.size).toBeGreaterThan(80);
  });
});
