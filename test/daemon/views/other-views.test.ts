import { describe, expect, it } from 'vitest';
import { toolherd } from '../../support/command.js';
import { isAlive } from '../../support/processes.js';
import { until } from '../../support/until.js';
import { type Agent, run, type Status, shared, startWorld } from './support.js';

/** Two projects with one server each, which run, and a connection that uses neither file. */
async function twoProjects(names: readonly [string, string]) {
  const world = await startWorld([]);
  const red = world.project('red', [shared(names[0], 'good.mjs', { args: ['red'] })]);
  const blue = world.project('blue', [shared(names[1], 'good.mjs', { args: ['blue'] })]);
  await red.allow();
  await blue.allow();
  const a = await world.agent().see(red.file);
  const b = await world.agent().see(blue.file);
  const pids = [Number(await a.pid(names[0])), Number(await b.pid(names[1]))] as const;
  return { world, red, blue, a, b, pids, global: await world.agent().see() };
}

const order = async (client: Agent, verb: string, params: object): Promise<Status[]> => {
  const { error, result } = await client.ask(verb, `fleet/${verb}`, { ...params, wait: true });
  if (error !== undefined) throw new Error(error.message);
  return result?.servers as Status[];
};

const whose = (rows: readonly Status[]) =>
  rows.map(({ name, agent, other_view }) => [name, agent, other_view === true]);

describe('a server of another view', () => {
  it('is in every status while it runs, after the own servers and with its agent; at rest only in the global status', async () => {
    const { red, blue, a, b, global } = await twoProjects(['red', 'blue']);
    expect(whose(await global.status())).toEqual([
      ['any', null, false],
      ['red', red.file, true],
      ['blue', blue.file, true],
    ]);
    expect(whose(await a.status())).toEqual([
      ['any', null, false],
      ['red', red.file, false],
      ['blue', blue.file, true],
    ]);
    await order(b, 'stop', { servers: ['blue'] });
    expect(whose(await global.status())).toContainEqual(['blue', blue.file, true]);
    expect(whose(await a.status())).not.toContainEqual(['blue', blue.file, true]);
    const named = await a.ask('named', 'fleet/status', { servers: ['blue'] });
    expect(whose(named.result?.servers as Status[])).toEqual([['blue', blue.file, true]]);
  });

  it('is stopped, started, restarted and reset by its name', async () => {
    const { blue, a, b, pids } = await twoProjects(['red', 'blue']);
    expect(await order(a, 'stop', { servers: ['blue'] })).toMatchObject([
      { name: 'blue', agent: blue.file, detail: 'stopped', pids: [] },
    ]);
    expect(isAlive(pids[1])).toBe(false);
    expect(await order(a, 'start', { servers: ['blue'] })).toMatchObject([{ detail: 'running' }]);
    const started = await b.pid('blue');
    await order(a, 'restart', { servers: ['blue'] });
    expect(await b.pid('blue')).not.toBe(started);
    expect(await order(a, 'reset', { servers: ['blue'] })).toMatchObject([{ name: 'blue' }]);
  });

  it('can be inspected, and its log can be read', async () => {
    const { red, global, pids } = await twoProjects(['red', 'blue']);
    const inspected = await global.ask('inspect', 'fleet/inspect', { server: 'red' });
    expect(inspected.result).toMatchObject({
      status: { name: 'red', agent: red.file, other_view: true, pids: [pids[0]] },
      spec: { origin: { file: red.file } },
    });
    expect(JSON.stringify(inspected.result?.journal)).toContain('connected');
    expect((await global.ask('logs', 'fleet/logs', { server: 'red' })).error).toBeUndefined();
  });

  it('cannot be called, listed or bridged; the error names its agent file', async () => {
    const { blue, a, b, global } = await twoProjects(['red', 'blue']);
    const call = await a.ask('call', 'fleet/call', { server: 'blue', tool: 'pid', arguments: {} });
    expect(call.result?.error).toMatchObject({
      type: 'ServerNotFoundError',
      why: `it is a server of ${blue.file}, which this connection does not use`,
      fix: `add: --agent ${blue.file}`,
    });
    expect((await global.ask('tools', 'fleet/tools', { server: 'blue' })).error?.message).toContain('blue');
    expect((await global.ask('hello', 'fleet/hello', { server: 'blue' })).error?.message).toContain('blue');
    expect(await b.tools()).toContain('blue__pid');
    const tools = await a.tools();
    expect(tools).toEqual(expect.arrayContaining(['any__pid', 'red__pid']));
    expect(tools).not.toContain('blue__pid');
    const foreign = await a.ask('mcp', 'tools/call', { name: 'blue__pid', arguments: {} });
    expect(foreign.error?.message).toContain('blue__pid');
  });

  it('a foreign server with the name of an own server gets no order by that name', async () => {
    const { a, b, pids } = await twoProjects(['notes', 'notes']);
    expect(await order(a, 'stop', { servers: ['notes'] })).toHaveLength(1);
    expect([isAlive(pids[0]), Number(await b.pid('notes'))]).toEqual([false, pids[1]]);
  });

  it('an order for a name that several views have reaches each of their servers; inspect needs the agent file', async () => {
    const { red, blue, global, pids } = await twoProjects(['notes', 'notes']);
    const inspected = await global.ask('inspect', 'fleet/inspect', { server: 'notes' });
    expect(inspected.error?.data).toMatchObject({
      type: 'ServerNotFoundError',
      why: `these files have one: ${red.file}, ${blue.file}`,
      fix: 'choose one with --agent FILE',
    });
    expect(whose(await order(global, 'stop', { servers: ['notes'] }))).toEqual([
      ['notes', red.file, true],
      ['notes', blue.file, true],
    ]);
    expect(pids.some(isAlive)).toBe(false);
  });
});

describe('an order for all', () => {
  it('stops the servers of every view', async () => {
    const { a, global, pids } = await twoProjects(['red', 'blue']);
    const any = Number(await global.pid('any'));
    const rows = await order(a, 'stop', { all: true });
    expect(rows.map(({ name, detail }) => [name, detail])).toEqual([
      ['any', 'stopped'],
      ['red', 'stopped'],
      ['blue', 'stopped'],
    ]);
    expect([any, ...pids].some(isAlive)).toBe(false);
  });

  it('starts no server of another view that is at rest', async () => {
    const { a, b, global } = await twoProjects(['red', 'blue']);
    await order(b, 'stop', { servers: ['blue'] });
    expect(whose(await order(a, 'restart', { all: true })).map(([name]) => name)).toEqual(['any', 'red']);
    expect((await global.status()).find(({ name }) => name === 'blue')?.detail).toBe('stopped');
  });
});

describe('the command outside of a project', () => {
  it('status --exit-code ignores failing servers of another project, unless they are named', async () => {
    const world = await startWorld([]);
    const red = world.project('red', [shared('red')]);
    const bad = world.project('bad', [shared('bad', 'exits-at-start.mjs', { max_restarts: 0 })]);
    await red.allow();
    await bad.allow();
    const b = await world.agent().see(bad.file);
    await b.ask('start', 'fleet/start', { servers: ['bad'], wait: true });
    const status = async (...words: string[]) =>
      (await toolherd(['status', ...words, '--exit-code'], run(world.home, red.folder))).status;
    expect([await status(), await status('bad')]).toEqual([0, 1]);
    const global = await toolherd(['status', '--exit-code'], run(world.home, world.home.folder));
    expect(global.status).toBe(1);
  });

  it('shows the servers of a project with their agent; why, inspect and stop work for them', async () => {
    const { world, red, pids } = await twoProjects(['notes', 'blue']);
    const options = run(world.home, world.home.folder);
    const status = await toolherd(['status'], options);
    expect(status.stdout).toMatch(/TOOLS +AGENT\n/);
    expect(status.stdout).toMatch(/^notes .*red\/agent\.yaml$/m);
    const inside = await toolherd(['status', '--json'], run(world.home, red.folder));
    expect(whose(JSON.parse(inside.stdout).servers).at(-1)).toEqual(['blue', expect.any(String), true]);
    const why = await toolherd(['why', 'notes'], options);
    expect([why.status, why.stdout.split('\n')[0]]).toEqual([
      0,
      expect.stringContaining(`notes (of ${red.file}) is running`),
    ]);
    expect((await toolherd(['inspect', 'notes'], options)).status).toBe(0);
    const called = await toolherd(['call', 'notes.pid'], options);
    expect([called.status, called.stderr]).toEqual([4, expect.stringContaining(`--agent ${red.file}`)]);
    const stopped = await toolherd(['stop', 'notes', '--wait'], options);
    expect([stopped.status, isAlive(pids[0])]).toEqual([0, false]);
    expect((await toolherd(['stop', '--all', '--wait'], options)).status).toBe(0);
    await until(() => !isAlive(pids[1]));
  });

  it('shows no AGENT column if its view has every server', async () => {
    const world = await startWorld([]);
    // one that takes the place of the global entry
    const red = world.project('red', [shared('any', 'good.mjs', { args: ['red'] })]);
    await red.allow();
    const status = await toolherd(['status'], run(world.home, red.folder));
    expect([status.status, status.stdout]).toEqual([0, expect.stringMatching(/TOOLS\n/)]);
    expect(status.stdout.match(/^any /gm)).toHaveLength(1);
  });
});
