import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { config, server } from '../../faults/config.js';
import { toolherd } from '../../support/command.js';
import { isAlive } from '../../support/processes.js';
import { until } from '../../support/until.js';
import { type Agent, type Project, run, shared, startWorld } from './support.js';

/** Of the servers of one name, as a connection sees them. */
const rowsOf = async (client: Agent, name: string) =>
  (await client.status()).filter((row) => row.name === name);

async function inUse(entries = [shared('red')]) {
  const world = await startWorld([shared('common')]);
  const red = world.project('red', entries);
  await red.allow();
  const client = await world.agent().see(red.file);
  return { world, red, client, pid: Number(await client.pid('red')) };
}

/** Resolves when the client's view has ended. */
const ended = (client: Agent) =>
  until(async () => (await rowsOf(client, 'red'))[0]?.detail === 'not_allowed');

describe('an agent.yaml that is deleted', () => {
  it('stops its servers when no connection uses it, and status shows none of them', async () => {
    const { world, red, client, pid } = await inUse();
    const global = await world.agent().see();
    client.close();
    rmSync(red.file);
    await until(() => !isAlive(pid));
    await until(async () => (await rowsOf(global, 'red')).length === 0);
    expect((await global.status()).map(({ name }) => name)).toEqual(['any', 'common']);
  });

  it('withdraws its servers from a connection, with the reason, until the file is back', async () => {
    const { red, client, pid } = await inUse();
    const common = await client.pid('common');
    rmSync(red.file);
    await ended(client);
    await until(() => !isAlive(pid));
    const tools = await client.tools();
    expect(tools).toEqual(expect.arrayContaining(['any__echo', 'common__echo']));
    expect(tools.filter((tool) => tool.startsWith('red'))).toEqual([]);
    const [row] = await rowsOf(client, 'red');
    const fix = `restore ${red.file}; its servers come back with it`;
    expect(row).toMatchObject({
      agent: red.file,
      pids: [],
      last_error: { message: `${red.file} was deleted` },
    });
    const call = await client.ask('call', 'fleet/call', { server: 'red', tool: 'pid', arguments: {} });
    expect(call.result?.error).toMatchObject({
      type: 'TrustRequiredError',
      message: 'red: is not allowed to run any more',
      why: `${red.file} was deleted`,
      fix,
    });
    expect(await client.pid('common')).toBe(common);
    red.write([shared('red')]);
    await until(async () => (await rowsOf(client, 'red'))[0]?.detail === 'idle');
    expect(Number(await client.pid('red'))).not.toBe(pid);
  });

  it('is used again with its folder, as when a worktree is removed and added again', async () => {
    const { red, client, pid } = await inUse([shared('red', 'good.mjs', { cwd: '/' })]);
    rmSync(red.folder, { recursive: true });
    await ended(client);
    await until(() => !isAlive(pid));
    mkdirSync(red.folder);
    red.write([shared('red', 'good.mjs', { cwd: '/' })]);
    await until(async () => (await rowsOf(client, 'red'))[0]?.detail === 'idle');
    expect(Number(await client.pid('red'))).not.toBe(pid);
  });

  it('an agent.yaml that is back with other content is not used before it is allowed', async () => {
    const { red, client } = await inUse();
    rmSync(red.file);
    await ended(client);
    red.write([shared('red', 'good.mjs', { args: ['other'] })]);
    const why = () => rowsOf(client, 'red').then(([row]) => row?.last_error?.message);
    await until(async () => (await why()) === `${red.file} has changed since it was allowed`);
    expect((await rowsOf(client, 'red'))[0]).toMatchObject({ detail: 'not_allowed', pids: [] });
    await red.allow();
    expect(await client.say1('red__argv')).toBe('["other"]');
  });

  test.each([
    ['a folder', ({ file }: Project) => mkdirSync(file), 'is a folder'],
    ['a link that leads nowhere', ({ file }: Project) => symlinkSync('none', file), 'was deleted'],
    ['what cannot be opened', ({ file }: Project) => symlinkSync(file, file), 'could not be read (ELOOP)'],
  ])('an agent.yaml that was replaced by %s counts as deleted', async (_, replace, why) => {
    const { red, client } = await inUse();
    rmSync(red.file);
    replace(red);
    await ended(client);
    expect((await rowsOf(client, 'red'))[0]?.last_error?.message).toBe(`${red.file} ${why}`);
  });

  it('does not keep a server that the global config drops', async () => {
    const { world, red, client } = await inUse();
    const common = Number(await client.pid('common'));
    rmSync(red.file);
    world.home.configure(config([server('any', 'good.mjs')]));
    await until(() => !isAlive(common));
    expect(await rowsOf(client, 'common')).toEqual([]);
  });
});

it('a server of an agent.yaml stops with the file, and a global server with its entry', async () => {
  const world = await startWorld([shared('one')]);
  const red = world.project('red', [shared('two')]);
  await red.allow();
  const options = run(world.home, red.folder);
  const pids: number[] = [];
  for (const tool of ['one.pid', 'two.pid'])
    pids.push(Number((await toolherd(['call', tool], options)).stdout));
  rmSync(red.file);
  expect((await toolherd(['remove', 'one', '-g'], options)).status).toBe(0);
  await until(() => !pids.some(isAlive));
  const status = await toolherd(['status', '--json'], options);
  expect(JSON.parse(status.stdout).servers.map(({ name }: { name: string }) => name)).toEqual(['any']);
});
