import { describe, expect, test } from 'vitest';
import type { StdioSpec } from '../../../src/config/fields/spec.js';
import { settled, spec, World } from '../world.js';

const MAX_STARTING = 4;
const NEW = Array.from({ length: 12 }, (_, index) => `new-${index}`);

/** A herd that runs, and to which servers come that never shake hands. */
async function startHerd(changes: Partial<StdioSpec> = {}) {
  const world = new World();
  const lists = { 'tools/list': [{ name: 'tool', inputSchema: { type: 'object' } }] };
  world.behaviour = ({ name }) => (name === 'other' ? { opens: true, answers: true, lists } : {});
  const herd = world.herd({ maxStarting: MAX_STARTING });
  const other = spec({ name: 'other', ...changes });
  herd.apply([other]);
  herd.apply([other, ...NEW.map((name) => spec({ name, ...changes }))]);
  await settled();
  /** Whose starts have begun, in order. */
  const begun = () => world.links.map(({ spec }) => spec.name);
  return { world, herd, begun };
}

describe('while new servers hang in their first start', () => {
  test.each<Partial<StdioSpec>>([{}, { lifecycle: 'transient' }])(
    'a call to another server starts that server at once (%o)',
    async (changes) => {
      const { herd, begun } = await startHerd(changes);
      expect(begun()).toEqual(NEW.slice(0, 3));
      const result = await herd.view.calls.call({ server: 'other', tool: 'tool' });
      expect([result.success, begun()[3]]).toEqual([true, 'other']);
    },
  );

  test.each<Partial<StdioSpec>>([{}, { lifecycle: 'transient' }])(
    'a call to a new server brings its start forward (%o)',
    async (changes) => {
      const { herd, begun } = await startHerd(changes);
      void herd.view.calls.call({ server: 'new-9', tool: 'tool' });
      await settled();
      expect(begun()).toEqual([...NEW.slice(0, 3), 'new-9']);
    },
  );

  test('an order to start a new server brings its start forward', async () => {
    const { herd, begun } = await startHerd();
    void herd.view.order('start', { servers: ['new-9'] });
    await settled();
    expect(begun()).toEqual([...NEW.slice(0, 3), 'new-9']);
  });

  test.each<Partial<StdioSpec>>([{}, { lifecycle: 'transient' }])(
    'a request for the lists of one new server brings its start forward; a request for all lists does not (%o)',
    async (changes) => {
      const { herd, begun } = await startHerd(changes);
      void herd.view.catalog.tools();
      void herd.view.catalog.tools(undefined, true);
      await settled();
      expect(begun()).toEqual(NEW.slice(0, 3));
      void herd.view.catalog.tools('new-9');
      await settled();
      expect(begun()).toEqual([...NEW.slice(0, 3), 'new-9']);
    },
  );

  test('a call to another server still gets a permit while they retry for ten minutes', async () => {
    const { world, herd, begun } = await startHerd();
    await world.passes(600_000, 600);
    const { length } = begun();
    expect(length).toBeGreaterThan(NEW.length);
    const call = herd.view.calls.call({ server: 'other', tool: 'tool' });
    await settled();
    expect(begun()[length]).toBe('other');
    expect((await call).success).toBe(true);
  });

  test('eager servers may take all permits: their start is no discovery', async () => {
    const { begun } = await startHerd({ start: 'eager' });
    expect(begun()).toEqual(['other', ...NEW.slice(0, 4)]);
  });
});
