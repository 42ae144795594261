import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Agents } from '../../src/daemon/agents.js';
import type { Fleet } from '../../src/ipc/fleet.js';
import { findPaths } from '../../src/paths.js';
import { World } from '../supervisor/world.js';
import { makeFolder } from '../support/folder.js';

const AGENT = 'tools:\n  - {name: red, description: x, type: mcp, server: x, command: npx, start: eager}\n';
const LINGER_MS = 1000;

async function start() {
  // in the user's own folder, so that nothing has to be allowed
  const folder = makeFolder({ 'config.yaml': 'version: "1.0"\n', 'agent.yaml': AGENT });
  const world = new World();
  const herd = world.herd();
  const place = {
    file: join(folder, 'config.yaml'),
    isRequired: true,
    paths: findPaths({ TOOLHERD_HOME: folder }, folder),
    environment: {},
    userHome: folder,
  };
  const agents = new Agents({ herd, place, clock: world.clock, log: () => undefined, lingerMs: LINGER_MS });
  const open = (caller: string) => agents.ofAgent(caller, join(folder, 'agent.yaml'), () => ({}) as Fleet);
  return { world, herd, agents, open };
}

it('what only an agent file has goes on for a while when nobody uses it, and then ends', async () => {
  const { world, herd, agents, open } = await start();
  const [one, two] = [await open('a'), await open('b')];
  expect([agents.views.length, herd.status().map(({ name }) => name)]).toEqual([1, ['red']]);
  one.close();
  two.close();
  world.clock.advance(LINGER_MS - 1);
  const three = await open('c');
  world.clock.advance(LINGER_MS * 2);
  expect(herd.status()).toHaveLength(1);
  three.close();
  world.clock.advance(LINGER_MS);
  expect([agents.views, herd.status()]).toEqual([[], []]);
  agents.close();
});
