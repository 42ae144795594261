import { describe, expect, it } from 'vitest';
import type { ProfileReport } from '../../src/fleet/fleet.js';
import { config, server } from '../faults/config.js';
import { HttpClient } from '../ipc/http/support.js';
import { LineClient, namesOf } from '../ipc/mcp/support.js';
import { agent2025 } from '../ipc/mcp/surface/clients.js';
import { toolherd } from '../support/command.js';
import { type Home, startHerd, until } from '../support/herd.js';

const OWN = ['search_tools', 'describe_tools', 'call_tool', 'read_result'];
const SERVERS = [server('good', 'good.mjs'), server('lawful', 'lawful.mjs')];
const PROFILES = {
  plain: { tools: ['good.echo'] },
  listed: { tools: ['good.echo', 'good.pid'], surface: { mode: 'all' } },
  searched: { tools: ['good.*'], surface: { mode: 'search', always: ['good.e*'], result_limit: 20 } },
};

const withProfiles = (profiles: unknown, surface = {}) =>
  `${config(SERVERS, { surface })}profiles: ${JSON.stringify(profiles)}\n`;

async function lineClient({ socket }: Home, hello: Record<string, unknown>): Promise<LineClient> {
  const client = new LineClient(socket);
  expect((await client.ask('view', 'fleet/hello', hello)).error).toBeUndefined();
  await client.hello();
  return client;
}

let asked = 0;
async function listed(client: LineClient): Promise<string[]> {
  asked += 1;
  return namesOf((await client.ask(`list ${asked}`, 'tools/list')).result?.tools);
}

async function listedOverHttp({ socket }: Home, path: string): Promise<string[]> {
  const http = new HttpClient({ socketPath: socket }, path);
  await http.initialize();
  return namesOf((await http.request('tools/list')).result.tools);
}

describe('the surface of a profile', () => {
  it('comes before that of the daemon, for the bridge, HTTP and fleet/hello', async () => {
    const { home } = await startHerd(withProfiles(PROFILES, { mode: 'search' }));
    const all = ['good__echo', 'good__pid'];
    expect(namesOf(await (await agent2025(home, '--profile', 'listed')).tools())).toEqual(all);
    expect(await listedOverHttp(home, '/p/listed/mcp')).toEqual(all);
    expect(await listed(await lineClient(home, { profile: 'listed' }))).toEqual(all);
    // what a profile does not say is as the daemon has it
    expect(await listed(await lineClient(home, { profile: 'plain' }))).toEqual(OWN);
    expect(await listed(await lineClient(home, {}))).toEqual(OWN);
  });

  it('gives way to the mode that the client chooses', async () => {
    const { home } = await startHerd(withProfiles(PROFILES));
    const shown = [...OWN, 'good__echo', 'good__env', 'good__exit'];
    expect(namesOf(await (await agent2025(home, '--profile', 'searched')).tools())).toEqual(shown);
    const all = await agent2025(home, '--profile', 'searched', '--surface', 'all');
    expect(namesOf(await all.tools())).not.toContain('search_tools');
    expect(await listedOverHttp(home, '/p/searched/mcp?surface=all')).not.toContain('search_tools');
    expect(await listedOverHttp(home, '/p/listed/mcp?surface=search')).toEqual(OWN);
  });

  it('has its own limit of results', async () => {
    const { home } = await startHerd(withProfiles(PROFILES));
    const value = 'x'.repeat(50);
    const agent = await agent2025(home, '--profile', 'searched');
    const { content } = await agent.call('call_tool', { name: 'good__echo', arguments: { value } });
    expect(content[0]?.text).toContain('30 of 50 characters cut');
  });

  it('counts only the tools of the profile where its mode is auto', async () => {
    const { home, fleet } = await startHerd(withProfiles(PROFILES, { above_tokens: 60 }));
    await fleet.tools(undefined, true);
    expect(await listed(await lineClient(home, { profile: 'plain' }))).toEqual(['good__echo']);
    expect(await listed(await lineClient(home, {}))).toEqual(OWN);
  });

  it('changes with a reload for connections that are open, which get list_changed', async () => {
    const herd = await startHerd(withProfiles(PROFILES));
    const client = await lineClient(herd.home, { profile: 'listed' });
    expect(await listed(client)).toContain('good__pid');
    const heard = () => client.heard('notifications/tools/list_changed').length;
    const before = heard();
    herd.home.configure(
      withProfiles({ ...PROFILES, listed: { ...PROFILES.listed, surface: { mode: 'search' } } }),
    );
    await herd.fleet.reload();
    await until(() => heard() > before);
    expect(await listed(client)).toEqual(OWN);
  });

  it('is shown by the command, with what it means for the list', async () => {
    const { home } = await startHerd(withProfiles(PROFILES, { above_tokens: 30 }));
    const { folder: cwd, environment: env } = home;
    const { profiles } = JSON.parse((await toolherd(['profiles', '--json'], { cwd, env })).stdout) as {
      profiles: ProfileReport[];
    };
    expect(profiles.map(({ name, surface }) => [name, surface])).toEqual([
      ['plain', { mode: 'auto', above_tokens: 30, always: [], lists: 'all' }],
      ['listed', { mode: 'all', above_tokens: 30, always: [], lists: 'all' }],
      ['searched', { mode: 'search', above_tokens: 30, always: ['good.e*'], lists: 'search' }],
    ]);
    const { stdout } = await toolherd(['profiles'], { cwd, env });
    expect(stdout).toMatch(/^plain .* all \(auto\)$/m);
    expect(stdout).toMatch(/^searched .* search$/m);
  });

  it('is in the status that a client of the profile gets', async () => {
    const { home } = await startHerd(withProfiles(PROFILES));
    const client = await lineClient(home, { profile: 'searched' });
    const result = (await client.ask('status', 'fleet/status')).result!;
    expect((result.daemon as { surface: unknown }).surface).toEqual({
      mode: 'search',
      above_tokens: 20_000,
    });
  });
});

describe('the estimate of tokens', () => {
  it('is the same in tools --tokens, status and profiles, whatever the separator', async () => {
    const profiles = {
      all: { servers: ['*'] },
      part: { tools: ['good.echo'], rename: { 'good.echo': 'speak' } },
    };
    const { home, fleet } = await startHerd(withProfiles(profiles, { separator: '-' }));
    await fleet.tools(undefined, true);
    const { folder: cwd, environment: env } = home;
    const json = async (...args: string[]) =>
      JSON.parse((await toolherd([...args, '--json'], { cwd, env })).stdout);
    const { tokens } = await json('tools', '--tokens');
    const { servers } = await json('status');
    const { profiles: reports } = await json('profiles');
    const byName = (one: { server?: string; name?: string; tokens?: number; tools_tokens?: number }) => [
      one.server ?? one.name,
      one.tokens ?? one.tools_tokens,
    ];
    expect(servers.map(byName).sort()).toEqual(tokens.servers.map(byName).sort());
    expect(reports[0].tokens).toBe(tokens.total);
    const client = await lineClient(home, { profile: 'part' });
    const result = (await client.ask('status', 'fleet/status')).result!;
    expect((result.servers as { tools_tokens: number }[])[0]?.tools_tokens).toBe(reports[1].tokens);
    expect(reports[1].tokens).toBe(
      Math.ceil(JSON.stringify({ name: 'speak', inputSchema: { type: 'object' } }).length / 4),
    );
  });
});
