import { readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { expect, it, onTestFinished } from 'vitest';
import { startRegistry } from '../registry/server.js';
import { toolherd } from '../support/command.js';
import { expectRegion } from '../support/docs.js';
import { makeHome } from '../support/herd.js';

const PACKAGE = '@modelcontextprotocol/server-everything';
const require = createRequire(import.meta.url);
const {
  mcpName: NAME,
  description,
  version,
} = require(`${PACKAGE}/package.json`) as Record<'mcpName' | 'description' | 'version', string>;
const EVERYTHING = {
  server: {
    name: NAME,
    description,
    version,
    packages: [{ registryType: 'npm', identifier: PACKAGE, version, transport: { type: 'stdio' } }],
  },
};

it("SC-001 US1.1: the README's search, add, call and attach work, and a client of the written config calls a tool", async () => {
  const registry = await startRegistry([EVERYTHING]);
  const home = makeHome('version: "1.0"\n');
  // where npx finds the package without a download
  symlinkSync(join(import.meta.dirname, '..', '..', 'node_modules'), join(home.folder, 'node_modules'));
  const told: string[] = [];
  const run = async (line: string) => {
    const env = { ...home.environment, TOOLHERD_REGISTRY: registry.url };
    const { status, stdout, stderr } = await toolherd(line.split(' '), { cwd: home.folder, env });
    expect([line, status, stderr]).toEqual([line, 0, expect.not.stringContaining('error')]);
    told.push(`$ toolherd ${line}\n${stdout.replace(/\n?$/, '\n')}`);
    return stdout;
  };
  await run('search everything');
  await run(`add ${NAME} -g --name everything`);
  const up = await toolherd(['up', '--json'], { cwd: home.folder, env: home.environment });
  home.adopt((JSON.parse(up.stdout) as { pid: number }).pid);
  expect(await run('call everything.get-sum a=2 b=3')).toBe('The sum of 2 and 3 is 5.');
  await run('attach claude-desktop');
  const written = readFileSync(join(home.folder, '.config/Claude/claude_desktop_config.json'), 'utf8');
  const { command, args, env } = JSON.parse(written).mcpServers.toolherd;
  const client = new Client({ name: 'newcomer', version: '1' });
  onTestFinished(() => client.close());
  await client.connect(new StdioClientTransport({ command, args, env: { ...env, PATH: '/usr/bin:/bin' } }));
  const result = await client.callTool({ name: 'everything__echo', arguments: { message: 'hi' } });
  expect(result.content).toEqual([{ type: 'text', text: 'Echo: hi' }]);
  const transcript = told
    .join('\n')
    .replaceAll(home.configFile, '~/.config/toolherd/config.yaml')
    .replaceAll(home.folder, '~')
    .trimEnd();
  expectRegion('README.md', 'newcomer', `\`\`\`\n${transcript}\n\`\`\``);
});
