import { describe, expect, it } from 'vitest';
import { isAlive } from '../../support/processes.js';
import { until } from '../../support/until.js';
import { shared, startWorld } from './support.js';

const names = (tools: readonly string[]) => [...new Set(tools.map((tool) => tool.split('__')[0]))];

describe('two agents with different files', () => {
  it('see their own tools; the same entry is one process for both and for the global view', async () => {
    const world = await startWorld([shared('common')]);
    const red = world.project('red', [shared('notes'), shared('red')]);
    const blue = world.project('blue', [shared('notes'), shared('blue')]);
    await red.allow();
    await blue.allow();
    const [a, b, global] = [world.agent(), world.agent(), world.agent()];
    await a.see(red.file);
    await b.see(blue.file);
    await global.see();
    expect(names(await a.tools())).toEqual(['any', 'common', 'notes', 'red']);
    expect(names(await b.tools())).toEqual(['any', 'common', 'notes', 'blue']);
    expect(names(await global.tools())).toEqual(['any', 'common']);
    expect(await a.pid('notes')).toBe(await b.pid('notes'));
    expect(await a.pid('common')).toBe(await global.pid('common'));
    expect(await a.pid('red')).not.toBe(await b.pid('blue'));
    const foreign = await b.ask('foreign', 'tools/call', { name: 'red__pid', arguments: {} });
    expect(foreign.error?.message).toMatch(/red__pid/);
  });

  it('agents whose entries share only a name have two servers: orders and events stay with their own', async () => {
    const world = await startWorld([shared('notes')]);
    const red = world.project('red', [shared('notes', 'good.mjs', { args: ['red'] })]);
    await red.allow();
    const [a, global] = [world.agent(), world.agent()];
    await a.see(red.file);
    await global.see();
    expect(await a.say1('notes__argv')).toBe('["red"]');
    expect(await global.say1('notes__argv')).toBe('[]');
    for (const client of [a, global]) await client.ask('sub', 'fleet/subscribe', { topics: ['state'] });
    const kept = await global.pid('notes');
    const old = await a.pid('notes');
    await a.ask('restart', 'fleet/restart', { servers: ['notes'], wait: true });
    expect(await a.pid('notes')).not.toBe(old);
    expect(await global.pid('notes')).toBe(kept);
    expect(a.heard('fleet/event').length).toBeGreaterThan(0);
    expect(global.heard('fleet/event')).toEqual([]);
    const inspected = await global.ask('inspect', 'fleet/inspect', { server: 'notes' });
    expect(JSON.stringify(inspected.result?.journal)).not.toContain('restart');
  });

  it('are shown in the global status with their servers and files', async () => {
    const world = await startWorld([shared('common')]);
    const red = world.project('red', [shared('red')]);
    await red.allow();
    const [a, global] = [world.agent(), world.agent()];
    await a.see(red.file);
    await a.pid('red');
    await global.see();
    const seen = (await global.status()).map(({ name, agent }) => [name, agent]);
    expect(seen).toEqual([
      ['any', null],
      ['common', null],
      ['red', red.file],
    ]);
    expect((await a.status()).map(({ name, agent }) => [name, agent])).toEqual(seen);
  });

  it('get a registered server, unless their file has that name', async () => {
    const world = await startWorld([]);
    const red = world.project('red', [shared('red')]);
    await red.allow();
    const [a, operator] = [world.agent(), world.agent()];
    await a.see(red.file);
    const register = (name: string) =>
      operator.ask(`register ${name}`, 'fleet/register', shared(name, 'good.mjs', { args: ['extra'] }));
    expect((await register('extra')).error).toBeUndefined();
    expect((await register('red')).error).toBeUndefined();
    expect(await a.say1('extra__argv')).toBe('["extra"]');
    expect(await a.say1('red__argv')).toBe('[]');
    await operator.ask('gone', 'fleet/unregister', { name: 'extra' });
    expect(names(await a.tools())).toEqual(['any', 'red']);
  });

  it('share a server whose question reaches only the agent that called', async () => {
    const world = await startWorld([]);
    const entries = [shared('questions', 'questions.mjs')];
    const [red, blue] = [world.project('red', entries), world.project('blue', entries)];
    await red.allow();
    await blue.allow();
    const [a, b] = [world.agent(), world.agent()];
    await a.see(red.file);
    await b.see(blue.file);
    for (const [asked, other] of [
      [a, b],
      [b, a],
    ] as const) {
      const params = { message: 'Who?', requestedSchema: { type: 'object', properties: {} } };
      const args = { method: 'elicitation/create', params };
      const before = other.heard('elicitation/create').length;
      const answer = asked.say1('questions__ask', args);
      const question = await until(() => asked.heard('elicitation/create').at(-1));
      asked.say({ id: question.id, result: { action: 'accept', content: { name: 'Ada' } } });
      expect(await answer).toContain('Ada');
      await other.settle();
      expect(other.heard('elicitation/create')).toHaveLength(before);
    }
  });
});

describe('a per-agent server', () => {
  it('is one process for each connection, and ends with its connection', async () => {
    const world = await startWorld([shared('own', 'good.mjs', { sharing: 'per-agent' })]);
    const [a, b] = [world.agent(), world.agent()];
    await a.see();
    await b.see();
    const [one, two] = [Number(await a.pid('own')), Number(await b.pid('own'))];
    expect(one).not.toBe(two);
    expect(Number(await a.pid('own'))).toBe(one);
    a.close();
    await until(() => !isAlive(one));
    expect(Number(await b.pid('own'))).toBe(two);
  });

  it('two connections with one agent file have a per-agent server each, and share the other servers', async () => {
    const world = await startWorld([]);
    const red = world.project('red', [shared('own', 'good.mjs', { sharing: 'per-agent' }), shared('rest')]);
    await red.allow();
    const [a, b] = [world.agent(), world.agent()];
    await a.see(red.file);
    await b.see(red.file);
    expect(await a.pid('own')).not.toBe(await b.pid('own'));
    expect(await a.pid('rest')).toBe(await b.pid('rest'));
    const rows = (await a.status()).map(({ name, agent, other_view }) => [name, agent, other_view === true]);
    expect(rows).toEqual([
      ['any', null, false],
      ['own', red.file, false],
      ['rest', red.file, false],
      ['own', red.file, true],
    ]);
  });

  it('is shown to a connection that only reads, which has none; its orders reach all', async () => {
    const world = await startWorld([shared('own', 'good.mjs', { sharing: 'per-agent', start: 'eager' })]);
    const [a, b, operator] = [world.agent(), world.agent(), world.agent()];
    await a.see();
    await b.see();
    const before = [await a.pid('own'), await b.pid('own')];
    const running = async () => {
      const rows = (await operator.status()).filter(({ name }) => name === 'own');
      return rows.flatMap(({ pids }) => pids.map(String)).sort();
    };
    expect(await running()).toEqual([...before].sort());
    await operator.ask('restart', 'fleet/restart', { servers: ['own'], wait: true });
    const after = [await a.pid('own'), await b.pid('own')];
    expect(after.filter((pid) => before.includes(pid))).toEqual([]);
    expect(await running()).toEqual([...after].sort());
  });
});
