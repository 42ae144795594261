import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeProject } from '../../../daemon/views/support.js';
import { command, config, server } from '../../../faults/config.js';
import { makeFolder } from '../../../support/folder.js';
import { startHerd, until } from '../../../support/herd.js';
import { share } from '../../../support/share.js';
import { AGENTS, type Agent, agent2025, textOf } from './clients.js';

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

  it('lists by a glob of `always` no tools of a server whose name only begins like it', async () => {
    const surface = { mode: 'search', always: ['good.e*'] };
    const { home } = await startHerd(
      config([server('good', 'good.mjs'), server('good.else', 'good.mjs')], { surface }),
    );
    const agent = await agent2025(home);
    expect(namesOf(await agent.tools())).toEqual([...OWN, 'good__echo', 'good__env', 'good__exit']);
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

  it.each(AGENTS)(
    'finds, describes and calls tools of one server that have the names of toolherd: %s',
    async (_, attach) => {
      const tools = [...OWN, 'plain'].map((name) => ({
        name,
        description: `The ${name} of a server.`,
        inputSchema: { type: 'object' },
      }));
      const folder = makeFolder({ tools: JSON.stringify(tools), ran: '' });
      const args = [join(folder, 'tools'), join(folder, 'ran')];
      const { home } = await startHerd(config([server('shadow', 'changes.mjs', { args })]));
      const ran = () => readFileSync(args[1]!, 'utf8').split('\n').slice(0, -1);
      const agent = await attach(home, '--server', 'shadow', '--surface', 'search');
      expect(namesOf(await agent.tools())).toEqual(OWN);
      const found = textOf(await agent.call('search_tools', { query: 'of a server', limit: 10 })).split('\n');
      expect(found).toContain('search_tools() [only through call_tool]: The search_tools of a server.');
      expect(found).toContain('plain(): The plain of a server.');
      const described = textOf(await agent.call('describe_tools', { names: ['call_tool'] }));
      expect(JSON.parse(described)).toMatchObject({ description: 'The call_tool of a server.' });
      for (const name of OWN)
        expect(textOf(await agent.call('call_tool', { name, arguments: {} }))).toBe('done');
      expect(ran()).toEqual(OWN);
      // where all tools are listed, the names are those of the server
      const all = await attach(home, '--server', 'shadow', '--surface', 'all');
      expect(namesOf(await all.tools())).toEqual([...OWN, 'plain']);
      expect(textOf(await all.call('search_tools'))).toBe('done');
    },
  );

  it('finds a tool with a parenthesis in its name by a name that it can call', async () => {
    const tools = [{ name: 'rows(all)', description: 'Rows.', inputSchema: { type: 'object' } }];
    const folder = makeFolder({ tools: JSON.stringify(tools), ran: '' });
    const args = [join(folder, 'tools'), join(folder, 'ran')];
    const { home } = await startHerd(config([server('odd', 'changes.mjs', { args })]));
    const agent = await agent2025(home, '--surface', 'search');
    const [, name = ''] =
      /^(.*)\(\): Rows\.$/.exec(textOf(await agent.call('search_tools', { query: 'rows' }))) ?? [];
    expect(textOf(await agent.call('call_tool', { name }))).toBe('done');
  });

  it('reads why a search found nothing: servers that are quarantined or disabled, and similar words', async () => {
    const { home } = await startHerd(
      config([
        server('good', 'good.mjs'),
        command('dies', '/nowhere/server', []),
        server('off', 'offers.mjs', { enabled: false }),
      ]),
    );
    const agent = await agent2025(home, '--surface', 'search');
    const said = textOf(await agent.call('search_tools', { query: 'ecko' })).split('\n');
    expect(said).toEqual([
      'Nothing was found.',
      expect.stringMatching(/^- none of \d+ tools has a word of the query$/),
      '- words of tools that are similar: echo',
      '- servers that cannot run were not searched: off (disabled)',
      expect.stringMatching(/^Not up to date: dies: it is quarantined: .*does not exist/),
    ]);
  });

  it('is told to call a tool of toolherd directly where it calls it through call_tool', async () => {
    const { home } = await startHerd(config([server('good', 'good.mjs')]));
    const agent = await agent2025(home, '--surface', 'search');
    const { isError, content } = await agent.call('call_tool', {
      name: 'search_tools',
      arguments: { query: 'echo' },
    });
    expect([isError, content[0]?.text]).toEqual([true, expect.stringContaining('call it directly')]);
  });

  it.each(AGENTS)('neither finds nor calls a tool that its pin blocks: %s', async (_, attach) => {
    const tool = (name: string, description: string) => ({
      name,
      description,
      inputSchema: { type: 'object' },
    });
    const folder = makeFolder({
      tools: JSON.stringify([tool('pay', 'Pays.'), tool('look', 'Looks.')]),
      ran: '',
    });
    const args = [join(folder, 'tools'), join(folder, 'ran')];
    const text = config([server('shop', 'changes.mjs', { args })]);
    const { home, fleet } = await startHerd(text.replace('security: {', 'security: {pin: enforce, '));
    await fleet.start({ all: true }, true);
    const agent = await attach(home, '--surface', 'search');
    const find = async () => textOf(await agent.call('search_tools', { query: 'pay' }));
    const pay = () => agent.call('call_tool', { name: 'shop__pay', arguments: {} });
    expect(await find()).toContain('shop__pay(');
    expect(textOf(await pay())).toBe('done');
    writeFileSync(args[0]!, JSON.stringify([tool('pay', 'Pays me instead.'), tool('look', 'Looks.')]));
    await fleet.restart({ all: true }, true);
    expect(await find()).not.toContain('shop__pay(');
    expect(await find()).toContain('pins block 1 of 2 tools');
    expect(textOf(await agent.call('describe_tools', { names: ['shop__pay'] }))).toContain(
      'cannot be called',
    );
    expect([(await pay()).isError, (await agent.call('shop__pay')).isError]).toEqual([true, true]);
    expect(readFileSync(args[1]!, 'utf8')).toBe('pay\n');
    await fleet.pins({ accept: true });
    expect(await find()).toContain('shop__pay(');
    expect(textOf(await pay())).toBe('done');
  });

  it('neither finds nor calls tools of an agent file that is not allowed', async () => {
    const { home } = await startHerd(config([server('good', 'good.mjs')]));
    const project = makeProject(home, 'shop', [server('till', 'good.mjs')]);
    const inProject = { ...home, folder: project.folder };
    const stranger = await agent2025(inProject, '--surface', 'search');
    const find = async (agent: Agent) => textOf(await agent.call('search_tools', { query: 'till echo' }));
    const ring = (agent: Agent) =>
      agent.call('call_tool', { name: 'till__echo', arguments: { value: 'ring' } });
    expect(await find(stranger)).not.toContain('till');
    await expect(ring(stranger)).rejects.toThrow("no server has a tool 'till__echo'");
    await project.allow();
    const friend = await agent2025(inProject, '--surface', 'search');
    expect(await find(friend)).toContain('till__echo(');
    expect(textOf(await ring(friend))).toBe('ring');
    // an agent without the file still does not have its servers
    expect(await find(stranger)).not.toContain('till');
    await expect(ring(stranger)).rejects.toThrow("no server has a tool 'till__echo'");
  });

  it('keeps its tools when it calls before it lists, as after a new daemon', async () => {
    const { home } = await startHerd(config([server('good', 'good.mjs')]));
    const agent = await agent2025(home);
    const called = await agent.call('call_tool', { name: 'good__echo', arguments: { value: 'hi' } });
    expect(textOf(called)).toBe('hi');
    expect(namesOf(await agent.tools())).toEqual(OWN);
  });

  it('is told by describe_tools what to do about a name that no tool has', async () => {
    const { home } = await startHerd(config([server('good', 'good.mjs')]));
    const agent = await agent2025(home);
    const described = textOf(await agent.call('describe_tools', { names: ['good__ecko', 'weather'] }));
    expect(described.split('\n')).toEqual([
      "good__ecko: no tool has this name; did you mean 'good__echo'?",
      'weather: no tool has this name; find one with search_tools',
    ]);
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
