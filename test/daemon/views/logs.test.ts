import { describe, expect, it } from 'vitest';
import { until } from '../../support/until.js';
import { type Agent, shared, startWorld } from './support.js';

async function texts(agent: Agent, server: string): Promise<string[]> {
  const reply = await agent.ask('logs', 'fleet/logs', { server, level: 'warn' });
  const entries = reply.result?.entries as { text: string }[];
  return entries.map(({ text }) => text);
}

const log = (agent: Agent, data: string) => agent.say1('notes__log', { level: 'error', data });

describe('logs over the socket', () => {
  it('two servers of one name in different views have separate logs: each view gets its own lines', async () => {
    const world = await startWorld([shared('notes', 'logs.mjs')]);
    const red = world.project('red', [shared('notes', 'logs.mjs', { args: ['red'] })]);
    await red.allow();
    const [a, global] = [world.agent(), world.agent()];
    await a.see(red.file);
    await global.see();
    await log(a, 'of red');
    await log(global, 'of all');
    await until(async () => (await texts(a, 'notes')).includes('of red'));
    await until(async () => (await texts(global, 'notes')).includes('of all'));
    expect(await texts(a, 'notes')).toEqual(['of red']);
    expect(await texts(global, 'notes')).toEqual(['of all']);
    expect((await a.ask('none', 'fleet/logs', { server: 'other' })).error?.message).toMatch(/other/);
  });

  it('the lines of a per-agent server go to its own connection, also after another connection has ended', async () => {
    const world = await startWorld([shared('notes', 'logs.mjs', { sharing: 'per-agent' })]);
    const [a, b] = [world.agent(), world.agent()];
    await a.see();
    await log(a, 'of the first');
    await until(async () => (await texts(a, 'notes')).includes('of the first'));
    a.end();
    await b.see();
    await log(b, 'of the second');
    await until(async () => (await texts(b, 'notes')).includes('of the second'));
    expect(await texts(b, 'notes')).toEqual(['of the second']);
  });
});

describe('call events', () => {
  it('reach all connections of the agent file that called, and global connections for global servers', async () => {
    const world = await startWorld([shared('common')]);
    const [red, blue] = [world.project('red', [shared('red')]), world.project('blue', [shared('blue')])];
    await red.allow();
    await blue.allow();
    const [a, b, other, global] = [world.agent(), world.agent(), world.agent(), world.agent()];
    await a.see(red.file);
    await b.see(red.file);
    await other.see(blue.file);
    await global.see();
    for (const client of [a, b, other, global])
      await client.ask('sub', 'fleet/subscribe', { topics: ['call'] });
    await a.say1('common__echo', { value: 'from a' });
    await b.say1('red__pid');
    await b.say1('common__cwd');
    const calls = (client: Agent) =>
      client.heard('fleet/event').map(({ params }) => (params as { tool: string }).tool);
    await other.say1('common__argv');
    await until(() => calls(global).length === 3);
    // a reply comes after all earlier events
    for (const client of [a, b, other]) await client.status();
    expect([calls(a), calls(b), calls(other)]).toEqual([
      ['echo', 'pid', 'cwd'],
      ['echo', 'pid', 'cwd'],
      ['argv'],
    ]);
    expect(calls(global)).toEqual(['echo', 'cwd', 'argv']);
    expect(JSON.stringify(global.heard('fleet/event'))).not.toContain('from a');
  });
});
