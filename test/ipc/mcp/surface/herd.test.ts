import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { config, server } from '../../../faults/config.js';
import { startHerd, until } from '../../../support/herd.js';
import { share } from '../../../support/share.js';
import { AGENTS, agent2025, textOf } from './clients.js';

const OWN = ['search_tools', 'describe_tools', 'call_tool', 'read_result'];
const REAL = JSON.parse(
  readFileSync(join(import.meta.dirname, '..', '..', '..', '..', 'bench', 'search', 'servers.json'), 'utf8'),
) as { servers: { name: string; tools: unknown[] }[] };

const tokens = (value: unknown) => Math.ceil(JSON.stringify(value).length / 4);
const namesOf = (tools: readonly { name: string }[]) => tools.map(({ name }) => name);

describe('a herd with the tools of nineteen real servers', () => {
  const herd = share(() =>
    startHerd(
      config(REAL.servers.map(({ name }) => server(name, 'catalogued.mjs', { args: [name], start: 'lazy' }))),
    ),
  );

  it.each(AGENTS)('has a client of %s search by default, find a tool and call it', async (_, attach) => {
    const agent = await attach(herd().home);
    expect(namesOf(await agent.tools())).toEqual(OWN);
    const found = textOf(
      await agent.call('search_tools', { query: 'create a new issue in a github repository' }),
    );
    expect(found.split('\n')[0]).toMatch(/^github__create_issue\(owner: string, .*\): Create a new issue/);
    const described = textOf(await agent.call('describe_tools', { names: ['github__create_issue'] }));
    expect(JSON.parse(described)).toMatchObject({
      name: 'github__create_issue',
      inputSchema: { type: 'object', required: expect.arrayContaining(['owner', 'repo', 'title']) },
    });
    const args = { owner: 'me', repo: 'shop', title: 'It is broken' };
    const called = await agent.call('call_tool', { name: 'github__create_issue', arguments: args });
    expect(JSON.parse(textOf(called))).toEqual({ tool: 'create_issue', arguments: args });
  });

  it.each(AGENTS)('costs a client of %s at most 1,000 tokens before its task', async (_, attach) => {
    const agent = await attach(herd().home);
    const tools = await agent.tools();
    expect(tokens(tools) + tokens(agent.instructions() ?? '')).toBeLessThanOrEqual(1000);
    const all = await attach(herd().home, '--surface', 'all');
    expect(tokens(await all.tools())).toBeGreaterThan(50_000);
  });

  it('finds tools of one server only where it is named', async () => {
    const agent = await agent2025(herd().home);
    const found = textOf(
      await agent.call('search_tools', { query: 'list files', server: 'filesystem', limit: 3 }),
    );
    const lines = found.split('\n');
    expect(lines.length).toBeLessThanOrEqual(3);
    expect(lines.every((line) => line.startsWith('filesystem__'))).toBe(true);
  });

  it('says why a search found nothing, with words of tools that are similar', async () => {
    const agent = await agent2025(herd().home);
    const found = textOf(await agent.call('search_tools', { query: 'screenshoot' }));
    expect(found).toContain('Nothing was found.');
    expect(found).toContain('screenshot');
  });

  it('has one line a server in the instructions of search, and a section in those of all', async () => {
    const search = (await agent2025(herd().home)).instructions() ?? '';
    expect(search).toMatch(/^- context7: \S/m);
    expect(search).toMatch(/^- also: .*filesystem/m);
    const all = (await agent2025(herd().home, '--surface', 'all')).instructions() ?? '';
    expect(all).toMatch(/^# context7\n\n\S/m);
    const alone = (await agent2025(herd().home, '--server', 'context7')).instructions();
    expect(all).toContain(alone);
  });
});

describe('an agent in search mode', () => {
  it.each(AGENTS)('lists the same before and after the list of a server changed: %s', async (_, attach) => {
    const { home, fleet } = await startHerd(
      config([server('lawful', 'lawful.mjs'), server('b', 'changes.mjs')]),
    );
    const agent = await attach(home, '--surface', 'search');
    const before = await agent.tools();
    expect(namesOf(before)).toEqual(OWN);
    home.configure(config([server('lawful', 'lawful.mjs'), server('more', 'good.mjs')]));
    await until(async () => (await fleet.tools()).tools.some(({ server: one }) => one === 'more'));
    expect(JSON.stringify(await agent.tools())).toBe(JSON.stringify(before));
    expect(textOf(await agent.call('search_tools', { query: 'echo' }))).toContain('more__echo');
    expect(agent.changes()).toBe(0);
  });

  it('lists the tools that `always` names too, and gets list_changed for them', async () => {
    const surface = { mode: 'search', always: ['good.e*', 'lawful.nothing'] };
    const { home } = await startHerd(
      config([server('good', 'good.mjs'), server('lawful', 'lawful.mjs')], { surface }),
    );
    const agent = await agent2025(home);
    expect(namesOf(await agent.tools())).toEqual([...OWN, 'good__echo', 'good__env', 'good__exit']);
    home.configure(config([server('good', 'good.mjs'), server('more', 'good.mjs')], { surface }));
    await until(() => agent.changes() > 0);
  });

  it('prefers the tools of toolherd; a tool of the same name is called through call_tool', async () => {
    const { home } = await startHerd(config([server('search', 'shadow.mjs')]));
    const agent = await agent2025(home, '--separator', '_', '--surface', 'search');
    await agent.tools();
    expect(textOf(await agent.call('search_tools', { query: 'tools' }))).toContain('search_tools(');
    const called = await agent.call('call_tool', { name: 'search_tools', arguments: {} });
    expect(textOf(called)).toBe('the shadow');
    const all = await agent2025(home, '--separator', '_', '--surface', 'all');
    expect(textOf(await all.call('search_tools'))).toBe('the shadow');
    // nothing was listed, so nothing is decided: the server's tool is the only one of this name that exists
    const auto = await agent2025(home, '--separator', '_');
    expect(textOf(await auto.call('search_tools'))).toBe('the shadow');
  });

  it('keeps its tools when it calls before it lists, as after a new daemon', async () => {
    const { home } = await startHerd(config([server('good', 'good.mjs')]));
    const agent = await agent2025(home);
    const called = await agent.call('call_tool', { name: 'good__echo', arguments: { value: 'hi' } });
    expect(textOf(called)).toBe('hi');
    expect(namesOf(await agent.tools())).toEqual(OWN);
  });

  it('gets a result that says what is wrong with a question', async () => {
    const { home } = await startHerd(config([server('good', 'good.mjs')]));
    const agent = await agent2025(home, '--surface', 'search');
    const wrong = [
      ['search_tools', {}],
      ['describe_tools', { names: 'good__echo' }],
      ['call_tool', { name: 'good__echo', arguments: 'text' }],
      ['call_tool', {}],
      ['read_result', { id: 'x', offset: -1 }],
    ] as const;
    for (const [name, args] of wrong) {
      const { isError, content } = await agent.call(name, args);
      expect([name, isError, content[0]?.text !== '']).toEqual([name, true, true]);
    }
    const unknown = textOf(await agent.call('describe_tools', { names: ['good__ecko'] }));
    expect(unknown).toContain('good__echo');
  });
});

describe('auto', () => {
  const BOTH = [server('lawful', 'lawful.mjs'), server('good', 'good.mjs')];

  it('lists all tools below the threshold, and searches above it', async () => {
    const { home } = await startHerd(config(BOTH, { surface: { above_tokens: 100_000 } }));
    expect(namesOf(await (await agent2025(home)).tools())).toContain('good__echo');
    const { home: other } = await startHerd(config(BOTH, { surface: { above_tokens: 10 } }));
    expect(namesOf(await (await agent2025(other)).tools())).toEqual(OWN);
  });

  it('keeps the kind of the first list while the herd grows; the next connection decides anew', async () => {
    const above = { surface: { above_tokens: 300 } };
    const { home, fleet } = await startHerd(config([server('good', 'good.mjs')], above));
    const agent = await agent2025(home);
    expect(namesOf(await agent.tools())).toContain('good__echo');
    home.configure(config(BOTH, above));
    await until(async () => (await fleet.tools()).tools.some(({ server: one }) => one === 'lawful'));
    const later = namesOf(await agent.tools());
    expect(later).toContain('lawful__echo');
    expect(later).not.toContain('search_tools');
    expect(namesOf(await (await agent2025(home)).tools())).toEqual(OWN);
  });
});
