import { describe, expect, test } from 'vitest';
import type { StdioSpec } from '../../../src/config/fields/spec.js';
import type { FakeLinkBehaviour } from '../fake-link.js';
import { settled, spec, World } from '../world.js';

const MIB = 2 ** 20;
const TOOLS = { result: { tools: [{ name: 'tool', inputSchema: { type: 'object' } }] } };
const CAPABILITIES = { tools: {}, prompts: {} };

/** It declares prompts and does not know `prompts/list`, which is asked again and again. */
const withoutPrompts: FakeLinkBehaviour = {
  opens: true,
  answers: true,
  capabilities: CAPABILITIES,
  replies: (method) =>
    method === 'tools/list' ? TOOLS : { error: { code: -32601, message: 'Method not found' } },
};

async function startHerd(behaviour: FakeLinkBehaviour, ...specs: Partial<StdioSpec>[]) {
  const world = new World();
  world.behaviour = () => behaviour;
  const used: Record<string, number> = {};
  const herd = world.herd({
    memoryOf: (pids) => {
      const of = (pid: number) => world.links.find((link) => link.pid === pid)?.spec.name ?? '';
      return new Map(pids.map((pid) => [pid, (used[of(pid)] ?? 0) * MIB]));
    },
  });
  herd.apply(specs.map((changes) => spec({ name: 'one', requestTimeoutMs: 60_000, ...changes })));
  void herd.view.order('start', { all: true });
  await settled();
  const status = (name = 'one') => herd.view.status([name])[0]!;
  return { world, herd, used, status };
}

describe('a list that toolherd reads again does not count as use', () => {
  test('an idle server is stopped, although one of its lists fails for ever', async () => {
    const { world, status } = await startHerd(withoutPrompts, { idleTimeoutMs: 300_000 });
    await world.passes(299_000, 299);
    expect([status().state, world.newest.reads.length > 8]).toEqual(['connected', true]);
    await world.passes(2000, 2);
    expect(status()).toMatchObject({ state: 'disconnected', detail: 'idle' });
  });

  test('a call does count: idle_timeout begins again with it', async () => {
    const { world, herd, status } = await startHerd(withoutPrompts, { idleTimeoutMs: 300_000 });
    await world.passes(200_000, 200);
    await herd.view.calls.call({ server: 'one', tool: 'tool' });
    await world.passes(299_000, 299);
    expect(status().state).toBe('connected');
    await world.passes(2000, 2);
    expect(status()).toMatchObject({ state: 'disconnected', detail: 'idle' });
  });

  test('idle_timeout begins when the server is connected, after any time to start', async () => {
    const { world, status } = await startHerd({ ...withoutPrompts, opens: false }, { idleTimeoutMs: 10_000 });
    await world.passes(20_000);
    world.newest.opens();
    await world.passes(9900);
    expect(status().state).toBe('connected');
    await world.passes(200);
    expect(status()).toMatchObject({ state: 'disconnected', detail: 'idle' });
  });

  test('the memory budget evicts a server whose list fails before one that was called later', async () => {
    const { world, herd, used } = await startHerd(withoutPrompts, {}, { name: 'two' });
    await world.passes(40_000, 40);
    // only the second has all its lists
    const replies = (method: string) => (method === 'tools/list' ? TOOLS : { result: { prompts: [] } });
    world.links[1]!.behaviour = { ...withoutPrompts, replies };
    await world.passes(60_000, 60);
    await herd.view.calls.call({ server: 'two', tool: 'tool' });
    // the next try of the first comes in this time
    await world.passes(60_000, 60);
    used.one = used.two = 10;
    herd.limitMemory(15 * MIB);
    await world.passes(5000, 5);
    expect(world.links.map(({ orders }) => orders)).toEqual([['close'], []]);
  });
});

describe('a server that does not answer', () => {
  const PING = { intervalMs: 15_000, timeoutMs: 10_000 };
  const silent: FakeLinkBehaviour = { opens: true, capabilities: CAPABILITIES, replies: () => undefined };

  async function silentStage() {
    const at = await startHerd(silent, { ping: PING, restart: 'never' });
    const { clock } = at.world;
    const ping = () =>
      new Promise<void>((_, reject) =>
        clock.setTimeout(() => reject(new Error('no answer to ping')), PING.timeoutMs),
      );
    at.world.newest.behaviour = { ...silent, ping };
    return at;
  }

  test('a server counts as hung 75 s after its handshake: only its first lists may delay a ping', async () => {
    const { world, status } = await silentStage();
    await world.passes(74_000, 74);
    expect(status().state).toBe('connected');
    await world.passes(1500, 3);
    expect(status()).toMatchObject({ state: 'error', last_error: { cause: 'hung' } });
  });

  test('a server that builds its first lists may be busy, and is not ended', async () => {
    const { world, status } = await silentStage();
    await world.passes(49_000, 49);
    const { newest } = world;
    newest.behaviour = { ...withoutPrompts, ping: () => Promise.resolve() };
    for (const { id, method } of newest.written)
      newest.session.deliver(Buffer.from(JSON.stringify({ id, ...withoutPrompts.replies!(method) })));
    await settled();
    await world.passes(300_000, 300);
    expect([status().state, status().tools, world.links.length]).toEqual(['connected', 1, 1]);
  });
});
