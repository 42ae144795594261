import { describe, expect, test } from 'vitest';
import type { StdioSpec } from '../../../src/config/fields/spec.js';
import type { JsonObject } from '../../../src/shared/json.js';
import { config, server } from '../../faults/config.js';
import { startHerd } from '../../support/herd.js';
import type { FakeLinkBehaviour } from '../fake-link.js';
import { settled, spec, World } from '../world.js';

/** A server whose list of tools is answered by the test. */
function startWorld(changes: Partial<StdioSpec> = {}) {
  const world = new World();
  let say = (_tools: JsonObject[]) => {};
  let fail = (_error: Error) => {};
  const list = new Promise<JsonObject[]>((resolve, reject) => {
    say = resolve;
    fail = reject;
  });
  list.catch(() => undefined);
  world.behaviour = (): FakeLinkBehaviour => ({ opens: true, lists: { 'tools/list': list } });
  const herd = world.herd();
  herd.apply([spec(changes)]);
  const answers: number[] = [];
  const order = (verb: 'start' | 'restart') =>
    herd.view.order(verb, { all: true }, true).then(([status]) => void answers.push(status!.tools));
  return { world, herd, order, answers, say, fail };
}

const TOOL = { name: 'a', inputSchema: { type: 'object' } };

describe('an order with wait', () => {
  test.each([
    ['start', {}],
    ['restart', {}],
    ['start', { lifecycle: 'transient', spares: 1 }],
  ] as const)('%s %o is answered when the lists of the server are read', async (verb, changes) => {
    const { order, answers, say } = startWorld(changes);
    const waiting = order(verb);
    await settled();
    expect(answers).toEqual([]);
    say([TOOL]);
    await waiting;
    expect(answers).toEqual([1]);
  });

  test('is answered when the lists fail, or after 5 s', async () => {
    const broken = startWorld();
    broken.fail(new Error('no'));
    await broken.order('start');
    const slow = startWorld();
    const waiting = slow.order('start');
    await settled();
    await slow.world.passes(4900);
    expect(slow.answers).toEqual([]);
    await slow.world.passes(100);
    await waiting;
    expect([broken.answers, slow.answers]).toEqual([[0], [0]]);
  });

  test('is answered when the server dies while its lists are read', async () => {
    const { world, order, answers } = startWorld({ restart: 'never' });
    const waiting = order('start');
    await settled();
    world.newest.crashes();
    await waiting;
    expect(answers).toEqual([0]);
  });

  test.each([
    ['start', {}],
    ['restart', {}],
    ['start', { lifecycle: 'transient', spares: 1 }],
  ] as const)(
    'stop is answered when the old processes are gone, although a %s came meanwhile: %o',
    async (verb, changes) => {
      const { fleet, connect } = await startHerd(config([server('it', 'good.mjs', changes)]));
      const other = await connect();
      await fleet.start({ all: true }, true);
      const [stopped, started] = await Promise.all([
        fleet.stop({ all: true }, true),
        other[verb]({ all: true }, true),
      ]);
      expect([stopped.length, started.length]).toEqual([1, 1]);
      expect((await fleet.call({ server: 'it', tool: 'pid' })).success).toBe(true);
    },
  );

  test('start and restart of a real server are answered with the number of all its tools', async () => {
    const { fleet } = await startHerd(config([server('shop', 'offers.mjs', { args: ['300'] })]));
    expect(await fleet.start({ all: true }, true)).toMatchObject([{ state: 'connected', tools: 300 }]);
    expect(await fleet.restart({ all: true }, true)).toMatchObject([{ incarnation: 2, tools: 300 }]);
  });
});
