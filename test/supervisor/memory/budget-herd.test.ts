import { describe, expect, test } from 'vitest';
import { settled, spec, World } from '../world.js';

const MIB = 2 ** 20;

/** A herd whose memory use is set by the test, per server name. */
function startHerd(...specs: ReturnType<typeof spec>[]) {
  const world = new World();
  const lists = { 'tools/list': [{ name: 'tool', inputSchema: { type: 'object' } }] };
  world.behaviour = () => ({ opens: true, lists });
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
  test('a server over it gets TERM once, its call fails at once, and a new incarnation follows', async () => {
    const { world, used, call, status } = startHerd(spec({ name: 'one', maxRss: 10 * MIB }));
    const running = call('one');
    await settled();
    const [first] = world.links;
    first!.behaviour = { goes: 'never' };
    used.one = 11;
    await world.passes(1000);
    expect(first!.orders).toEqual(['close', 'term']);
    const { error } = await running;
    expect(error).toMatchObject({
      type: 'ServerCrashedError',
      sent: true,
      message: 'one: over its memory budget: its processes used 11 MiB, and max_rss allows 10 MiB',
    });
    // ordered once, for any time that the stop takes
    await world.passes(3000);
    expect(first!.orders).toEqual(['close', 'term']);
    expect(world.links).toHaveLength(1);
    used.one = 1;
    first!.goes({ kind: 'disconnected', reason: 'stopped', killed: true });
    await settled();
    expect(status('one')).toMatchObject({ restarts: 1, incarnation: 2, last_error: { cause: 'memory' } });
    expect(world.logs).toEqual([`one: ${error?.message}`]);
  });

  test('ends a server that starts over it: its waiting calls get the error', async () => {
    const { world, used, call, status } = startHerd(
      spec({ name: 'one', maxRss: 10 * MIB, restart: 'never' }),
    );
    world.behaviour = () => ({ opens: false });
    used.one = 50;
    const waiting = call('one');
    // once for its lists, and once for the call
    await world.passes(3000, 6);
    expect((await waiting).error).toMatchObject({ type: 'ServerCrashedError', sent: false });
    expect(status('one')).toMatchObject({ state: 'error', last_error: { cause: 'memory' } });
  });
});

describe('daemon.max_rss', () => {
  test('a call to a server that is evicted meanwhile is served by the next incarnation', async () => {
    const { world, herd, used, call, status } = startHerd(spec({ name: 'one' }), spec({ name: 'two' }));
    void herd.view.order('start', { all: true });
    await settled();
    herd.limitMemory(15 * MIB);
    used.one = used.two = 10;
    world.links[0]!.behaviour = { goes: 'never' };
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

  test('a stopped server stays stopped, and an eager one is evicted when no other is left', async () => {
    const { world, herd, used, status } = startHerd(
      spec({ name: 'one' }),
      spec({ name: 'two', start: 'eager' }),
    );
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

  test('a server that already stops counts as freed: no other is evicted, and no warning is logged', async () => {
    const { world, herd, used, call } = startHerd(spec({ name: 'one' }), spec({ name: 'two' }));
    void herd.view.order('start', { all: true });
    await settled();
    await world.passes(5000, 10);
    world.links[0]!.behaviour = { goes: 'never' };
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
