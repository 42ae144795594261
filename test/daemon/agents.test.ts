import { describe, expect, it } from 'vitest';
import type { AuditPage, CallEvent, ConnectedAgent, FleetHistory } from '../../src/fleet/fleet.js';
import { config, server } from '../faults/config.js';
import { LineClient } from '../ipc/mcp/support.js';
import { toolherd } from '../support/command.js';
import { startHerd, until } from '../support/herd.js';
import { Agent, makeProject, shared } from './views/support.js';

const HERD = `${config([server('good', 'good.mjs'), server('hears', 'hears-cancel.mjs')])}profiles: {part: {tools: [good.echo]}}\n`;

let asked = 0;
async function ask<T>(client: LineClient, method: string, params: Record<string, unknown> = {}): Promise<T> {
  asked += 1;
  const { result, error } = await client.ask(`ask ${asked}`, method, params);
  expect(error).toBeUndefined();
  return result as T;
}

const agentsOf = async (client: LineClient) =>
  (await ask<{ agents: ConnectedAgent[] }>(client, 'fleet/agents')).agents;
const auditOf = (client: LineClient, params = {}) => ask<AuditPage>(client, 'fleet/audit', params);

describe('who is connected', () => {
  it('has each connection with its client, its calls and those that run now', async () => {
    const { home, fleet } = await startHerd(HERD);
    const client = new LineClient(home.socket);
    await client.hello();
    await ask(client, 'tools/call', { name: 'good__echo', arguments: { value: 'x' } });
    client.say({ id: 'hang', method: 'tools/call', params: { name: 'hears__hang', arguments: {} } });
    const busy = () =>
      until(async () =>
        (await fleet.agents()).find((one) => one.client?.name === 'lines' && one.in_flight.length > 0),
      );
    const agent = await busy();
    expect(agent).toEqual({
      caller: expect.stringMatching(/^connection \d+$/),
      via: 'socket',
      client: { name: 'lines', version: '1' },
      agent: null,
      profile: null,
      surface: null,
      since: expect.stringMatching(/Z$/),
      calls: expect.any(Number),
      in_flight: [
        { server: 'hears', tool: 'hang', method: 'tools/call', since: expect.stringMatching(/Z$/) },
      ],
    });
    expect(Math.abs(Date.now() - Date.parse(agent.in_flight[0]!.since))).toBeLessThan(60_000);
    await until(async () => (await busy()).calls === 1);
    const [own] = (await fleet.agents()).filter(({ self }) => self === true);
    expect(own?.client?.name).toBe('toolherd/client');

    const text = await toolherd(['agents'], { cwd: home.folder, env: home.environment });
    expect(text.stdout).toMatch(/^CLIENT +VIA +SINCE +CALLS +VIEW +NOW\n/);
    expect(text.stdout).toMatch(/^lines 1 +socket +\S+ +1 +the whole herd +hears\.hang \d+s$/m);
    expect(text.stdout).not.toContain('toolherd agents');
    client.say({ method: 'notifications/cancelled', params: { requestId: 'hang' } });
    await until(async () => (await fleet.agents()).every(({ in_flight }) => in_flight.length === 0));
    client.close();
    await until(async () => (await fleet.agents()).every((one) => one.client?.name !== 'lines'));
  });

  it('a call that waits for its server is open, also one of a transient server', async () => {
    const { fleet } = await startHerd(
      config([
        server('slow', 'boots-slowly.mjs', { env: { DELAY: '60000' }, start_timeout: 60 }),
        server('each', 'hears-cancel.mjs', { lifecycle: 'transient' }),
      ]),
    );
    const [slow, each] = [new AbortController(), new AbortController()];
    const calls = [
      fleet.call({ server: 'slow', tool: 'any' }, { signal: slow.signal }),
      fleet.call({ server: 'each', tool: 'hang' }, { signal: each.signal }),
    ];
    const open = () =>
      fleet.agents().then((agents) => agents.flatMap(({ in_flight }) => in_flight.map((one) => one.server)));
    await until(async () => (await open()).sort().join() === 'each,slow');
    slow.abort();
    each.abort();
    await Promise.allSettled(calls);
    await until(async () => (await open()).length === 0);
  });
});

describe('a connection with an agent file or a profile', () => {
  it('sees only its own part of agents, audit and history; one without sees all', async () => {
    const herd = await startHerd(HERD);
    const { home, fleet } = herd;
    const project = makeProject(home, 'mine', [shared('mine', 'good.mjs')]);
    await project.allow();
    const agent = await new Agent(home.socket).see(project.file);
    const part = new LineClient(home.socket);
    await part.hello();
    await ask(part, 'fleet/hello', { profile: 'part' });
    await fleet.call({ server: 'good', tool: 'echo', arguments: { value: 'x' }, request_id: 'all' });
    await ask(part, 'fleet/call', { server: 'good', tool: 'echo', arguments: {}, request_id: 'part' });
    await ask(agent, 'fleet/call', { server: 'mine', tool: 'echo', arguments: {}, request_id: 'agent' });

    const callers = async (client: LineClient) =>
      (await agentsOf(client)).map(({ agent: file, profile }) => [file, profile]);
    expect(await callers(agent)).toEqual([[project.file, null]]);
    expect(await callers(part)).toEqual([[null, 'part']]);
    expect((await fleet.agents()).length).toBe(3);

    const ids = ({ calls }: { calls: CallEvent[] }) => calls.map(({ request_id }) => request_id);
    expect(ids(await auditOf(agent))).toEqual(['agent']);
    expect(ids(await auditOf(part))).toEqual(['part']);
    expect(ids(await auditOf(part, { agent: project.file }))).toEqual([]);
    expect(ids(await fleet.audit())).toEqual(['agent', 'part', 'all']);
    expect((await auditOf(part)).slowest.map(({ calls }) => calls)).toEqual([1]);

    const names = ({ servers }: FleetHistory) => servers.map(({ name }) => name).sort();
    const history = (client: LineClient) => ask<FleetHistory>(client, 'fleet/history', { minutes: 2 });
    expect(names(await history(part))).toEqual(['good']);
    expect(names(await history(agent))).toEqual(['good', 'hears', 'mine']);
    const all = await fleet.history({ minutes: 2 });
    expect(names(all)).toEqual(['good', 'hears', 'mine']);
    const sums = Object.fromEntries(all.servers.map(({ name, calls }) => [name, calls[0]! + calls[1]!]));
    expect(sums).toEqual({ good: 2, hears: 0, mine: 1 });
    const refused = await part.ask('refused', 'fleet/history', { servers: ['hears'] });
    expect(refused.error?.message).toContain('hears');
  });
});

describe('the commands audit and status --history', () => {
  it('show calls, the tools that fail, and bars for each server', async () => {
    const { home, fleet } = await startHerd(HERD);
    await fleet.call({ server: 'good', tool: 'echo', arguments: { value: 'x' } });
    await fleet.call({ server: 'good', tool: 'ech' });
    const run = (...args: string[]) => toolherd(args, { cwd: home.folder, env: home.environment });

    const audit = await run('audit', '--server', 'good');
    expect(audit.stdout.split('\n').slice(0, 2)).toEqual([
      expect.stringMatching(/^AT +CLIENT +SERVER +TOOL +TOOK +OUTCOME$/),
      expect.stringMatching(/^\S+Z +toolherd\/client +good +ech +\S+ms +MCPToolNotFoundError$/),
    ]);
    expect(audit.stdout).toMatch(/ good +echo +\S+ms +ok$/m);
    expect(audit.stderr).toMatch(/^2 records since \S+Z searched\n$/);
    expect((await run('audit', '--outcome', 'ok', '-n', '1')).stdout).not.toContain('NotFound');
    expect((await run('audit', '--failing')).stdout).toMatch(/^good +ech +1 +1 /m);
    expect((await run('audit', '--slowest')).stdout).toMatch(/^good +echo +1 +0 /m);
    expect((await run('audit', '--slowest', '--failing')).status).toBe(2);
    expect((await run('audit', '--text', 'no such text')).stderr).toContain('no call was found');

    const history = await run('status', '--history');
    expect(history.stdout).toMatch(/^the last hour, recorded since \S+Z\nNAME +CALLS +PER 2 MIN +FAILED/);
    expect(history.stdout).toMatch(/^good +1 +·*[▁-█]·? /m);
    const { servers, minute_ms } = JSON.parse((await run('status', '--history', '--json')).stdout);
    expect(minute_ms).toBe(60_000);
    expect(servers.map(({ calls }: { calls: number[] }) => calls.length)).toEqual([1440, 1440]);
    expect((await run('status', '--history', '--wait')).status).toBe(2);
    expect((await run('status', '--history', '--watch')).status).toBe(2);
  });
});
