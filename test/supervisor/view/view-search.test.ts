import { describe, expect, test, vi } from 'vitest';
import type { StdioSpec } from '../../../src/config/fields/spec.js';
import { ToolIndex } from '../../../src/search/tool-index.js';
import type { JsonObject } from '../../../src/shared/json.js';
import type { CatalogStore } from '../../../src/supervisor/catalog/catalog-store.js';
import { NO_LISTS } from '../../../src/supervisor/catalog/lists.js';
import type { Herd, HerdOptions } from '../../../src/supervisor/herd/herd.js';
import { until } from '../../support/until.js';
import { HELLO } from '../fake-link.js';
import { pinnedHerd } from '../pins/world.js';
import { settled, spec, World } from '../world.js';

const tool = (name: string, description = ''): JsonObject => ({
  name,
  description,
  inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
});

const named = (name: string, changes: Partial<StdioSpec> = {}) => spec({ name, start: 'eager', ...changes });

/** `offered`: the tools of each server; a test changes it. */
async function herdOf(
  offered: Record<string, JsonObject[]>,
  specs = Object.keys(offered).map((name) => named(name)),
  options: (world: World) => Partial<HerdOptions> = () => ({}),
) {
  const world = new World();
  world.behaviour = ({ name }) => ({
    opens: true,
    answers: true,
    lists: {
      get 'tools/list'() {
        return offered[name] ?? [];
      },
    },
  });
  const herd = world.herd(options(world));
  herd.apply(specs);
  for (let turn = 0; turn < 5; turn += 1) await settled();
  /** The server sends list_changed, and its list is read. */
  const announces = async (server: string) => {
    world.alive.find((link) => link.spec.name === server)!.says('notifications/tools/list_changed');
    await world.passes(2000);
  };
  return { world, herd, announces };
}

const find = async (herd: Herd, query: string, server?: string) =>
  (await herd.view.search.search({ query, server })).tools.map(({ exposed_name }) => exposed_name);

const FILES = [tool('read_file', 'Reads a file. At once.'), tool('delete_file', 'Deletes a file.')];
const MAIL = [tool('send_mail', 'Sends a mail.')];

describe('the search of a view', () => {
  test('answers with the public name, the signature and the first sentence of each tool, the best first', async () => {
    const { herd } = await herdOf({ files: FILES, post: MAIL });
    const { tools, missing, hints } = await herd.view.search.search({ query: 'read a file', limit: 1 });
    expect(tools).toEqual([
      {
        server: 'files',
        name: 'read_file',
        exposed_name: 'files__read_file',
        signature: 'read_file(path: string)',
        description: 'Reads a file.',
        score: expect.any(Number),
      },
    ]);
    expect([missing, hints]).toEqual([[], []]);
    const dashed = await herd.view.search.search({ query: 'read a file', limit: 1 }, '-');
    expect(dashed.tools[0]?.exposed_name).toBe('files-read_file');
  });

  test('follows list_changed', async () => {
    const offered: Record<string, JsonObject[]> = { files: FILES, post: MAIL };
    const { herd, announces } = await herdOf(offered);
    expect(await find(herd, 'delete')).toEqual(['files__delete_file']);
    offered.files = [tool('rename_file')];
    await announces('files');
    expect(await find(herd, 'delete')).toEqual([]);
    expect(await find(herd, 'rename')).toEqual(['files__rename_file']);
    expect(await find(herd, 'mail')).toEqual(['post__send_mail']);
  });

  test('finds the tools of a list that was read again and is the same', async () => {
    const offered: Record<string, JsonObject[]> = { files: FILES };
    const { herd, announces } = await herdOf(offered);
    expect(herd.view.catalog.publicNames('tools').all).toHaveLength(2);
    offered.files = structuredClone(FILES);
    await announces('files');
    expect(await find(herd, 'delete')).toEqual(['files__delete_file']);
  });

  test('is made for an agent that will search, and follows the lists before the next search', async () => {
    const indexed = vi.spyOn(ToolIndex.prototype, 'add');
    try {
      const offered: Record<string, JsonObject[]> = { files: FILES, post: MAIL };
      const { herd, announces } = await herdOf(offered);
      await announces('files');
      expect(indexed).toHaveBeenCalledTimes(0);
      herd.view.search.prepare();
      await until(() => indexed.mock.calls.length === 3);
      offered.files = [tool('rename_file')];
      await announces('files');
      await until(() => indexed.mock.calls.length === 4);
      expect(await find(herd, 'rename')).toEqual(['files__rename_file']);
      expect(indexed).toHaveBeenCalledTimes(4);
    } finally {
      indexed.mockRestore();
    }
  });

  test('follows a reload', async () => {
    const { herd } = await herdOf({ files: FILES, post: MAIL });
    expect(await find(herd, 'mail')).toEqual(['post__send_mail']);
    herd.apply([named('files')]);
    expect(await find(herd, 'mail')).toEqual([]);
    expect(await find(herd, 'delete')).toEqual(['files__delete_file']);
  });

  test('never finds a tool that the config hides, and says that it hides some', async () => {
    const hiding = named('files', { tools: { allow: ['*'], deny: ['delete*'] } });
    const { herd } = await herdOf({ files: FILES, post: MAIL }, [hiding, named('post')]);
    const { tools, hints } = await herd.view.search.search({ query: 'delete' });
    expect(tools).toEqual([]);
    expect(hints.join('\n')).toContain('the config hides tools of files (tools.allow, tools.deny)');
  });

  test('never finds a tool that its pin blocks, finds it again when it is accepted', async () => {
    const { herd, world, offers, announces, call } = pinnedHerd('enforce');
    await call('a');
    await world.passes(2000);
    expect(await find(herd, 'what does a do')).toContain('srv__a');
    offers([{ name: 'a', description: 'what a does now', inputSchema: {} }]);
    await announces();
    expect(herd.view.pins({}).servers[0]?.tools).toMatchObject([{ tool: 'a', blocked: true }, { tool: 'b' }]);
    const { tools, hints } = await herd.view.search.search({ query: 'a' });
    expect(tools).toEqual([]);
    expect(hints).toEqual([
      'there are no tools to search',
      'pins block 1 of 1 tools, which changed; see "toolherd pins"',
    ]);
    herd.view.pins({ server: 'srv', accept: true });
    expect(await find(herd, 'what does a do now')).toEqual(['srv__a']);
  });

  test('finds tools of the cache while their server is at rest, and starts none', async () => {
    const world = new World();
    const catalogs: Pick<CatalogStore, 'load' | 'save' | 'prune'> = {
      load: () => ({ ...NO_LISTS, tools: FILES }),
      save: () => {},
      prune: async () => {},
    };
    const herd = world.herd({ catalogs: catalogs as CatalogStore });
    herd.apply([named('cold', { start: 'lazy' })]);
    expect(await find(herd, 'remove a document')).toEqual(['cold__delete_file', 'cold__read_file']);
    expect(world.links).toEqual([]);
  });

  test('does not find the servers of another view', async () => {
    const { herd } = await herdOf({ files: FILES, post: MAIL }, [named('files')]);
    const other = herd.open('/red/agent.yaml', [named('post')]);
    for (let turn = 0; turn < 5; turn += 1) await settled();
    expect(await find(herd, 'mail')).toEqual([]);
    const foundThere = async (query: string) =>
      (await other.search.search({ query })).tools.map(({ name }) => name);
    expect([await foundThere('file'), await foundThere('mail')]).toEqual([[], ['send_mail']]);
  });

  test('finds only tools of the named server; an unknown server is an error', async () => {
    const { herd } = await herdOf({ files: FILES, more: FILES });
    expect(await find(herd, 'read', 'more')).toEqual(['more__read_file']);
    await expect(find(herd, 'read', 'absent')).rejects.toThrow('absent');
  });

  test('names similar words and servers whose lists are missing when it finds nothing', async () => {
    const { herd, world } = await herdOf({ files: FILES });
    expect((await herd.view.search.search({ query: 'delte' })).hints).toEqual([
      'none of 2 tools has a word of the query',
      'words of tools that are similar: delete',
    ]);
    world.behaviour = () => ({});
    herd.apply([named('files'), named('slow')]);
    const searching = herd.view.search.search({ query: 'mail' });
    await world.passes(2000);
    expect(await searching).toMatchObject({
      tools: [],
      missing: [{ server: 'slow', list: 'tools', reason: expect.stringContaining('starting') }],
      hints: ['none of 2 tools has a word of the query'],
    });
  });

  test('prefers of equal tools the one that was called', async () => {
    const { herd } = await herdOf({ one: [tool('ping')], two: [tool('ping')] });
    expect(await find(herd, 'ping')).toEqual(['one__ping', 'two__ping']);
    await herd.view.calls.call({ server: 'two', tool: 'ping' });
    expect(await find(herd, 'ping')).toEqual(['two__ping', 'one__ping']);
  });

  test('knows the instructions of a server', async () => {
    const world = new World();
    world.behaviour = () => ({ lists: { 'tools/list': [tool('ask')] } });
    const herd = world.herd();
    herd.apply([named('sea')]);
    await settled();
    world.newest.opens({ ...HELLO, instructions: 'Knows all about whales.' });
    for (let turn = 0; turn < 5; turn += 1) await settled();
    expect(await find(herd, 'whale')).toEqual(['sea__ask']);
    void herd.view.order('restart', { servers: ['sea'] });
    for (let turn = 0; turn < 5; turn += 1) await settled();
    world.links[0]!.isBuried();
    for (let turn = 0; turn < 5; turn += 1) await settled();
    world.newest.opens({ ...HELLO, instructions: 'Knows all about sharks.' });
    for (let turn = 0; turn < 5; turn += 1) await settled();
    expect([await find(herd, 'shark'), await find(herd, 'whale')]).toEqual([['sea__ask'], []]);
  });

  test('finds at most a hundred tools, however many the caller wants', async () => {
    const many = Array.from({ length: 150 }, (_, at) => tool(`list_${at}`, 'Lists things.'));
    const { herd } = await herdOf({ big: many });
    expect((await herd.view.search.search({ query: 'things', limit: 1_000_000 })).tools).toHaveLength(100);
  });

  test.each([
    ['  ?! ', 'the query has no words'],
    ['the of and', 'the query has only words that the search leaves out'],
  ])('says of the query %j: %s', async (query, hint) => {
    const { herd } = await herdOf({ files: FILES });
    expect((await herd.view.search.search({ query })).hints).toEqual([hint]);
  });

  test('lets other work pass while it reads many new tools; two searches at once get the same answer', async () => {
    const many = Array.from({ length: 300 }, (_, at) => tool(`tool_${at}`, `Does thing number ${at}.`));
    let looks = 0;
    const { herd } = await herdOf({ big: many }, undefined, ({ clock }) => ({
      clock: {
        // each look at the clock takes a millisecond
        now: () => clock.now() + looks++,
        setTimeout: (fire, ms) => clock.setTimeout(fire, ms),
        clearTimeout: (timer) => clock.clearTimeout(timer as number),
      },
    }));
    let turns = 0;
    const counter = setInterval(() => (turns += 1), 0);
    const searches = await Promise.all([find(herd, 'thing 77'), find(herd, 'thing 77')]);
    clearInterval(counter);
    expect(turns).toBeGreaterThan(1);
    expect(searches[0]).toContain('big__tool_77');
    expect(searches[1]).toEqual(searches[0]);
  });
});
