import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { config, server } from '../faults/config.js';
import { HttpClient, type Json } from '../ipc/http/support.js';
import { type Line, LineClient, namesOf, textOf } from '../ipc/mcp/support.js';
import { makeFolder } from '../support/folder.js';
import { type Herd, startHerd, until } from '../support/herd.js';
import { share } from '../support/share.js';

const OWN = ['search_tools', 'describe_tools', 'call_tool', 'read_result'];
const VERSION = '2026-07-28';
const META = {
  'io.modelcontextprotocol/protocolVersion': VERSION,
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'the same client', version: '1' },
};

type Ask = (method: string, params?: Record<string, unknown>) => Promise<Line>;
type Connect = (herd: Herd, profile: string, surface?: string) => Promise<Ask>;

let asked = 0;

async function lineClient({ home }: Herd, profile: string, surface = 'search') {
  const client = new LineClient(home.socket);
  await client.ask('profile', 'fleet/hello', { profile, surface });
  await client.hello();
  const ask: Ask = (method, params = {}) => {
    asked += 1;
    return client.ask(`ask ${asked}`, method, params);
  };
  return { client, ask };
}

const overSocket: Connect = async (herd, profile, surface) => (await lineClient(herd, profile, surface)).ask;

const overHttp: Connect = async ({ home }, profile, surface = 'search') => {
  const http = new HttpClient({ socketPath: home.socket }, `/p/${profile}/mcp?surface=${surface}`);
  await http.initialize();
  return (method, params) => http.request(method, params);
};

/** Every request is a connection, and the client has the same name with each profile. */
const overModernHttp: Connect = async ({ home }, profile, surface = 'search') => {
  const http = new HttpClient({ socketPath: home.socket }, `/p/${profile}/mcp?surface=${surface}`);
  return async (method, params: Json = {}) => {
    const name = params.name ?? params.uri;
    const headers = {
      'MCP-Protocol-Version': VERSION,
      'Mcp-Method': method,
      ...(name !== undefined && { 'Mcp-Name': name }),
    };
    const body = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: META } };
    return (await http.post(body, headers)).json();
  };
};

const WAYS = [
  ['the socket', overSocket],
  ['HTTP with a session', overHttp],
  ['HTTP of 2026-07-28', overModernHttp],
] as const;

const call = (ask: Ask, name: string, args = {}) => ask('tools/call', { name, arguments: args });
const through = (ask: Ask, name: string, args = {}) => call(ask, 'call_tool', { name, arguments: args });
const urisOf = (list: unknown, key: 'uri' | 'uriTemplate') =>
  (list as Record<string, string>[]).map((one) => one[key]);

/** A request that no server answered as it does. */
function expectRefused(line: Line, what: string): void {
  expect([what, line.error !== undefined || line.result?.isError === true]).toEqual([what, true]);
  expect(JSON.stringify(line), what).not.toMatch(/(?:apple|birch) (?:answers|asks|contents|completes|line)/);
}

describe('two agents with two profiles', () => {
  const world = share(async () => {
    const folder = makeFolder({ apple: '', birch: '' });
    const entries = ['apple', 'birch'].map((word) =>
      server(word, 'whole.mjs', { args: [word, join(folder, word)] }),
    );
    const profiles = {
      red: { tools: ['apple.read_*', 'apple.long_*'], rename: { 'apple.long_apple': 'lengthy' } },
      blue: { tools: ['birch.*'] },
    };
    const text = config(entries, { surface: { result_limit: 300 } });
    const herd = await startHerd(`${text}profiles: ${JSON.stringify(profiles)}\n`);
    await herd.fleet.tools(undefined, true);
    const ran = (word: string) => readFileSync(join(folder, word), 'utf8').split('\n').slice(0, -1);
    return { herd, ran };
  });

  it.each(WAYS)('list, find, describe and call by %s only tools that theirs has', async (_, connect) => {
    const { herd } = world();
    const [red, blue] = [await connect(herd, 'red'), await connect(herd, 'blue')];
    expect(namesOf((await red('tools/list')).result?.tools)).toEqual(OWN);
    const all = await connect(herd, 'red', 'all');
    expect(namesOf((await all('tools/list')).result?.tools).sort()).toEqual(['apple__read_apple', 'lengthy']);
    expect(textOf(await through(red, 'apple__read_apple'))).toBe('apple answers');
    expect(textOf(await through(blue, 'birch__drop_birch'))).toBe('birch answers');
    const found = async (ask: Ask, args: object) => textOf(await call(ask, 'search_tools', args));
    expect(await found(red, { query: 'read' })).toMatch(/^apple__read_apple\(/);
    expect(await found(red, { query: 'read birch' })).not.toContain('birch');
    expect(await found(red, { query: 'drop' })).toContain("only tools of the profile 'red' were searched");
    expect(await found(blue, { query: 'read apple' })).not.toContain('apple');
    expectRefused(await call(red, 'search_tools', { query: 'read', server: 'birch' }), 'search of a server');
    const hidden = ['birch__read_birch', 'apple__drop_apple', 'apple__long_apple'];
    const described = textOf(await call(red, 'describe_tools', { names: hidden }));
    for (const name of hidden) expect(described).toContain(`${name}: no tool has this name;`);
    expect(described).not.toContain('inputSchema');
    for (const name of hidden) {
      expectRefused(await through(red, name), `call_tool ${name}`);
      expectRefused(await call(red, name), name);
    }
    for (const name of ['apple__read_apple', 'lengthy']) {
      expectRefused(await through(blue, name), `call_tool ${name}`);
      expectRefused(await call(blue, name), name);
    }
  });

  it.each(WAYS)('get by %s only prompts, resources and completions that theirs has', async (_, connect) => {
    const { herd, ran } = world();
    const [red, blue] = [await connect(herd, 'red'), await connect(herd, 'blue')];
    const before = ran('birch').length;
    expect(namesOf((await red('prompts/list')).result?.prompts)).toEqual(['apple__ask_apple']);
    expect(urisOf((await red('resources/list')).result?.resources, 'uri')).toEqual(['apple://one']);
    const { result: templates } = await red('resources/templates/list');
    expect(urisOf(templates?.resourceTemplates, 'uriTemplate')).toEqual(['apple://{name}']);
    expectRefused(await red('prompts/get', { name: 'birch__ask_birch' }), 'a prompt');
    for (const uri of ['birch://one', 'birch://other'])
      expectRefused(await red('resources/read', { uri }), uri);
    const argument = { name: 'how', value: '' };
    const completed = (ask: Ask, ref: object) => ask('completion/complete', { ref, argument });
    expectRefused(await completed(red, { type: 'ref/prompt', name: 'birch__ask_birch' }), 'a completion');
    const ofResource = await completed(red, { type: 'ref/resource', uri: 'birch://{name}' });
    expect(JSON.stringify(ofResource)).not.toContain('birch completes');
    expect(ran('birch').length).toBe(before);
    // what is theirs works
    expect(JSON.stringify(await red('prompts/get', { name: 'apple__ask_apple' }))).toContain('apple asks');
    expect(JSON.stringify(await blue('resources/read', { uri: 'birch://one' }))).toContain('birch contents');
    const ownCompletion = await completed(blue, { type: 'ref/resource', uri: 'birch://{name}' });
    expect(JSON.stringify(ownCompletion)).toContain('birch completes');
  });

  it.each(WAYS)('cannot read by %s what was cut for the other', async (_, connect) => {
    const { herd } = world();
    const [red, blue] = [await connect(herd, 'red'), await connect(herd, 'blue')];
    const cut = textOf(await through(blue, 'birch__long_birch'));
    const [, id = ''] = /read_result \{"id":"([0-9a-f]+)"/.exec(cut) ?? [];
    expect(id).not.toBe('');
    expectRefused(await call(red, 'read_result', { id }), 'read_result');
    expect(textOf(await call(blue, 'read_result', { id }))).toContain('birch line');
  });

  it('get instructions and updates of resources only from servers of theirs', async () => {
    const { herd } = world();
    const [red, blue] = [await lineClient(herd, 'red'), await lineClient(herd, 'blue')];
    const instructions = ({ client }: typeof red) =>
      JSON.stringify(client.lines.find(({ id }) => id === 'hello'));
    expect(instructions(red)).toContain('apple');
    expect(instructions(red)).not.toContain('birch');
    expectRefused(await red.ask('resources/subscribe', { uri: 'birch://one' }), 'a subscription');
    await red.ask('fleet/subscribe', { topics: ['state', 'catalog', 'log', 'notification', 'call'] });
    await blue.ask('resources/subscribe', { uri: 'birch://one' });
    await call(blue.ask, 'birch__drop_birch');
    const updates = ({ client }: typeof red) => client.heard('notifications/resources/updated');
    await until(() => updates(blue).length > 0);
    await call(red.ask, 'apple__read_apple');
    await until(() => red.client.heard('fleet/event').length > 0);
    expect(updates(red)).toEqual([]);
    expect(JSON.stringify(red.client.heard('fleet/event'))).not.toContain('birch');
  });

  it('find, call, count and order by fleet/* only what theirs has', async () => {
    const { herd } = world();
    const { ask: red } = await lineClient(herd, 'red');
    const found = (await red('fleet/search', { query: 'read drop birch apple' })).result?.tools as Json[];
    expect(found.map(({ exposed_name }) => exposed_name).sort()).toEqual(['apple__read_apple', 'lengthy']);
    for (const [of, tool] of [
      ['birch', 'read_birch'],
      ['apple', 'drop_apple'],
    ])
      expect((await red('fleet/call', { server: of, tool })).result).toMatchObject({ success: false });
    for (const method of ['fleet/tools', 'fleet/search', 'fleet/prompts', 'fleet/resources'])
      expect((await red(method, { server: 'birch', query: 'read' })).error?.message).toContain("'birch'");
    const [status] = (await red('fleet/status')).result!.servers as Json[];
    const whole = await herd.status('apple');
    expect([status.tools, whole.tools]).toEqual([2, 3]);
    expect(status.tools_tokens).toBeLessThan(whole.tools_tokens!);
    for (const method of ['fleet/reload', 'fleet/shutdown'])
      expect((await red(method)).error?.message, method).toContain("'red'");
  });

  it('cannot make the daemon say to others that it ends', async () => {
    const { herd } = world();
    const [red, other] = [await lineClient(herd, 'red'), await lineClient(herd, 'blue')];
    await other.ask('fleet/hello', { closing_notice: true });
    expect((await red.ask('fleet/shutdown')).error?.message).toContain("'red'");
    const { daemon } = (await other.ask('fleet/hello')).result as Json;
    expect(daemon.closing).toBeNull();
    expect(other.client.heard('fleet/closing')).toEqual([]);
  });
});
