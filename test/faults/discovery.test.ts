import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { CatalogEvent } from '../../src/fleet/fleet.js';
import { type ConnectedFleet, connectFleet as connect } from '../../src/library/connect-fleet.js';
import { type Herd, isAlive, makeHome, startHerd, until } from '../support/herd.js';
import { config, server } from './config.js';
import { measured } from './measured.js';

const offers = (fields: Record<string, unknown> = {}) => config([server('offers', 'offers.mjs', fields)]);

/** Catalog events from now on; the subscription is in place when this resolves. */
async function listen(fleet: ConnectedFleet): Promise<CatalogEvent[]> {
  const events: CatalogEvent[] = [];
  fleet.subscribe(['catalog'], (event) => event.topic === 'catalog' && events.push(event));
  await fleet.status([]);
  return events;
}

const readsOf = async ({ say }: Herd) => JSON.parse(await say('offers', 'reads'));

describe('the lists of a server', () => {
  test('SC-008 FR-013 US4.1 U7: have a thousand tools of a hundred pages, the bad one marked', async () => {
    const { fleet, say, status } = await startHerd(offers({ args: ['1000'] }));
    const { tools } = await fleet.tools('offers');
    expect(new Set(tools.map(({ name }) => name)).size).toBe(1000);
    expect(tools.filter(({ problem }) => problem !== undefined)).toMatchObject([
      {
        name: 'tool-500',
        problem: 'its inputSchema cannot be compiled: properties is no object',
        input_schema: { type: 'object', properties: 7 },
      },
    ]);
    expect(await say('offers', 'echo', { value: 'hi' })).toBe('hi');
    expect(await status('offers')).toMatchObject({ tools: 1000, prompts: 2, resources: 2 });
    measured(`U7: ${tools.length} tools listed, 1 marked`);
  });

  test('FR-014 US4.2: have prompts, resources and templates with all fields of their server', async () => {
    const { fleet } = await startHerd(offers());
    expect((await fleet.prompts()).prompts).toMatchObject([
      {
        server: 'offers',
        name: 'greet',
        exposed_name: 'offers__greet',
        description: 'Says hello',
        arguments: [{ name: 'who', required: true }],
      },
      { name: 'wait', description: null, arguments: [] },
    ]);
    expect(await fleet.resources('offers')).toEqual({
      resources: [
        {
          server: 'offers',
          uri: 'note://hello',
          name: 'hello',
          description: null,
          mime_type: 'text/plain',
        },
        { server: 'offers', uri: 'image://dot', name: 'dot', description: 'A dot', mime_type: 'image/png' },
      ],
      templates: [
        {
          server: 'offers',
          uri_template: 'note://{name}',
          name: 'notes',
          description: null,
          mime_type: null,
        },
      ],
      missing: [],
    });
  });

  test('FR-015 US4.3: lead to a tool by its own or its public name, also before they are known', async () => {
    const { say, fleet } = await startHerd(offers());
    expect(await say('offers', 'offers__say-it', { value: 'one' })).toBe('one');
    expect(await say('offers', 'say it', { value: 'two' })).toBe('two');
    expect((await fleet.call({ server: 'offers', tool: 'offers__say-at' })).error).toMatchObject({
      type: 'MCPToolNotFoundError',
    });
    expect((await fleet.prompt({ server: 'offers', name: 'offers__greet' })).messages).toHaveLength(1);
  });
});

describe('FR-016 US4.4 U7: a server that sends list_changed', () => {
  test('is asked for that list only, and subscribers get the difference', async () => {
    const herd = await startHerd(offers());
    const { fleet, say } = herd;
    await fleet.tools();
    const before = await readsOf(herd);
    const events = await listen(fleet);
    await say('offers', 'add', { name: 'fresh' });
    await until(() => events.length === 1);
    expect(events[0]).toMatchObject({
      topic: 'catalog',
      server: 'offers',
      list: 'tools',
      count: 7,
      added: ['fresh'],
      removed: [],
      changed: [],
    });
    expect(await readsOf(herd)).toEqual({ ...before, tools: before.tools + 1 });
    await say('offers', 'remove', { name: 'echo' });
    await say('offers', 'add', { name: 'extra', list: 'prompts' });
    await say('offers', 'add', { name: 'note://new', list: 'resources' });
    await until(() => events.length === 4);
    expect(events.slice(1).map(({ list, added, removed }) => [list, added, removed])).toEqual([
      ['tools', [], ['echo']],
      ['prompts', ['extra'], []],
      ['resources', ['note://new'], []],
    ]);
    expect((await fleet.tools()).tools.map(({ name }) => name)).toContain('fresh');
    expect((await fleet.call({ server: 'offers', tool: 'echo' })).error?.type).toBe('MCPToolNotFoundError');
  });

  test('ten thousand times is asked a few times, and an unchanged list causes no event', async () => {
    const herd = await startHerd(offers());
    await herd.fleet.tools();
    const events = await listen(herd.fleet);
    await herd.say('offers', 'storm', { times: 10_000 });
    const { tools } = await until(async () => {
      const reads = await readsOf(herd);
      return reads.tools > 1 && reads;
    });
    // one reading a second, for as long as the storm lasts
    expect(tools).toBeLessThan(20);
    expect(events).toEqual([]);
  });
});

describe('a server that does not run', () => {
  test('has cached lists that are shown without a start, also by the next daemon', async () => {
    const home = makeHome(offers({ env: { TOKEN: 'hunter2-secret' } }));
    const first = await home.start();
    const before = await connect({ socket: home.socket });
    const { tools } = await before.tools('offers');
    before.close();
    first.kill('SIGTERM');
    await until(() => !isAlive(first.pid));
    await home.start();
    const fleet = await connect({ socket: home.socket });
    const status = async () => (await fleet.status()).servers[0];
    expect((await fleet.tools('offers')).tools).toEqual(tools.map((tool) => ({ ...tool, cached: true })));
    expect((await fleet.resources()).templates).toMatchObject([{ name: 'notes', cached: true }]);
    expect(await status()).toMatchObject({ state: 'created', pids: [], tools: 6, prompts: 2 });
    const events = await listen(fleet);
    expect((await fleet.tools('offers', true)).tools).toEqual(tools);
    expect(await status()).toMatchObject({ state: 'connected', incarnation: 1 });
    expect(events).toEqual([]);
    const [file = ''] = readdirSync(join(home.folder, 'cache', 'catalogs'));
    expect(readFileSync(join(home.folder, 'cache', 'catalogs', file), 'utf8')).not.toContain('hunter2');
    fleet.close();
  });

  test('is started to look for a tool that its cached list lacks, before the call is refused', async () => {
    const home = makeHome(offers());
    const first = await home.start();
    const before = await connect({ socket: home.socket });
    await before.tools('offers');
    before.close();
    first.kill('SIGTERM');
    await until(() => !isAlive(first.pid));
    await home.start();
    const fleet = await connect({ socket: home.socket });
    const { error } = await fleet.call({ server: 'offers', tool: 'ecko' });
    expect(error).toMatchObject({ type: 'MCPToolNotFoundError', fix: "did you mean 'echo'?", sent: false });
    expect((await fleet.status()).servers[0]).toMatchObject({ incarnation: 1 });
    fleet.close();
  });
});

describe('a prompt and a resource', () => {
  test('start a lazy server, and have the result of the server unchanged', async () => {
    const { fleet } = await startHerd(offers());
    const prompt = { server: 'offers', name: 'greet', arguments: { who: 'you' } };
    expect(await fleet.prompt(prompt)).toEqual({
      description: 'Says hello',
      messages: [{ role: 'user', content: { type: 'text', text: 'Hello you!' } }],
      _meta: { kept: true },
    });
    expect(await fleet.resource({ server: 'offers', uri: 'note://hello' })).toEqual({
      contents: [{ uri: 'note://hello', mimeType: 'text/plain', text: 'a note of hello\u0007' }],
    });
  });

  test('fail with a typed error, with a suggestion for a similar name', async () => {
    const { fleet } = await startHerd(offers());
    await fleet.tools();
    await expect(fleet.prompt({ server: 'offers', name: 'great' })).rejects.toMatchObject({
      type: 'MCPPromptNotFoundError',
      fix: "did you mean 'greet'?",
      sent: false,
    });
    await expect(fleet.resource({ server: 'offers', uri: 'image://dott' })).rejects.toMatchObject({
      type: 'MCPResourceNotFoundError',
      why: 'the server said: Resource not found',
      fix: "did you mean 'image://dot'?",
      sent: true,
    });
    await expect(fleet.resource({ server: 'offer', uri: 'x' })).rejects.toMatchObject({
      type: 'ServerNotFoundError',
      fix: "did you mean 'offers'?",
    });
    await fleet.stop({ servers: ['offers'] }, true);
    await expect(fleet.prompt({ server: 'offers', name: 'greet' })).rejects.toMatchObject({
      type: 'ServerUnavailableError',
      fix: 'toolherd start offers',
    });
  });

  test('can time out and be cancelled, as calls can', async () => {
    const { fleet, status } = await startHerd(offers());
    await fleet.tools();
    await expect(
      fleet.resource({ server: 'offers', uri: 'note://wait', timeout_ms: 100 }),
    ).rejects.toMatchObject({ type: 'MCPTimeoutError', sent: true });
    const abort = new AbortController();
    const waiting = fleet.prompt({ server: 'offers', name: 'wait' }, { signal: abort.signal });
    await until(async () => (await status('offers')).in_flight === 1);
    abort.abort();
    await expect(waiting).rejects.toMatchObject({ type: 'CancelledError' });
    expect(await status('offers')).toMatchObject({ in_flight: 0, state: 'connected' });
  });
});
