/** A herd of five kinds of servers, whose lists are known. No processes, no real time. */
import type { StdioSpec } from '../../../src/config/fields/spec.js';
import { ALL_TOOLS, spec, World } from '../world.js';

export const TOOLS = ['x', 'y', 'a__x', 'hidden', 'odd name'].map((name) => ({
  name,
  inputSchema: { type: 'object' },
}));

export const SPECS: StdioSpec[] = [
  spec({ name: 'a', tools: { ...ALL_TOOLS, deny: ['hidden'] }, maxInFlight: 2 }),
  spec({ name: 'b' }),
  spec({ name: 'brief', resultLimit: 1000 }),
  spec({ name: 'off', enabled: false }),
  spec({ name: 'once', lifecycle: 'transient' }),
];

export async function startSmallHerd(options: Parameters<World['herd']>[0] = {}) {
  const world = new World();
  world.behaviour = () => ({ opens: true, lists: { 'tools/list': TOOLS } });
  const herd = world.herd(options);
  herd.apply(SPECS);
  await herd.view.order('start', { all: true }, true);
  for (const { name, enabled } of SPECS) if (enabled) await herd.view.catalog.tools(name);
  return { world, herd };
}
