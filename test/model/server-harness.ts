/** A server machine in a world where the test makes everything happen: each event of a walk, or it fails. */
import type { LinkReport, ServerEvent } from '../../src/machines/index.js';
import { type SimulatedWorld, stateName } from '../../src/testing/index.js';
import { startServer, times } from './setting.js';
import { delayOf } from './table.js';

export function serverHarness(world: SimulatedWorld, { idle }: { idle: boolean }) {
  world.reset();
  const server = startServer(world);
  const state = () => stateName(server.getSnapshot().value);
  const happens = (event: ServerEvent | { type: string }) => {
    const { type } = event;
    if (type === 'connect' || type === 'stop') server.send({ type });
    else if (type === 'rest') rest(event as ServerEvent);
    else if (type === 'xstate.error.actor.link') world.breakLink();
    else if (type.startsWith('xstate.after.')) fire(delayOf(type));
    else if (type.startsWith('link.')) world.say(event as LinkReport);
    else throw new Error(`nothing in this world makes ${type} happen`);
    check();
  };
  const fire = (delay: string) => {
    if (idle && delay === 'idleTimeout') world.idleForMs = times.idleTimeoutMs;
    world.clock.advance(msOf(delay));
    world.idleForMs = 0;
  };
  const rest = (order: ServerEvent) => {
    if (idle) world.idleForMs = 1;
    server.send(order);
    world.idleForMs = 0;
  };
  const check = () => {
    world.check(server.getSnapshot());
    const passes = /^connected\.(discovering|serving)$/.test(state());
    if (passes !== (world.gate !== undefined)) {
      throw new Error(`I4: calls pass while discovering and serving, and only then (${state()})`);
    }
  };
  return { world, server, state, happens, check };
}

function msOf(delay: string): number {
  const known = new Map(Object.entries(times)).get(`${delay}Ms`);
  if (known === undefined) throw new Error(`no figure for ${delay}`);
  return known;
}
