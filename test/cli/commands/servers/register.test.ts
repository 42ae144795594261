import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { config, server } from '../../../faults/config.js';
import { toolherd } from '../../../support/command.js';
import { makeFolder } from '../../../support/folder.js';
import { startHerd } from '../../../support/herd.js';

const HERD = `# mine\n${config([server('good', 'good.mjs')])}`;

async function begin(files: Record<string, unknown>) {
  const herd = await startHerd(HERD);
  const texts = Object.entries(files).map(([name, value]) => [name, JSON.stringify(value, null, 2)]);
  const folder = makeFolder(Object.fromEntries(texts));
  const run = (...args: string[]) =>
    toolherd(args, { cwd: folder, env: { ...herd.home.environment, TOOLHERD_HOME: herd.home.folder } });
  return { herd, folder, run };
}

describe('toolherd register', () => {
  it('adds a server until it is unregistered', async () => {
    const { herd, run } = await begin({ 'extra.json': server('extra', 'good.mjs') });
    expect(await run('register', 'extra.json')).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^extra +(created|connecting) +running/m),
    });
    expect(await run('call', 'extra.echo', 'value=hi')).toMatchObject({ status: 0, stdout: 'hi' });
    expect(await run('register', 'extra.json')).toMatchObject({
      status: 78,
      stderr: expect.stringContaining('toolherd unregister extra'),
    });
    expect(await run('unregister', 'extra')).toMatchObject({ status: 0, stdout: 'unregistered: extra\n' });
    expect(await run('unregister', 'extra')).toMatchObject({ status: 4 });
    expect(await run('unregister', 'good')).toMatchObject({ status: 78 });
    expect(readFileSync(herd.home.configFile, 'utf8')).toBe(HERD);
  });

  it('shows the problem of the file with its position', async () => {
    const { run, folder } = await begin({ 'bad.json': { name: 'x', server: 's', comand: 'npx' } });
    const { status, stderr } = await run('register', 'bad.json');
    expect(status).toBe(78);
    expect(stderr).toContain(`at ${join(folder, 'bad.json')}:4:3 (comand)`);
    expect(stderr).toContain("did you mean 'command'?");
    expect(await run('register', 'none.json')).toMatchObject({ status: 78 });
    expect(await run('register')).toMatchObject({ status: 2 });
  });

  it('--save warns of a secret in plain text, declared or of a known form, without showing it', async () => {
    const TOKEN = 'ghp_canary4712canary4712canary4712';
    const declared = [
      { name: 'HARMLESS', secret: true },
      { name: 'KEPT', secret: true },
    ];
    const command = server('x', 'good.mjs').args;
    const { run } = await begin({
      'plugin/plugin.json': { packages: [{ runtime: 'node', command, environment_variables: declared }] },
      'source.json': {
        ...{ name: 'plug', source_type: 'mcp', mcp_plugin_dir: './plugin' },
        mcp_env_vars: { HARMLESS: 'canary-4711', KEPT: '${KEPT:-x}', PLAIN: 'canary-free', LIKE: TOKEN },
        mcp_args: [`${TOKEN}4713`],
      },
    });
    const { status, stdout, stderr } = await run('register', 'source.json', '--save', '--json');
    expect({ status, warnings: JSON.parse(stdout).warnings }).toEqual({
      status: 0,
      warnings: [
        expect.stringMatching(/^mcp_env_vars.HARMLESS is treated as a secret, .*write \$\{HARMLESS\}/),
        expect.stringMatching(/^mcp_env_vars.LIKE looks like a secret, .*write \$\{LIKE\}/),
        expect.stringMatching(/^mcp_args\[0\] is treated as a secret, .*write \$\{mcp_args\}/),
      ],
    });
    expect(stderr).toContain('warning: mcp_env_vars.HARMLESS is treated as a secret');
    expect(stdout + stderr).not.toMatch(/canary-?471/);
  });

  it('--save writes the server to the global config, with absolute paths', async () => {
    const { herd, run, folder } = await begin({
      'plugin/plugin.json': { packages: [{ runtime: 'node', command: server('x', 'good.mjs').args }] },
      'source.json': { name: 'plug', source_type: 'mcp', url: 'mcp://plug', mcp_plugin_dir: './plugin' },
    });
    expect(await run('register', 'source.json', '--save')).toMatchObject({ status: 0 });
    const text = readFileSync(herd.home.configFile, 'utf8');
    expect(text.startsWith(HERD)).toBe(true);
    expect(text).toContain(`mcp_plugin_dir: ${join(folder, 'plugin')}`);
    expect(await run('call', 'plug.echo', 'value=hi')).toMatchObject({ status: 0, stdout: 'hi' });
    expect(await run('register', 'source.json', '--save')).toMatchObject({ status: 78 });
    expect(readFileSync(herd.home.configFile, 'utf8')).toBe(text);
  });

  it('--save keeps what the args of a server mean, with and without a cwd', async () => {
    const { run, folder } = await begin({
      'sub/file': '',
      'bare.json': server('bare', 'good.mjs', { args: ['./x', '../y'] }),
      'inside.json': server('inside', 'good.mjs', { args: ['./x', '../y'], cwd: 'sub' }),
    });
    for (const name of ['bare', 'inside'])
      expect(await run('register', `${name}.json`, '--save')).toMatchObject({ status: 0 });
    const argv = async (name: string) => JSON.parse((await run('call', `${name}.argv`)).stdout);
    expect(await argv('bare')).toEqual([join(folder, 'x'), join(folder, '..', 'y')]);
    expect(await argv('inside')).toEqual([join(folder, 'x'), '../y']);
    expect((await run('call', 'inside.cwd')).stdout).toBe(join(folder, 'sub'));
  });

  it('--save keeps an envFile, with its absolute path', async () => {
    const { herd, run, folder } = await begin({
      'extra.json': server('extra', 'good.mjs', { envFile: '${workspaceFolder}/.env' }),
    });
    writeFileSync(join(folder, '.env'), 'VALUE=from-the-file\n');
    expect(await run('register', 'extra.json', '--save')).toMatchObject({ status: 0 });
    expect(readFileSync(herd.home.configFile, 'utf8')).toContain(`envFile: ${join(folder, '.env')}\n`);
    expect((await run('call', 'extra.env')).stdout).toContain('from-the-file');
  });
});

describe('toolherd reload', () => {
  it('reports the changes, and with --dry-run those that would be made', async () => {
    const { herd, run } = await begin({});
    writeFileSync(herd.home.configFile, config([server('good', 'good.mjs'), server('late', 'good.mjs')]));
    const dry = await run('reload', '--dry-run', '--json');
    // the daemon may have seen the file already
    const { added, unchanged, removed } = JSON.parse(dry.stdout);
    expect([...added, ...unchanged].sort()).toEqual(['good', 'late']);
    expect(removed).toEqual([]);
    expect(await run('reload')).toMatchObject({ status: 0 });
    expect((await herd.status('late')).detail).toBe('running');
    writeFileSync(herd.home.configFile, 'version: "1.0"\nmcp_server: []\n');
    expect(await run('reload')).toMatchObject({ status: 78 });
    expect((await herd.status('late')).detail).toBe('running');
  });
});
