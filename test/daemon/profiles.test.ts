import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CallEvent } from '../../src/fleet/fleet.js';
import { connectFleet } from '../../src/library/connect-fleet.js';
import { config, server } from '../faults/config.js';
import { HttpClient } from '../ipc/http/support.js';
import { type Line, LineClient, namesOf, textOf } from '../ipc/mcp/support.js';
import { startBridge } from '../support/bridge.js';
import { toolherd } from '../support/command.js';
import { type Herd, type Home, startHerd, until } from '../support/herd.js';
import { makeProject } from './views/support.js';

const SERVERS = [server('one', 'offers.mjs'), server('two', 'offers.mjs'), server('typed', 'typed.mjs')];

const PROFILES = {
  red: {
    servers: ['one', 'typed'],
    tools: ['one.echo', 'one.add', 'typed.order'],
    rename: { 'one.echo': 'speak' },
    describe: { 'one.echo': 'Says a word again.' },
    defaults: { 'typed.order': { item: 'tea', size: 'large' } },
  },
  blue: { tools: ['two.echo'] },
};

const withProfiles = (profiles: unknown, daemon = {}) =>
  `${config(SERVERS, daemon)}profiles: ${JSON.stringify(profiles)}\n`;

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'modern', version: '2' },
};

async function agentOf({ home }: Pick<Herd, 'home'>, profile: string, more = {}): Promise<LineClient> {
  const client = new LineClient(home.socket);
  await client.hello();
  const { error, result } = await client.ask('profile', 'fleet/hello', { profile, ...more });
  expect(error).toBeUndefined();
  expect(result?.profile).toBe(profile);
  return client;
}

let asked = 0;
const ask = (client: LineClient, method: string, params: Record<string, unknown> = {}): Promise<Line> => {
  asked += 1;
  return client.ask(`ask ${asked}`, method, params);
};

const listed = async (client: LineClient) => namesOf((await ask(client, 'tools/list')).result?.tools).sort();
const call = (client: LineClient, name: string, args = {}) =>
  ask(client, 'tools/call', { name, arguments: args });

/** A call that no server got: an error, or a result that says so. */
function refusal({ error, result }: Line): string {
  if (error !== undefined) return error.message;
  expect(result?.isError).toBe(true);
  return JSON.stringify(result?.content);
}

function recordsOf({ folder }: Home): CallEvent[] {
  const file = join(folder, 'state', 'logs', 'audit.log');
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

describe('two agents with two profiles', () => {
  it('see and call only what theirs has, by every way of the socket', async () => {
    const herd = await startHerd(withProfiles(PROFILES));
    const [red, blue] = [await agentOf(herd, 'red'), await agentOf(herd, 'blue')];
    expect(await listed(red)).toEqual(['one__add', 'speak', 'typed__order']);
    expect(await listed(blue)).toEqual(['two__echo']);
    const rows = (await ask(red, 'fleet/tools')).result?.tools as Record<string, unknown>[];
    expect(rows.map(({ server: of, name, exposed_name }) => [of, name, exposed_name])).toEqual([
      ['one', 'echo', 'speak'],
      ['one', 'add', 'one__add'],
      ['typed', 'order', 'typed__order'],
    ]);

    expect(textOf(await call(red, 'speak', { value: 'hi' }))).toBe('hi');
    expect(textOf(await call(blue, 'two__echo', { value: 'ho' }))).toBe('ho');
    for (const name of ['two__echo', 'one__remove', 'one__echo', 'typed__add'])
      expect(refusal(await call(red, name, { name: 'echo' })), name).toContain(name.split('__')[1]);
    for (const name of ['speak', 'one__add', 'two__add']) refusal(await call(blue, name));

    // fleet/*: the server is named
    const refused = { success: false };
    for (const [of, tool] of [
      ['two', 'echo'],
      ['one', 'remove'],
      ['typed', 'add'],
    ]) {
      expect((await ask(red, 'fleet/call', { server: of, tool })).result).toMatchObject(refused);
      const request = { server: of, method: 'tools/call', params: { name: tool } };
      expect((await ask(red, 'fleet/request', request)).error?.message).toMatch(/no server|has no tool/);
      const many = await ask(red, 'fleet/call_many', { calls: [{ server: of, tool }] });
      expect(many.result?.results).toMatchObject([refused]);
    }
    expect(
      (await ask(red, 'fleet/call', { server: 'one', tool: 'speak', arguments: { value: 'x' } })).result,
    ).toMatchObject({
      success: true,
    });
    const everywhere = await ask(red, 'fleet/broadcast', { tool: 'echo', arguments: { value: 'x' } });
    expect(everywhere.result?.results).toMatchObject([{ success: true, metadata: { server: 'one' } }]);
    const nowhere = await ask(blue, 'fleet/broadcast', { tool: 'remove', arguments: {} });
    expect(nowhere.result?.results).toEqual([]);

    // an error names no tool of another profile
    expect(JSON.stringify(await ask(red, 'fleet/call', { server: 'one', tool: 'remov' }))).not.toContain(
      'storm',
    );
    expect(JSON.stringify(await call(red, 'one__remov'))).not.toContain('storm');

    // search
    const found = async (client: LineClient, query: string) =>
      ((await ask(client, 'fleet/search', { query })).result!.tools as { exposed_name: string }[]).map(
        ({ exposed_name }) => exposed_name,
      );
    // a tool has the name that the profile gives, and no other
    expect(await found(red, 'echo')).toEqual([]);
    expect(await found(red, 'speak')).toEqual(['speak']);
    expect(await found(red, 'says a word again')).toContain('speak');
    expect(await found(blue, 'echo')).toEqual(['two__echo']);
    expect(await found(blue, 'remove')).toEqual([]);

    // prompts, resources, completion
    const prompts = namesOf((await ask(blue, 'prompts/list')).result?.prompts);
    expect(prompts).toEqual(['two__greet', 'two__wait']);
    expect((await ask(red, 'prompts/get', { name: 'two__greet' })).error).toBeDefined();
    expect((await ask(red, 'fleet/prompt', { server: 'two', name: 'greet' })).error?.message).toContain(
      "'two'",
    );
    const uri = 'note://hello';
    expect((await ask(blue, 'fleet/resource', { server: 'one', uri })).error?.message).toContain("'one'");
    const resources = (await ask(blue, 'fleet/resources')).result?.resources as { server: string }[];
    expect(new Set(resources.map(({ server: of }) => of))).toEqual(new Set(['two']));
    const ref = { type: 'ref/prompt', name: 'two__greet' };
    const completion = { ref, argument: { name: 'who', value: '' } };
    expect((await ask(red, 'completion/complete', completion)).error).toBeDefined();
    const elsewhere = { server: 'two', method: 'completion/complete', params: completion };
    expect((await ask(red, 'fleet/request', elsewhere)).error?.message).toContain("'two'");
  });

  it('order, inspect and read only servers of theirs', async () => {
    const herd = await startHerd(withProfiles(PROFILES));
    await herd.fleet.start({ all: true }, true);
    const red = await agentOf(herd, 'red');
    for (const method of ['fleet/stop', 'fleet/restart', 'fleet/start', 'fleet/reset'])
      expect((await ask(red, method, { servers: ['two'] })).error?.message).toContain("'two'");
    for (const [method, params] of [
      ['fleet/inspect', { server: 'two' }],
      ['fleet/logs', { server: 'two' }],
      ['fleet/pins', { server: 'two' }],
      ['fleet/status', { servers: ['two'] }],
      ['fleet/register', { name: 'new', description: 'd', server: 'new', command: 'npx' }],
      ['fleet/unregister', { name: 'two' }],
      ['fleet/shutdown', {}],
    ] as const)
      expect((await ask(red, method, params)).error, method).toBeDefined();
    const names = (line: Line) => (line.result!.servers as { name: string }[]).map(({ name }) => name);
    expect(names(await ask(red, 'fleet/status'))).toEqual(['one', 'typed']);
    expect(names(await ask(red, 'fleet/stop', { all: true, wait: true }))).toEqual(['one', 'typed']);
    expect((await herd.status('two')).detail).toBe('running');
    const pins = (await ask(red, 'fleet/pins')).result?.servers as { tools: { tool: string }[] }[];
    expect(pins.flatMap(({ tools }) => tools.map(({ tool }) => tool)).sort()).toEqual([
      'add',
      'echo',
      'order',
    ]);
    const own = (await ask(red, 'fleet/profiles')).result?.profiles as { name: string }[];
    expect(own.map(({ name }) => name)).toEqual(['red']);
  });

  it('get no event about tools or calls of the other', async () => {
    const herd = await startHerd(withProfiles(PROFILES));
    const [red, blue] = [await agentOf(herd, 'red'), await agentOf(herd, 'blue')];
    await listed(red);
    await listed(blue);
    await ask(blue, 'fleet/subscribe', { topics: ['catalog', 'call'] });
    await ask(red, 'fleet/subscribe', { topics: ['catalog', 'call'] });
    await call(red, 'one__add', { name: 'hidden' });
    await call(blue, 'two__echo', { value: 'x' });
    const calls = (client: LineClient) =>
      client.heard('fleet/event').filter(({ params }) => params?.topic === 'call');
    await until(() => calls(blue).length > 0 && calls(red).length > 0);
    await ask(red, 'fleet/tools', { server: 'one', refresh: true });
    expect(calls(blue).map(({ params }) => params?.server)).toEqual(['two']);
    expect(JSON.stringify([red.lines, blue.lines])).not.toContain('"added":["hidden"]');
  });

  it('see only theirs through bridges, also when the daemon restarts, and over HTTP in both eras', async () => {
    const herd = await startHerd(withProfiles(PROFILES));
    const bridge = startBridge(herd.home, { flags: ['--profile', 'red'] });
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 't', version: '1' },
    };
    bridge.say({ id: 'hello', method: 'initialize', params });
    bridge.say({ method: 'notifications/initialized' });
    bridge.say({ id: 'list', method: 'tools/list' });
    expect(namesOf((await bridge.reply('list')).result?.tools).sort()).toEqual([
      'one__add',
      'speak',
      'typed__order',
    ]);
    bridge.say({ id: 'other', method: 'tools/call', params: { name: 'two__echo', arguments: {} } });
    refusal(await bridge.reply('other'));
    const alone = startBridge(herd.home, { flags: ['--profile', 'red', '--server', 'one'] });
    alone.say({ id: 'hello', method: 'initialize', params });
    alone.say({ id: 'list', method: 'tools/list' });
    expect(namesOf((await alone.reply('list')).result?.tools)).toEqual(['speak', 'add']);
    alone.say({ id: 'say', method: 'tools/call', params: { name: 'speak', arguments: { value: 'hi' } } });
    expect(textOf(await alone.reply('say'))).toBe('hi');

    const address = { socketPath: herd.home.socket };
    const http = new HttpClient(address, '/p/blue/mcp');
    await http.initialize();
    expect(namesOf((await http.request('tools/list')).result.tools)).toEqual(['two__echo']);
    refusal(await http.request('tools/call', { name: 'one__add', arguments: {} }));
    expect((await http.request('fleet/tools')).error).toBeDefined();
    // the session of one profile is none of another
    const thief = new HttpClient(address, '/p/red/mcp');
    thief.session = http.session;
    expect((await thief.post({ jsonrpc: '2.0', id: 1, method: 'tools/list' })).status).toBe(404);
    const modern = new HttpClient(address, '/p/red/s/one/mcp');
    const headers = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/list' };
    const list = await modern.post(
      { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: META } },
      headers,
    );
    expect(namesOf(list.json().result.tools)).toEqual(['speak', 'add']);
    const absent = await new HttpClient(address, '/p/rad/mcp').initialize();
    expect([absent.status, absent.text]).toEqual([404, expect.stringContaining("did you mean 'red'?")]);
    const outside = await new HttpClient(address, '/p/red/s/two/mcp').initialize();
    expect(outside.status).toBe(404);
  });
});

describe('a profile', () => {
  it('that does not exist is refused with the similar one and the list', async () => {
    const herd = await startHerd(withProfiles(PROFILES));
    const client = new LineClient(herd.home.socket);
    const { error } = await client.ask('x', 'fleet/hello', { profile: 'bleu' });
    expect(error).toMatchObject({
      message: "no profile is called 'bleu'",
      data: { type: 'ProfileNotFoundError', why: 'there are: red, blue', fix: "did you mean 'blue'?" },
    });
    const { folder: cwd, environment: env } = herd.home;
    const bridge = await toolherd(['bridge', '--profile', 'bleu'], { cwd, env });
    expect([bridge.status, bridge.stderr]).toEqual([4, expect.stringContaining("did you mean 'blue'?")]);
  });

  it('hides the arguments that it fills in, its value wins, and it describes tools in its own words', async () => {
    const herd = await startHerd(withProfiles(PROFILES));
    const red = await agentOf(herd, 'red');
    const tools = (await ask(red, 'tools/list')).result?.tools as Record<string, unknown>[];
    const order = tools.find(({ name }) => name === 'typed__order')?.inputSchema as Record<string, object>;
    expect(Object.keys(order.properties!)).toEqual(['count', 'tags', 'note', 'limit']);
    expect(order).not.toHaveProperty('required');
    expect(tools.find(({ name }) => name === 'speak')).toMatchObject({ description: 'Says a word again.' });
    const filled = { count: 2, item: 'tea', size: 'large' };
    expect(JSON.parse(textOf(await call(red, 'typed__order', { count: 2 })))).toEqual(filled);
    const tried = { count: 2, item: 'coffee' };
    expect(JSON.parse(textOf(await call(red, 'typed__order', tried)))).toEqual(filled);
    const scripted = await ask(red, 'fleet/call', { server: 'typed', tool: 'order', arguments: tried });
    expect(JSON.stringify(scripted.result)).toContain('tea');
    expect(await herd.say('typed', 'order', tried)).toContain('coffee');
  });

  it('fills in arguments whatever the caller sends in their place', async () => {
    const herd = await startHerd(withProfiles(PROFILES));
    const red = await agentOf(herd, 'red');
    const sent = (args: unknown) => ask(red, 'tools/call', { name: 'typed__order', arguments: args });
    expect(JSON.parse(textOf(await sent(null)))).toEqual({ item: 'tea', size: 'large' });
    for (const args of [['coffee'], '{"item":"coffee"}', 1])
      expect(refusal(await sent(args))).toContain("'arguments' must be a map");
  });

  it('is in the audit with both names of a tool', async () => {
    const herd = await startHerd(withProfiles(PROFILES));
    const red = await agentOf(herd, 'red');
    await call(red, 'speak', { value: 'x' });
    await herd.say('one', 'echo', { value: 'x' });
    const [first, second] = await until(() => {
      const records = recordsOf(herd.home);
      return records.length >= 2 ? records : undefined;
    });
    expect(first).toMatchObject({ server: 'one', tool: 'echo', called_as: 'speak', profile: 'red' });
    expect(second).toMatchObject({ server: 'one', tool: 'echo' });
    expect(Object.keys(second!)).not.toEqual(expect.arrayContaining(['profile']));
  });

  it('that a reload changes or removes changes at once for its connections, which get list_changed', async () => {
    const herd = await startHerd(withProfiles(PROFILES));
    // all lists are known before the agents come, so that every notification is about the profiles
    await herd.fleet.tools(undefined, true);
    const [red, blue] = [await agentOf(herd, 'red'), await agentOf(herd, 'blue')];
    const told = (client: LineClient) => client.heard('notifications/tools/list_changed').length;
    const apply = async (profiles: unknown) => {
      const before = told(red);
      writeFileSync(herd.home.configFile, withProfiles(profiles));
      await herd.fleet.reload();
      await until(() => told(red) > before);
    };
    const quiet = told(blue);
    await apply({ ...PROFILES, red: { tools: ['two.*'], rename: { 'two.add': 'plus' } } });
    expect(await listed(red)).toContain('plus');
    refusal(await call(red, 'speak'));
    expect(told(blue)).toBe(quiet);
    await apply({ blue: PROFILES.blue });
    expect(await listed(red)).toEqual([]);
    const { error, result } = await call(red, 'plus');
    expect(JSON.stringify(error ?? result)).toContain('is not in the config any more');
    expect((await ask(red, 'fleet/call', { server: 'two', tool: 'echo' })).result).toMatchObject({
      error: { type: 'ProfileNotFoundError', fix: expect.stringContaining('connect with another') },
    });
    expect(textOf(await call(blue, 'two__echo', { value: 'still' }))).toBe('still');
    await apply(PROFILES);
    expect(textOf(await call(red, 'speak', { value: 'again' }))).toBe('again');
  });

  it('keeps the name that it gives when a tool appears that has it, and says so in the log', async () => {
    const profiles = { p: { servers: ['one'], rename: { 'one.echo': 'one_extra' } } };
    const herd = await startHerd(withProfiles(profiles, { surface: { separator: '_' } }));
    const client = await agentOf(herd, 'p');
    await call(client, 'one_add', { name: 'extra' });
    const names = await until(async () => {
      const now = await listed(client);
      return now.length === 7 ? now : undefined;
    });
    expect(names.filter((name) => name.startsWith('one_extra'))).toEqual([
      'one_extra',
      expect.stringMatching(/^one_extra-[0-9a-f]{8}$/),
    ]);
    expect(textOf(await call(client, 'one_extra', { value: 'mine' }))).toBe('mine');
    const log = readFileSync(join(herd.home.folder, 'state', 'logs', 'daemon.log'), 'utf8');
    expect(log).toContain("profile 'p': 'one_extra' is one.echo");
  });

  it('is shown with its servers, tools and estimated tokens by the command', async () => {
    const herd = await startHerd(withProfiles({ ...PROFILES, odd: { tools: ['one.absent*'] } }));
    const { folder: cwd, environment: env } = herd.home;
    const json = await toolherd(['profiles', '--json'], { cwd, env });
    const { profiles } = JSON.parse(json.stdout);
    expect(profiles).toMatchObject([
      { name: 'red', servers: ['one', 'typed'], tools: ['speak', 'one__add', 'typed__order'], unmatched: [] },
      { name: 'blue', servers: ['two'], tools: ['two__echo'] },
      { name: 'odd', tools: [], tokens: 0, unmatched: ['one.absent*'] },
    ]);
    const definition = { name: 'two__echo', inputSchema: { type: 'object' } };
    expect(profiles[1].tokens).toBe(Math.ceil(JSON.stringify(definition).length / 4));
    const table = await toolherd(['profiles'], { cwd, env });
    expect(table.stdout).toMatch(/red\s+one, typed\s+3/);
    expect(table.stderr).toContain("odd: 'one.absent*' fits no tool");
    const attached = await toolherd(['attach', 'cursor', '--scope', 'project', '--profile', 'rde'], {
      cwd,
      env,
    });
    const entry = JSON.parse(readFileSync(join(cwd, '.cursor', 'mcp.json'), 'utf8'));
    expect(entry.mcpServers.toolherd.args).toEqual(['bridge', '--profile', 'rde']);
    expect(attached.stderr).toContain("did you mean 'red'?");
  });

  it('counts from a project after the user has allowed its file, which shows what it changes', async () => {
    const herd = await startHerd(config(SERVERS));
    const project = makeProject(herd.home, 'shop', []);
    const profile = { tools: ['one.echo'], describe: { 'one.echo': 'Other words.' } };
    writeFileSync(project.file, `profiles: ${JSON.stringify({ shop: profile })}\n`);
    const client = new LineClient(herd.home.socket);
    await client.hello();
    const hello = { agent: project.file, profile: 'shop' };
    expect((await ask(client, 'fleet/hello', hello)).error?.data).toMatchObject({
      type: 'TrustRequiredError',
    });
    const run = { cwd: project.folder, env: herd.home.environment };
    const allowed = await toolherd(['allow', project.file, '--yes'], run);
    expect(allowed.stderr).toContain('describes    one.echo: Other words.');
    expect((await ask(client, 'fleet/hello', hello)).result).toMatchObject(hello);
    expect(await listed(client)).toEqual(['one__echo']);
    // a later hello keeps the profile
    await ask(client, 'fleet/hello', {});
    expect(await listed(client)).toEqual(['one__echo']);
    const script = await connectFleet({ socket: herd.home.socket, ...hello });
    expect((await script.tools()).tools.map(({ description }) => description)).toEqual(['Other words.']);
    script.close();
    await expect(connectFleet({ socket: herd.home.socket, profile: 'shop' })).rejects.toThrow("'shop'");
  });

  it('ends at once where its file is revoked, and the global one of its name counts', async () => {
    const herd = await startHerd(withProfiles({ shop: { tools: ['one.echo'] } }));
    const project = makeProject(herd.home, 'shop', []);
    writeFileSync(project.file, `profiles: ${JSON.stringify({ shop: { servers: ['one', 'two'] } })}\n`);
    const run = { cwd: project.folder, env: herd.home.environment };
    await toolherd(['allow', project.file, '--yes'], run);
    const client = await agentOf(herd, 'shop', { agent: project.file });
    expect(await listed(client)).toContain('two__echo');
    expect((await toolherd(['revoke', project.file], run)).status).toBe(0);
    await until(async () => (await listed(client)).length === 1);
    expect(await listed(client)).toEqual(['one__echo']);
    expect(refusal(await call(client, 'two__echo'))).toContain('two__echo');
  });

  it('follows the global config also while the file of an agent cannot be read', async () => {
    const herd = await startHerd(withProfiles({ shop: { tools: ['one.echo', 'two.echo'] } }));
    const project = makeProject(herd.home, 'shop', []);
    writeFileSync(project.file, 'tools: []\n');
    const client = await agentOf(herd, 'shop', { agent: project.file });
    expect(await listed(client)).toEqual(['one__echo', 'two__echo']);
    writeFileSync(project.file, 'tools: [');
    herd.home.configure(withProfiles({ shop: { tools: ['one.echo'] } }));
    await herd.fleet.reload();
    await until(async () => (await listed(client)).length === 1);
    expect(await listed(client)).toEqual(['one__echo']);
  });

  it('gives each agent its own process of a per-agent server', async () => {
    const own = server('own', 'good.mjs', { sharing: 'per-agent' });
    const profiles = { p: { tools: ['own.pid', 'own.echo'], rename: { 'own.pid': 'which' } } };
    const herd = await startHerd(
      `${config([own, server('one', 'good.mjs')])}profiles: ${JSON.stringify(profiles)}\n`,
    );
    const [first, second] = [await agentOf(herd, 'p'), await agentOf(herd, 'p')];
    const pids = [await call(first, 'which'), await call(second, 'which')].map(textOf);
    expect(new Set(pids).size).toBe(2);
    expect(await listed(first)).toEqual(['own__echo', 'which']);
    refusal(await call(first, 'own__argv'));
    refusal(await call(first, 'one__pid'));
    writeFileSync(herd.home.configFile, config([own, server('one', 'good.mjs')]));
    await herd.fleet.reload();
    await until(async () => (await listed(first)).length === 0);
    expect(refusal(await call(first, 'which'))).toContain('not in the config any more');
  });
});
