import { describe, expect, it } from 'vitest';
import { command, config, server } from '../../../faults/config.js';
import { toolherd } from '../../../support/command.js';
import { isAlive, makeHome, until } from '../../../support/herd.js';

const HERD = config([
  server('offers', 'offers.mjs'),
  server('typed', 'typed.mjs'),
  command('dies', '/nowhere/server', []),
]);

async function makeCommand() {
  const home = makeHome(HERD);
  await home.start();
  const env = { TOOLHERD_HOME: home.folder };
  const run = (...args: string[]) => toolherd(['find', ...args], { cwd: home.folder, env });
  const call = (...args: string[]) => toolherd(['call', ...args], { cwd: home.folder, env });
  return { run, call };
}

describe('find', () => {
  it('shows a tool a line with its arguments, the best first, and the same as JSON', async () => {
    const { run } = await makeCommand();
    const { status, stdout } = await run('remove', 'an', 'item');
    expect(status).toBe(0);
    expect(stdout).toMatch(/^TOOL +DESCRIPTION\n(?:offers\.remove\(\)|typed\.order\(item: string)/);
    const found = JSON.parse((await run('add', '--server', 'typed', '--limit', '1', '--json')).stdout);
    expect(found).toEqual({
      api_version: 1,
      tools: [
        {
          server: 'typed',
          name: 'add',
          exposed_name: 'typed__add',
          signature: 'add(a: number, b: number, loud?: boolean)',
          description: expect.any(String),
          score: expect.any(Number),
        },
      ],
      missing: [],
      hints: [],
    });
  });

  it('says why it finds nothing: similar words, and the servers whose tools are not known', async () => {
    const { run } = await makeCommand();
    const { status, stdout, stderr } = await run('ehco');
    expect([status, stdout]).toEqual([0, 'nothing found\n']);
    expect(stderr).toContain('has a word of the query\n');
    expect(stderr).toContain('words of tools that are similar: echo\n');
    expect(stderr).toMatch(/missing: dies: .*does not exist/);
  });

  it('names servers that are disabled or misconfigured, and tools that the config hides', async () => {
    const home = makeHome(
      config([
        server('typed', 'typed.mjs', { tools: { deny: ['order'] } }),
        server('off', 'offers.mjs', { enabled: false }),
        server('wrong', 'offers.mjs', { env: { KEY: '${NOT_SET_ANYWHERE}' } }),
      ]),
    );
    await home.start();
    const find = (...args: string[]) =>
      toolherd(['find', ...args], { cwd: home.folder, env: home.environment });
    const { stdout, stderr } = await find('order');
    expect(stdout).toBe('nothing found\n');
    expect(stderr).toContain(
      'servers that cannot run were not searched: off (disabled), wrong (misconfigured)\n',
    );
    expect(stderr).toContain('the config hides tools of typed (tools.allow, tools.deny)\n');
    expect((await find('echo', '--server', 'off')).stderr).toContain('off (disabled)');
  });

  it('ranks tools as before after the daemon has restarted, by the calls of the audit file', async () => {
    const home = makeHome(config([server('one', 'offers.mjs'), server('two', 'offers.mjs')]));
    const run = { cwd: home.folder, env: home.environment };
    const first = async () => {
      const { stdout } = await toolherd(['find', 'echo', '--json'], run);
      return JSON.parse(stdout).tools[0].server;
    };
    const daemon = await home.start();
    expect(await first()).toBe('one');
    await toolherd(['call', 'two.echo', 'value=x'], run);
    expect(await first()).toBe('two');
    await toolherd(['down'], run);
    await until(() => !isAlive(daemon.pid));
    await home.start();
    expect(await first()).toBe('two');
    // the calls of both daemons count
    for (let count = 0; count < 3; count += 1) await toolherd(['call', 'one.echo', 'value=x'], run);
    expect(await first()).toBe('one');
  });

  it('fails with the name of an unknown server, and where the tools of the named server are not known', async () => {
    const { run } = await makeCommand();
    expect(await run('x', '--server', 'typd')).toMatchObject({
      status: 4,
      stderr: expect.stringContaining("did you mean 'typed'?"),
    });
    expect(await run('x', '--server', 'dies')).toMatchObject({ status: 1, stdout: 'nothing found\n' });
    expect(await run()).toMatchObject({ status: 2, stderr: expect.stringContaining('QUERY') });
  });

  it('an empty query is a usage error, and one of small words alone is named as such', async () => {
    const { run } = await makeCommand();
    expect(await run('')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('the query is empty\n  fix: '),
    });
    expect(await run('the', 'a', 'of')).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('the query has only words that the search leaves out\n'),
    });
  });
});
