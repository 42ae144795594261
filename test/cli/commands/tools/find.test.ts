import { describe, expect, it } from 'vitest';
import { command, config, server } from '../../../faults/config.js';
import { toolherd } from '../../../support/command.js';
import { makeHome } from '../../../support/herd.js';

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
