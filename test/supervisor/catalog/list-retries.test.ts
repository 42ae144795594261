import { describe, expect, test } from 'vitest';
import type { StdioSpec } from '../../../src/config/fields/spec.js';
import type { JsonObject } from '../../../src/shared/json.js';
import { ConfiguredServer } from '../../../src/supervisor/server/configured-server.js';
import type { FakeLinkBehaviour } from '../fake-link.js';
import { settled, spec, World } from '../world.js';

const failing: FakeLinkBehaviour = {
  opens: true,
  answers: true,
  lists: { 'tools/list': new Error('too busy') },
};
const listing = (...names: string[]): FakeLinkBehaviour => ({
  opens: true,
  answers: true,
  lists: { 'tools/list': names.map((name) => ({ name, inputSchema: {} })) },
});

async function readServer(changes: Partial<StdioSpec> = {}, behaviour = failing) {
  const world = new World();
  world.behaviour = () => behaviour;
  const server = new ConfiguredServer(spec(changes), 1, world.serverDeps(), Promise.resolve());
  await server.readLists();
  const tools = () => server.catalog.listStates().get('tools')!;
  /** How often its tools were asked for since the last look. */
  const asked = () => {
    const { length } = world.newest.reads.filter((method) => method === 'tools/list');
    world.newest.reads.length = 0;
    return length;
  };
  return { world, server, tools, asked };
}

describe('a list that could not be read', () => {
  test('is read again after 1 s, then twice as long each time, up to 60 s', async () => {
    const { world, tools, asked } = await readServer();
    expect([asked(), tools().freshness, tools().reason]).toEqual([1, 'failed', 'too busy']);
    for (const seconds of [1, 2, 4, 8, 16, 32, 60, 60]) {
      expect(tools().nextTryAt).toBe(world.clock.now() + seconds * 1000);
      await world.passes(seconds * 1000 - 1);
      expect(asked()).toBe(0);
      await world.passes(1);
      expect(asked()).toBe(1);
    }
  });

  test('is read again alone: known lists are not read with it', async () => {
    const { world } = await readServer();
    world.newest.reads.length = 0;
    await world.passes(1000);
    expect(world.newest.reads).toEqual(['tools/list']);
  });

  test('is fresh after a try that succeeds; a later failure waits 1 s again', async () => {
    const { world, server, tools } = await readServer();
    await world.passes(1000);
    world.newest.behaviour = listing('a');
    await world.passes(2000);
    expect([tools().freshness, tools().reason, server.catalog.knownLists().tools]).toMatchObject([
      'fresh',
      undefined,
      [{ name: 'a' }],
    ]);
    world.newest.behaviour = failing;
    await server.readLists({ refresh: true });
    expect([tools().freshness, tools().nextTryAt]).toEqual(['stale', world.clock.now() + 1000]);
    expect(server.catalog.knownLists().tools).toMatchObject([{ name: 'a' }]);
  });

  test('delays no request before its next try; a refresh reads it at once', async () => {
    const { world, server, asked } = await readServer();
    asked();
    await server.readLists();
    expect(asked()).toBe(0);
    world.newest.behaviour = listing('a');
    expect((await server.readLists({ refresh: true })).tools).toMatchObject([{ name: 'a' }]);
  });

  test('is not read again after a stop, and is read by the next process', async () => {
    const { world, server, tools } = await readServer();
    server.stop();
    await settled();
    // before the next try would have been due
    expect([tools().freshness, tools().nextTryAt, world.clock.pending]).toEqual(['failed', undefined, 0]);
    world.behaviour = () => listing('a');
    server.start();
    await settled();
    expect(tools().freshness).toBe('fresh');
  });

  test('is read by the new process after a crash, not by the old one', async () => {
    const { world, tools } = await readServer();
    const [first] = world.links;
    world.behaviour = () => listing('a');
    first?.crashes();
    await world.passes(500);
    expect([world.links.length, tools().freshness]).toEqual([2, 'fresh']);
    await world.passes(60_000);
    expect(world.links.flatMap(({ reads }) => reads)).toHaveLength(8);
  });

  test('is read again by any replica that runs', async () => {
    const { world, server, tools } = await readServer({ replicas: 2 });
    server.start();
    await settled();
    world.links[0]?.goes({ kind: 'disconnected', reason: 'ended', killed: false });
    await settled();
    world.links[1]!.behaviour = listing('a');
    await world.passes(60_000);
    expect(tools().freshness).toBe('fresh');
  });

  test('does not keep the transient process that was started to read it', async () => {
    const { world, server, tools } = await readServer({ lifecycle: 'transient' });
    await world.passes(1000);
    expect([world.alive, world.clock.pending, tools().freshness]).toEqual([[], 0, 'failed']);
    world.behaviour = () => listing('a');
    expect((await server.readLists()).tools).toMatchObject([{ name: 'a' }]);
    await world.passes(100);
    expect([world.alive, world.links.length]).toEqual([[], 2]);
  });

  test('is read again by a waiting spare', async () => {
    const { world, tools } = await readServer({ lifecycle: 'transient', spares: 1 });
    const [spare] = world.alive;
    spare!.behaviour = listing('a');
    await world.passes(1000);
    expect([tools().freshness, world.links.length, spare?.isAlive]).toEqual(['fresh', 1, true]);
  });
});

describe('a list whose ttl is over and that cannot be read again', () => {
  test('is tried again with backoff; a request for it neither waits nor brings the next try forward', async () => {
    const { world, server, tools, asked } = await readServer({}, { ...listing('a'), ttlMs: 1000 });
    await world.passes(1000);
    world.newest.behaviour = failing;
    asked();
    expect((await server.readLists({ list: 'tools' })).tools).toMatchObject([{ name: 'a' }]);
    const nextTryAt = world.clock.now() + 1000;
    expect([asked(), tools().freshness, tools().nextTryAt]).toEqual([1, 'stale', nextTryAt]);
    await server.readLists({ list: 'tools' });
    expect([asked(), tools().nextTryAt]).toEqual([0, nextTryAt]);
    await world.passes(1000);
    expect([asked(), tools().nextTryAt]).toEqual([1, world.clock.now() + 2000]);
  });
});

describe('a list that changes while it is read', () => {
  test.each([{}, { lifecycle: 'transient' as const }, { lifecycle: 'transient' as const, spares: 1 }])(
    'a refresh gets the result of a reading that began after it (%o)',
    async (changes) => {
      const { world, server } = await readServer(changes, listing('a'));
      await world.passes(100);
      let answer: (tools: JsonObject[]) => void = () => {};
      const slow = new Promise<JsonObject[]>((resolve) => {
        answer = resolve;
      });
      const slowly: FakeLinkBehaviour = { opens: true, lists: { 'tools/list': slow } };
      world.behaviour = () => slowly;
      world.newest.behaviour = slowly;
      const first = server.readLists({ refresh: true });
      await settled();
      world.behaviour = () => listing('new');
      world.newest.behaviour = listing('new');
      const second = server.readLists({ refresh: true });
      answer([{ name: 'old', inputSchema: {} }]);
      expect((await first).tools).toMatchObject([{ name: 'old' }]);
      expect((await second).tools).toMatchObject([{ name: 'new' }]);
    },
  );

  test('is read once more, because the first reading is outdated', async () => {
    const { world, server, tools } = await readServer({}, listing('old'));
    let answer: (tools: JsonObject[]) => void = () => {};
    const slow = new Promise<JsonObject[]>((resolve) => {
      answer = resolve;
    });
    world.newest.behaviour = { lists: { 'tools/list': slow } };
    const reading = server.readLists({ refresh: true });
    await settled();
    world.newest.says('notifications/tools/list_changed');
    answer([{ name: 'older', inputSchema: {} }]);
    await reading;
    expect(tools().freshness).toBe('stale');
    world.newest.behaviour = listing('new');
    await world.passes(100);
    expect([tools().freshness, server.catalog.knownLists().tools]).toMatchObject([
      'fresh',
      [{ name: 'new' }],
    ]);
  });
});
