import { expect, test } from 'vitest';
import { createActor } from 'xstate';
import { stateName } from '../../src/machines/index.js';
import { SimulatedWorld } from '../../src/testing/index.js';
import { startServer } from '../model/setting.js';

test('the name of a state has the names of its parents', () => {
  expect(stateName('created')).toBe('created');
  expect(stateName({ connected: { closing: 'asking' } })).toBe('connected.closing.asking');
});

test('a snapshot or an actor in place of a value is refused with the right call', () => {
  const world = new SimulatedWorld();
  const server = startServer(world);
  const keeper = createActor(world.keeper, {
    input: { policy: {}, server: {}, now: () => 0, random: () => 0 } as never,
  });
  for (const wrong of [server, server.getSnapshot(), keeper, keeper.getSnapshot()])
    expect(() => stateName(wrong as never)).toThrow('stateName(snapshot.value)');
});
