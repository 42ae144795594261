import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMAND, toolherd } from '../../../support/command.js';
import { makeHome } from '../../../support/herd.js';

const FIXTURE = join(import.meta.dirname, '..', '..', '..', 'fixtures', 'offers.mjs');
const entry = (name: string, args: string) =>
  `  - {name: ${name}, description: d, server: s, command: "${process.execPath}", args: ["${FIXTURE}"${args}]}\n`;
const CONFIG = `version: "1.0"
security: {allowed_commands: ["${process.execPath}"]}
mcp_servers:
${entry('shop', '')}${entry('shop.big', ', "501"')}`;

async function makeCommand() {
  const home = makeHome(CONFIG);
  await home.start();
  const env = { TOOLHERD_HOME: home.folder };
  const run = (...args: string[]) => toolherd(args, { cwd: home.folder, env });
  const json = async (...args: string[]) => JSON.parse((await run(...args, '--json')).stdout);
  const bytes = (...args: string[]) =>
    execFileSync(process.execPath, [COMMAND, ...args], { env: { ...home.environment, ...env } });
  return { run, json, bytes };
}

describe('the lists on the command line', () => {
  it('U7: tools marks a tool with a bad definition', async () => {
    const { run, json } = await makeCommand();
    const { status, stdout, stderr } = await run('tools', 'shop.big');
    expect(stdout).toMatch(/^TOOL +DESCRIPTION\n/);
    expect(stdout).toContain('shop.big.tool-500 !');
    expect(stderr).toBe(
      'warning: shop.big.tool-500: its inputSchema cannot be compiled: properties is no object\n',
    );
    expect(status).toBe(0);
    expect((await json('tools', 'shop.big')).tools).toHaveLength(501);
    expect((await run('tools', 'shop', '--schema')).stdout).toContain('shop.echo\n{\n  "type": "object"\n}');
  });

  it('tools --tokens counts what definitions cost, by server and by tool, as status does', async () => {
    const { run, json } = await makeCommand();
    const { stdout, stderr } = await run('tools', 'shop', '--tokens');
    expect(stdout).toMatch(/^TOKENS +TOOL\n\d+ +shop: \d+ tools\n\d+ +shop\.\S+\n/);
    expect(stderr).toContain('a token is four characters');
    const { tokens, tools } = await json('tools', 'shop', '--tokens');
    expect(tokens.servers).toEqual([{ server: 'shop', tools: tools.length, tokens: tokens.total }]);
    expect(tokens.tools).toHaveLength(tools.length);
    const [shop] = (await json('status', 'shop')).servers;
    expect(shop.tools_tokens).toBe(tokens.total);
  });

  it('prompts and resources list all entries; an unknown server gets a suggestion', async () => {
    const { run, json } = await makeCommand();
    const prompts = await run('prompts', 'shop');
    expect(prompts.stdout.split('\n').slice(0, 3)).toEqual([
      'PROMPT      ARGUMENTS  DESCRIPTION',
      'shop.greet  who        Says hello',
      'shop.wait   -',
    ]);
    expect((await json('prompts', 'shop')).prompts[0]).toMatchObject({ exposed_name: 'shop__greet' });
    expect((await run('resources', 'shop')).stdout).toMatch(
      /^SERVER +URI +TYPE +DESCRIPTION\nshop +note:\/\/hello +text\/plain +hello\nshop +image:\/\/dot .*A dot\nshop +note:\/\/\{name\} +- +notes\n$/,
    );
    expect(Object.keys(await json('resources'))).toEqual([
      'api_version',
      'resources',
      'templates',
      'missing',
    ]);
    expect(await run('prompts', 'shup')).toMatchObject({
      status: 4,
      stderr: expect.stringContaining("did you mean 'shop'?"),
    });
  });

  it('prompt fills in a prompt; the longest server name wins, and the public name works', async () => {
    const { run, json } = await makeCommand();
    expect(await run('prompt', 'shop.greet', 'who=you')).toEqual({
      status: 0,
      stdout: 'Hello you!\n',
      stderr: '',
    });
    expect((await run('prompt', 'shop.big.greet', 'who=all')).stdout).toBe('Hello all!\n');
    expect((await run('prompt', 'shop__greet', 'who=me')).stdout).toBe('Hello me!\n');
    expect((await json('prompt', 'shop.greet', 'who=you')).result).toMatchObject({ _meta: { kept: true } });
    expect(await run('prompt', 'shop.great')).toMatchObject({
      status: 4,
      stderr: expect.stringContaining("did you mean 'greet'?"),
    });
    expect(await run('prompt', 'shop.wait', '--timeout', '200ms')).toMatchObject({ status: 124 });
    expect(await run('prompt', 'greet')).toMatchObject({ status: 2 });
    expect(await run('prompt')).toMatchObject({ status: 2 });
  });

  it('resource writes text and bytes to a pipe unchanged', async () => {
    const { run, json, bytes } = await makeCommand();
    expect((await run('resource', 'shop', 'note://x')).stdout).toBe('a note of x\u0007');
    expect([...bytes('resource', 'shop', 'image://dot')]).toEqual([0x89, 0x50, 0x4e, 0x47, 0x00, 0xff, 0x0a]);
    expect((await json('resource', 'shop', 'image://dot')).result.contents[0]).toMatchObject({
      mimeType: 'image/png',
    });
    expect(await run('resource', 'shop', 'image://dott')).toMatchObject({
      status: 4,
      stderr: expect.stringContaining("did you mean 'image://dot'?"),
    });
    expect(await run('resource', 'shop')).toMatchObject({ status: 2 });
  });

  it('FR-015: call finds a tool by its public name, with or without its server before it', async () => {
    const { run } = await makeCommand();
    expect((await run('call', 'shop.shop__say-it', 'value=hi')).stdout).toBe('hi');
    expect((await run('call', 'shop__say-it', 'value=hi')).stdout).toBe('hi');
    expect((await run('call', 'shop.say it', 'value=hi')).stdout).toBe('hi');
  });

  it.each(['tools', 'prompts', 'prompt', 'resources', 'resource'])(
    '%s --help has an example',
    async (command) => {
      const { stdout, status } = await toolherd([command, '--help'], { cwd: process.cwd() });
      expect(stdout).toContain(`Examples:\n  toolherd ${command}`);
      expect(stdout).toMatch(/Exit status:\n {2}0 +ok\n/);
      expect(status).toBe(0);
    },
  );
});
