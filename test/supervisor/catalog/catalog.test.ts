import { describe, expect, test } from 'vitest';
import type { StdioSpec } from '../../../src/config/fields/spec.js';
import type { CatalogEvent } from '../../../src/fleet/fleet.js';
import type { CatalogStore } from '../../../src/supervisor/catalog/catalog-store.js';
import type { Lists } from '../../../src/supervisor/catalog/lists.js';
import type { FakeLinkBehaviour } from '../fake-link.js';
import { PinMemory, tool } from '../pins/world.js';
import { settled, spec, World } from '../world.js';

const schema = { type: 'object' };
const tools = (...names: string[]): FakeLinkBehaviour => ({
  opens: true,
  answers: true,
  lists: { 'tools/list': names.map((name) => ({ name, inputSchema: schema })) },
});

/** The cache that two herds share. */
class Memory implements CatalogStore {
  readonly kept = new Map<string, string>();
  saves = 0;
  load = (identity: string): Lists | undefined => {
    const text = this.kept.get(identity);
    return text === undefined ? undefined : JSON.parse(text);
  };
  save = (identity: string, lists: Lists): void => {
    this.saves += 1;
    this.kept.set(identity, JSON.stringify(lists));
  };
  prune = async () => undefined;
}

function startHerd(behaviour: FakeLinkBehaviour, changes: Partial<StdioSpec> = {}, catalogs = new Memory()) {
  const world = new World();
  world.behaviour = () => behaviour;
  const herd = world.herd({ catalogs });
  herd.apply([spec(changes)]);
  const events: CatalogEvent[] = [];
  herd.view.events.subscribe(['catalog'], (event) => void events.push(event));
  const names = async (refresh = false) =>
    (await herd.view.catalog.tools('srv', refresh)).tools.map(({ name }) => name);
  const call = (tool: string, more = {}) => herd.view.calls.call({ server: 'srv', tool, ...more });
  return { world, herd, events, names, call, catalogs };
}

/** A second herd with the same cache, whose server offers other tools. */
async function afterwards(
  before: FakeLinkBehaviour,
  now: FakeLinkBehaviour,
  changes: Partial<StdioSpec> = {},
) {
  const first = startHerd(before, changes);
  await first.names();
  return startHerd(now, changes, first.catalogs);
}

describe('the cached lists of a server', () => {
  test('answer a request without a start; a refresh reads them again and emits the difference as an event', async () => {
    const { world, names, events, herd } = await afterwards(tools('a', 'b'), tools('b', 'c'));
    expect([await names(), world.links.length]).toEqual([['a', 'b'], 0]);
    expect(herd.view.status()[0]?.tools).toBe(2);
    expect((await herd.view.catalog.tools()).tools[0]?.cached).toBe(true);
    expect(await names(true)).toEqual(['b', 'c']);
    expect((await herd.view.catalog.tools()).tools[0]).not.toHaveProperty('cached');
    expect(events).toEqual([
      {
        topic: 'catalog',
        server: 'srv',
        list: 'tools',
        count: 2,
        added: ['c'],
        removed: ['a'],
        changed: [],
        at: new Date(0).toISOString(),
      },
    ]);
  });

  test('cause no event and no write when the server still offers the same', async () => {
    const { names, events, catalogs } = await afterwards(tools('a'), tools('a'));
    await names(true);
    expect([events, catalogs.saves]).toEqual([[], 1]);
  });

  test('are replaced by the lists of the next start, also when a call caused it', async () => {
    const { call, events, names } = await afterwards(tools('a'), tools('a', 'b'));
    await call('a');
    await settled();
    expect(events.map(({ added }) => added)).toEqual([['b']]);
    expect(await names()).toEqual(['a', 'b']);
  });

  test('belong to the command line: the same server with other arguments has none', async () => {
    const first = startHerd(tools('a'));
    await first.names();
    const { world, names } = startHerd(tools('b'), { args: ['other'] }, first.catalogs);
    expect([await names(), world.links.length]).toEqual([['b'], 1]);
  });

  test('are cached one by one: a list that could not be read stays unknown, the others are cached', async () => {
    const bad: FakeLinkBehaviour = {
      opens: true,
      lists: { 'tools/list': new Error('no'), 'prompts/list': [{ name: 'p' }] },
    };
    const { world, names, herd } = await afterwards(bad, tools('a'));
    expect(herd.view.status()[0]?.lists).toEqual({
      tools: { freshness: 'unknown' },
      prompts: { freshness: 'cached' },
      resources: { freshness: 'cached' },
      templates: { freshness: 'cached' },
    });
    const { prompts, missing } = await herd.view.catalog.prompts();
    expect([prompts, missing]).toMatchObject([[{ name: 'p', cached: true }], []]);
    expect(world.links).toHaveLength(0);
    expect([await names(), world.links.length]).toEqual([['a'], 1]);
  });

  test('are compared with the pins, also when another list is not cached', async () => {
    const store = new PinMemory();
    const pins = { store, policy: () => 'enforce' as const };
    const catalogs = new Memory();
    const offering = (description: string, prompts: Error | []): FakeLinkBehaviour => ({
      opens: true,
      answers: true,
      lists: { 'tools/list': [tool('a', description)], 'prompts/list': prompts },
    });
    const lives = [offering('old', new Error('no')), offering('evil', new Error('no')), offering('evil', [])];
    const herds = [];
    for (const behaviour of lives) {
      const world = new World();
      world.behaviour = () => behaviour;
      const herd = world.herd({ catalogs, pins });
      herd.apply([spec()]);
      herds.push({ world, herd });
      if (herds.length < 3) await herd.view.catalog.tools('srv', true);
    }
    const { world, herd } = herds[2]!;
    expect((await herd.view.catalog.tools()).tools).toMatchObject([
      { name: 'a', cached: true, blocked: expect.any(String) },
    ]);
    expect(world.links).toHaveLength(0);
  });

  test.each(['warn', 'enforce'] as const)(
    'are compared with the pins by a status, which writes no pin (%s)',
    async (policy) => {
      const catalogs = new Memory();
      const { names } = startHerd(tools('a', 'b'), {}, catalogs);
      await names();
      const store = new PinMemory();
      const world = new World();
      world.behaviour = () => tools('a', 'b');
      const herd = world.herd({ catalogs, pins: { store, policy: () => policy } });
      herd.apply([spec()]);
      expect(herd.view.status()[0]).toMatchObject({ tools: 2, lists: { tools: { freshness: 'cached' } } });
      expect([store.saves, world.logs]).toEqual([0, []]);
      await herd.view.catalog.tools('srv', true);
      expect(store.saves).toBe(1);
    },
  );

  test('stay marked as cached while the server does not answer, and are reported as old if it cannot start', async () => {
    const { world, herd } = await afterwards(tools('a'), {}, { maxRestarts: 0 });
    const refreshing = herd.view.catalog.tools('srv', true);
    await settled();
    expect((await herd.view.catalog.tools(undefined, false, 'none')).tools).toMatchObject([
      { name: 'a', cached: true },
    ]);
    world.newest.goes({ kind: 'error', cause: 'exit', message: 'srv: exited with code 1', code: 1 });
    const { tools: listed, missing } = await refreshing;
    expect(listed).toMatchObject([{ name: 'a', cached: true }]);
    const reason = expect.stringMatching(
      /^it is quarantined: exited with code 1; what it last listed is shown$/,
    );
    expect(missing).toEqual([{ server: 'srv', list: 'tools', reason }]);
  });

  test("do not prove that a tool is missing: toolherd reads the server's list before it refuses a call", async () => {
    const { world, call } = await afterwards(tools('read'), tools('reads'));
    expect((await call('reads')).success).toBe(true);
    expect(world.newest.calls.map(({ params }) => params.name)).toEqual(['reads']);
    expect((await call('read')).error).toMatchObject({
      type: 'MCPToolNotFoundError',
      fix: "did you mean 'reads'?",
    });
  });

  test('do not have the called tool: a call that times out while the server is read was not sent', async () => {
    const { world, call } = await afterwards(tools('a'), {});
    const calling = call('b', { timeout_ms: 500 });
    await settled();
    await world.passes(500);
    expect((await calling).error).toMatchObject({ type: 'MCPTimeoutError', sent: false, retryable: true });
  });

  test('do not have the called tool: a call that is cancelled while the server is read was not sent', async () => {
    const { herd } = await afterwards(tools('a'), {});
    const abort = new AbortController();
    const calling = herd.view.calls.call({ server: 'srv', tool: 'b' }, { signal: abort.signal });
    await settled();
    abort.abort();
    expect((await calling).error).toMatchObject({ type: 'CancelledError', sent: false });
  });

  test('have a tool that the config hides: a call to it is refused without a start', async () => {
    const hidden = { tools: { allow: ['*'], deny: ['rm'] } };
    const { world, call } = await afterwards(tools('a', 'rm'), tools('a', 'rm'), hidden);
    expect((await call('rm')).error?.type).toBe('MCPToolNotFoundError');
    expect(world.links).toEqual([]);
  });

  test('are read again by the first process of a transient server only', async () => {
    const { world, call, events } = await afterwards(tools('a'), tools('a', 'b'), { lifecycle: 'transient' });
    await call('a');
    await settled();
    expect([world.links[0]?.reads.length, events.map(({ added }) => added)]).toEqual([4, [['b']]]);
    await call('a');
    expect(world.links.at(-1)?.reads).toEqual([]);
  });
});

describe('FR-016: lists that have changed', () => {
  test('only the lists that the server names are read again; a refresh reads all of them', async () => {
    const { world, names } = startHerd(tools('a'));
    await names();
    const { reads } = world.newest;
    reads.length = 0;
    world.newest.says('notifications/resources/list_changed');
    await world.passes(100);
    expect(reads).toEqual(['resources/list', 'resources/templates/list']);
    reads.length = 0;
    world.newest.says('notifications/prompts/list_changed');
    const fresh = names(true);
    await fresh;
    expect(reads).toHaveLength(4);
  });

  test('a new tool can be called before its list is read again', async () => {
    const { world, names, call } = startHerd(tools('a'));
    await names();
    world.newest.behaviour = tools('a', 'b');
    world.newest.says('notifications/tools/list_changed');
    expect((await call('b')).success).toBe(true);
  });

  test('a list that could not be read again stays in doubt: calls to tools that it lacks pass', async () => {
    const { world, names, call } = startHerd(tools('a'));
    await names();
    world.newest.behaviour = { opens: true, answers: true, lists: { 'tools/list': new Error('too busy') } };
    world.newest.says('notifications/tools/list_changed');
    await world.passes(100);
    expect((await call('b')).success).toBe(true);
    expect(await names()).toEqual(['a']);
  });

  test('a change of a list that the config does not load causes no reading', async () => {
    const { world, call } = startHerd(tools('a'), { lifecycle: 'transient', loadPrompts: false });
    await call('a');
    world.newest.says('notifications/prompts/list_changed');
    await settled();
    await call('a');
    await call('a');
    expect(world.links.at(-1)?.reads).toEqual([]);
  });

  test('after a transient process reports a change and ends, the next process reads the list', async () => {
    const { world, names, call, events } = startHerd(tools('a'), { lifecycle: 'transient' });
    await names();
    events.length = 0;
    world.behaviour = () => ({ ...tools('a', 'b'), answers: false });
    const calling = call('a');
    await settled();
    world.newest.says('notifications/tools/list_changed');
    world.newest.answers();
    await calling;
    await settled();
    world.behaviour = () => tools('a', 'b');
    await call('a');
    await settled();
    expect(events.map(({ added }) => added)).toEqual([['b']]);
  });

  test('a new definition under the same name is emitted as changed', async () => {
    const { world, names, events } = startHerd(tools('a'));
    await names();
    events.length = 0;
    world.newest.behaviour = {
      ...tools(),
      lists: { 'tools/list': [{ name: 'a', description: 'new', inputSchema: schema }] },
    };
    world.newest.says('notifications/tools/list_changed');
    await world.passes(100);
    expect(events).toMatchObject([{ list: 'tools', count: 1, added: [], removed: [], changed: ['a'] }]);
  });
});

describe('FR-016: a config that changes', () => {
  test('the tools of a removed server are emitted as removed', async () => {
    const { herd, names, events } = startHerd(tools('a', 'b'));
    await names();
    events.length = 0;
    herd.apply([spec()]);
    expect(events).toEqual([]);
    herd.apply([]);
    expect(events).toMatchObject([
      { server: 'srv', list: 'tools', count: 0, added: [], removed: ['a', 'b'] },
    ]);
  });

  test('new arguments hide the lists of a server until they are read; old arguments bring the cached lists back', async () => {
    const { herd, names, events, world } = startHerd(tools('a', 'b'));
    await names();
    events.length = 0;
    world.behaviour = () => tools('b', 'c');
    herd.apply([spec({ args: ['other'] })]);
    await settled();
    await names();
    herd.apply([spec()]);
    expect(events.map(({ added, removed }) => [added, removed])).toEqual([
      [[], ['a', 'b']],
      [['b', 'c'], []],
      [['a'], ['c']],
    ]);
  });
});

describe('a list with a ttl', () => {
  test('is read again only after the ttl, and is shown unchanged when no process runs', async () => {
    const { world, names, herd } = startHerd({ ...tools('a'), ttlMs: 1000 });
    await names();
    world.newest.behaviour = { ...tools('b'), ttlMs: 1000 };
    await world.passes(900);
    expect(await names()).toEqual(['a']);
    await world.passes(100);
    expect(await names()).toEqual(['b']);
    await herd.view.order('stop', { all: true }, true);
    await world.passes(5000);
    expect([await names(), world.links.length]).toEqual([['b'], 1]);
  });
});

describe('a list of the herd', () => {
  test('waits for list_wait, not for a start; a list of one named server waits for its start', async () => {
    const { world, herd } = startHerd({}, { startTimeoutMs: 30_000 });
    const answered: string[] = [];
    void herd.view.catalog.tools().then(({ missing }) => answered.push(`herd ${missing[0]?.reason}`));
    void herd.view.catalog.tools('srv').then(({ missing }) => answered.push(`server ${missing[0]?.reason}`));
    await settled();
    await world.passes(1900);
    expect(answered).toEqual([]);
    await world.passes(200);
    expect(answered).toEqual(['herd has been starting for 2 s']);
    await world.passes(28_000);
    expect(answered).toHaveLength(1);
    // a start that fails at its timeout is the reason, not that it takes long
    world.newest.goes({ kind: 'error', cause: 'timeout', message: 'srv: no answer in 30 s' });
    await settled();
    expect(answered[1]).toMatch(/^server no answer in 30 s; next try in/);
  });

  test('answers without a server that the config drops meanwhile', async () => {
    const { herd } = startHerd({});
    const listing = herd.view.catalog.tools();
    await settled();
    herd.apply([]);
    expect(await listing).toEqual({ tools: [], missing: [] });
  });
});
