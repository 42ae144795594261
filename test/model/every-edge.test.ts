import { describe, expect, test } from 'vitest';
import { SimulatedWorld, silent, stateName } from '../../src/testing/index.js';
import { endingName, keeperProjection, serverGraph } from './graphs.js';
import { happens, keeperHarness, possibleEdges } from './keeper-harness.js';
import { serverHarness } from './server-harness.js';
import {
  happensInPool,
  possibleTransientEdges,
  transientHarness,
  transientProjection,
} from './transient-harness.js';

describe('layer 1: every edge of the server machine, walked in the simulated world, leads where it should', () => {
  test.each([
    ['in use', false],
    ['idle', true],
  ])('I4 I5: a server %s', (_, idle) => {
    const world = new SimulatedWorld({ script: () => silent });
    const edges = serverGraph({ idle });
    const reached = new Set<string>();
    for (const { path, event, to } of edges) {
      const harness = serverHarness(world, { idle });
      for (const step of [...path, event]) harness.happens(step);
      const way = [...path, event].map((step) => step.type).join(' > ');
      expect(harness.state(), way).toBe(stateName(to.value));
      expect(endingName(harness.server.getSnapshot().context.ending), way).toBe(
        endingName(to.context.ending),
      );
      reached.add(harness.state());
    }
    expect(edges.length).toBeGreaterThan(180);
    expect([...reached].sort()).toEqual([
      'connected.closing.asking',
      'connected.closing.killing',
      'connected.discovering',
      'connected.serving',
      'connecting.aborting.asking',
      'connecting.aborting.killing',
      'connecting.opening',
      'created',
      'disconnected',
      'error',
    ]);
  });
});

describe('layer 1: every edge of the keeper that can happen, walked with a real server machine under it', () => {
  const world = new SimulatedWorld({ script: () => silent, permitsAreFree: false });

  test('I1 I4 I5: leads where it should', () => {
    const edges = possibleEdges();
    const reached = new Set<string>();
    // One walk goes on as long as there is an edge it has not taken, so it is long, and nothing is walked for nothing.
    const untaken = new Map<string, typeof edges>();
    for (const edge of edges) {
      const key = keeperProjection(edge.from);
      untaken.set(key, [...(untaken.get(key) ?? []), edge]);
    }
    for (const { from, way } of edges) {
      if (untaken.get(keeperProjection(from))?.length === 0) continue;
      const harness = keeperHarness(world);
      const walked = [...way];
      for (const name of way) happens(harness, name);
      const here = () => keeperProjection(harness.keeper.getSnapshot());
      for (let edge = untaken.get(here())?.pop(); edge; edge = untaken.get(here())?.pop()) {
        happens(harness, edge.step);
        walked.push(edge.step);
        expect(here(), walked.join(' > ')).toBe(keeperProjection(edge.to));
        reached.add(harness.state());
      }
    }
    expect([...untaken.values()].flat()).toEqual([]);
    expect(edges.length).toBeGreaterThan(1000);
    expect([...reached].sort()).toEqual([
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
  });

  test('stop and restart in the queue are over at once: nothing had been started', () => {
    const stopped = keeperHarness(world);
    for (const step of ['start', 'stop']) happens(stopped, step);
    expect(stopped.state()).toBe('stopped');
    expect(world.processes).toEqual([]);
    const restarted = keeperHarness(world);
    for (const step of ['start', 'restart']) happens(restarted, step);
    expect(restarted.state()).toBe('running.starting.queued');
    expect(restarted.keeper.getSnapshot().context.incarnation).toBe(2);
    expect(world.processes).toEqual([]);
  });
});

describe('layer 1: every edge of the transient machine that can happen, walked with real server machines under it', () => {
  test('I5 I6 I9: leads where it should', () => {
    const world = new SimulatedWorld({ script: () => silent, replicas: 100 });
    const edges = possibleTransientEdges();
    const untaken = new Map<string, typeof edges>();
    for (const edge of edges) {
      const key = transientProjection(edge.from);
      untaken.set(key, [...(untaken.get(key) ?? []), edge]);
    }
    const reached = new Set<string>();
    for (const { from, way } of edges) {
      if (untaken.get(transientProjection(from))?.length === 0) continue;
      const pool = transientHarness(world);
      const walked = [...way];
      for (const name of way) happensInPool(world, pool, name);
      const here = () => transientProjection(pool.actor.getSnapshot());
      for (let edge = untaken.get(here())?.pop(); edge; edge = untaken.get(here())?.pop()) {
        const isQueued = edge.step === 'call.waiting' && edge.to === edge.from;
        happensInPool(world, pool, edge.step);
        walked.push(edge.step);
        expect(here(), walked.join(' > ')).toBe(transientProjection(edge.to));
        reached.add(pool.state);
        // a call that waits would change what follows the next ending
        if (isQueued || pool.waiting.length > 0) break;
      }
    }
    expect([...untaken.values()].flat()).toEqual([]);
    expect(edges.length).toBeGreaterThan(1000);
    expect([...reached].sort()).toEqual([
      'draining',
      'open.quarantined',
      'open.refilling',
      'open.stocked',
      'open.waiting',
      'stopped',
    ]);
  });
});
