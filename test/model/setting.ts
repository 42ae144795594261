/** The figures all model tests share. Each limit differs from every other, so that none can stand in for another. */
import { createActor } from 'xstate';
import type { ServerSettings } from '../../src/machines/index.js';
import type { RestartPolicy } from '../../src/machines/restart/restart-policy.js';
import type { SimulatedWorld } from '../../src/testing/index.js';

export const times = {
  startTimeoutMs: 30_000,
  discoverTimeoutMs: 4_000,
  idleTimeoutMs: 50_000,
  closeTimeoutMs: 7_000,
};

export const defaults: RestartPolicy = {
  restart: 'on-failure',
  maxRestarts: 5,
  restartWindowMs: 60_000,
  backoff: { minMs: 500, maxMs: 30_000, factor: 2, jitter: 0.2 },
  healthyAfterMs: 30_000,
};

export function settings(world: SimulatedWorld, over: Partial<typeof times> = {}): ServerSettings {
  return { name: 'github', ...times, ...over, idleForMs: () => world.idleForMs };
}

export function startServer(world: SimulatedWorld, over: Partial<typeof times> = {}) {
  const input = { ...settings(world, over), incarnation: 1 };
  return createActor(world.server, { clock: world.clock, input }).start();
}

export function keeperInput(
  world: SimulatedWorld,
  policy: RestartPolicy = defaults,
  over: Partial<typeof times> = {},
) {
  return { policy, server: settings(world, over), now: world.clock.now, random: () => 0.5 };
}

export function startKeeper(world: SimulatedWorld, policy?: RestartPolicy, over?: Partial<typeof times>) {
  return createActor(world.keeper, { clock: world.clock, input: keeperInput(world, policy, over) }).start();
}
