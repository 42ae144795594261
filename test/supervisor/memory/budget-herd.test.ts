import { describe, expect, test } from 'vitest';
import { settled, spec, World } from '../world.js';

const MIB = 2 ** 20;

/** A herd whose processes use what the test says, by the name of their server. */
function stage(...specs: ReturnType<typeof spec>[]) {
  const world = new World();
  const lists = { 'tools/list': [{ name: 'tool', inputSchema: { type: 'object' } }] };
  world.manners = () => ({ opens: true, lists });
  const used: Record<string, number> = {};
  const herd = world.herd({
    memoryOf: (pids) => {
      const of = (pid: number) => world.links.find((link) => link.pid === pid)?.spec.name ?? '';
      return new Map(pids.map((pid) => [pid, (used[of(pid)] ?? 0) * MIB]));
    },
  });
  herd.apply(specs);
  const call = (server: string) => herd.view.calls.call({ server, tool: 'tool' }, {});
  const status = (name: string) => herd.view.status([name])[0]!;
  return { world, herd, used, call, status };
}

describe('max_rss', () => {
  test('over it a server is asked to go from TERM on, its call is told at once, and another follows', async () => {
    const { world, used, call, status } = stage(spec({ name: 'one', maxRss: 10 * MIB }));
    const running = call('one');
    await settled();
    const [first] = world.links;
    first!.manners = { goes: 'never' };
    used.one = 11;
    await world.passes(1000);
    expect(first!.orders).toEqual(['close', 'term']);
    const { error } = await running;
    expect(error).toMatchObject({
      type: 'ServerCrashedError',
      sent: true,
      message: 'one: over its memory budget: its processes used 11 MiB, and max_rss allows 10 MiB',
    });
    // told once, however long it takes
    await world.passes(3000);
    expect(first!.orders).toEqual(['close', 'term']);
    expect(world.links).toHaveLength(1);
    used.one = 1;
    first!.goes({ kind: 'disconnected', reason: 'stopped', killed: true });
    await settled();
    expect(status('one')).toMatchObject({ restarts: 1, incarnation: 2, last_error: { cause: 'memory' } });
    expect(world.logs).toEqual([`one: ${error?.message}`]);
  });

  test('also while it starts: calls that wait for it get the error', async () => {
    const { world, used, call, status } = stage(spec({ name: 'one', maxRss: 10 * MIB, restart: 'never' }));
    world.manners = () => ({ opens: false });
    used.one = 50;
    const waiting = call('one');
    // once for its lists, and once for the call
    await world.passes(3000, 6);
    expect((await waiting).error).toMatchObject({ type: 'ServerCrashedError', sent: false });
    expect(status('one')).toMatchObject({ state: 'error', last_error: { cause: 'memory' } });
  });
});

describe('daemon.max_rss', () => {
  test('a call that comes while a server makes room is served by the next one', async () => {
    const { world, herd, used, call, status } = stage(spec({ name: 'one' }), spec({ name: 'two' }));
    void herd.view.order('start', { all: true });
    await settled();
    herd.limitMemory(15 * MIB);
    used.one = used.two = 10;
    world.links[0]!.manners = { goes: 'never' };
    await world.passes(5000, 10);
    expect(world.links.map(({ orders }) => orders)).toEqual([['close'], []]);
    const waiting = call('one');
    await settled();
    used.one = 1;
    world.links[0]!.goes({ kind: 'disconnected', reason: 'stopped', killed: false });
    await settled();
    world.newest.answers();
    expect((await waiting).success).toBe(true);
    expect(status('one')).toMatchObject({ incarnation: 2, restarts: 0, last_error: null });
  });

  test('one that was stopped stays stopped, and an eager one goes when nothing else is left', async () => {
    const { world, herd, used, status } = stage(spec({ name: 'one' }), spec({ name: 'two', start: 'eager' }));
    void herd.view.order('start', { all: true });
    await settled();
    used.one = used.two = 10;
    void herd.view.order('stop', { servers: ['one'] });
    herd.limitMemory(MIB);
    await world.passes(5000, 10);
    expect(status('one').detail).toBe('stopped');
    expect(status('two')).toMatchObject({ detail: 'idle', state: 'disconnected' });
    expect(world.clock.pending).toBe(0);
  });

  test('for one that goes already no other has to go, nor is it said to have made room', async () => {
    const { world, herd, used, call } = stage(spec({ name: 'one' }), spec({ name: 'two' }));
    void herd.view.order('start', { all: true });
    await settled();
    await world.passes(5000, 10);
    world.links[0]!.manners = { goes: 'never' };
    void call('one');
    await settled();
    void herd.view.order('stop', { servers: ['one'] });
    used.one = used.two = 10;
    herd.limitMemory(15 * MIB);
    await world.passes(4000, 8);
    expect(world.links.map(({ orders }) => orders)).toEqual([['close'], []]);
    expect(world.logs).toEqual([]);
    expect(herd.memoryReport()).toMatchObject({ problem: null });
  });
});
