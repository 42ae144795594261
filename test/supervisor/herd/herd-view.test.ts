import { describe, expect, test } from 'vitest';
import type { ServerSpec, StdioSpec } from '../../../src/config/fields/spec.js';
import type { ConfiguredServer } from '../../../src/supervisor/server/configured-server.js';
import { ServerPool } from '../../../src/supervisor/server/server-pool.js';
import { settled, spec, World } from '../world.js';

const named = (name: string, changes: Partial<StdioSpec> = {}) => spec({ name, ...changes });
const OWN = named('own', { sharing: 'per-agent', start: 'eager' });

function createHerd() {
  const world = new World();
  world.behaviour = () => ({ opens: true, goes: 'never' });
  return { world, herd: world.herd() };
}

describe('a view of one agent', () => {
  test('I1: starts a changed server when its predecessor is gone, and the new server keeps the journal', async () => {
    const { world, herd } = createHerd();
    const shared = (args: string[]) => [named('a', { start: 'eager', args }), OWN];
    herd.apply(shared([]));
    const [one, two] = [herd.view.fork('one', 'one'), herd.view.fork('two', 'two')];
    await settled();
    const [old] = world.links.filter((link) => link.spec.name === 'a');
    const begun = () => world.links.filter((link) => link.spec.name === 'a').length;
    expect(begun()).toBe(1);
    herd.apply(shared(['new']));
    await settled();
    expect([begun(), old?.orders]).toEqual([1, ['close']]);
    old?.isBuried();
    await settled();
    expect(begun()).toBe(2);
    const pids = [herd.view, one, two].map((view) => view.status(['a'])[0]?.pids);
    expect(new Set(pids.map(String)).size).toBe(1);
    expect(herd.view.inspect('a').journal.filter(({ to }) => to === 'connecting.opening')).toHaveLength(2);
  });

  test('gives no request id to calls of two views', async () => {
    const { herd } = createHerd();
    herd.apply([OWN]);
    const views = [herd.view, herd.view.fork('one', 'one'), herd.open('/red/agent.yaml', [])];
    const calls = views.map((view) => view.calls.call({ server: 'absent', tool: 'x' }, {}));
    const ids = (await Promise.all(calls)).map(({ metadata }) => metadata.request_id);
    expect(new Set(ids).size).toBe(3);
  });

  test('cannot be created while the herd shuts down, and starts nothing', async () => {
    const { world, herd } = createHerd();
    herd.apply([named('a', { start: 'eager' }), OWN]);
    await settled();
    const before = world.links.length;
    void herd.shutdown(1000, async () => undefined);
    expect(() => herd.view.fork('late', 'late')).toThrow('shutting down');
    expect(() => herd.open('/late/agent.yaml', [named('late', { start: 'eager' })])).toThrow('shutting down');
    await settled();
    expect(world.links).toHaveLength(before);
    expect(herd.view.status().map(({ name }) => name)).toEqual(['a', 'own']);
  });

  test('shows a shared server with its own file as origin, not with the file of another view', () => {
    const { herd } = createHerd();
    const from = (file: string): ServerSpec => ({
      ...named('a'),
      origin: { scope: 'agent', file, line: 1, column: 1 },
    });
    const [red, blue] = ['/red/agent.yaml', '/blue/agent.yaml'].map((file) => herd.open(file, [from(file)]));
    expect(red?.inspect('a').spec.origin).toMatchObject({ file: '/red/agent.yaml' });
    expect(blue?.inspect('a').spec.origin).toMatchObject({ file: '/blue/agent.yaml' });
    expect(blue?.specOf('a').origin.file).toBe('/blue/agent.yaml');
    const green = herd.open('/green/agent.yaml', [named('a')]);
    const owners = [red, blue, green].map((view) => view?.status()[0]?.agent);
    expect(owners).toEqual(['/red/agent.yaml', '/blue/agent.yaml', null]);
    expect(herd.view.status()).toHaveLength(1);
  });
});

test('the pool frees a key when the last server of that name is gone', async () => {
  const gone: (() => void)[] = [];
  const forgotten: string[] = [];
  const pool = new ServerPool({
    create: (one, key, predecessor) => {
      const over = new Promise<void>((resolve) => gone.push(resolve));
      const retire = () => Promise.all([over, predecessor]).then(() => undefined);
      return { spec: one, key, retire } as unknown as ConfiguredServer;
    },
    forgotten: (key) => forgotten.push(key),
  });
  const holder = (id: string) => ({ id, isOneAgent: false });
  const predecessor = Promise.resolve();
  const take = (one: ServerSpec, id: string) =>
    pool.acquire({ spec: one, holder: holder(id), predecessor }).server;
  const [red, blue] = [holder('red'), holder('blue')];
  const first = pool.acquire({ spec: named('a'), holder: red, predecessor }).server;
  void pool.release(first, red);
  const second = pool.acquire({ spec: named('a'), holder: blue, predecessor }).server;
  void pool.release(second, blue);
  const third = take(named('a', { args: ['other'] }), 'green');
  expect(new Set([first, second, third].map(({ key }) => key)).size).toBe(3);
  gone[1]?.();
  await settled();
  expect(forgotten).toEqual([]);
  gone[0]?.();
  await settled();
  expect(forgotten.sort()).toEqual([first.key, second.key].sort());
});
