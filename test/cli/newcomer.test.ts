import { readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { expect, it, onTestFinished } from 'vitest';
import { startRegistry } from '../registry/server.js';
import { toolherd } from '../support/command.js';
import { makeHome } from '../support/herd.js';

const PACKAGE = '@modelcontextprotocol/server-memory';
const require = createRequire(import.meta.url);
const { version } = require(`${PACKAGE}/package.json`) as { version: string };
const MEMORY = {
  server: {
    name: 'io.github.modelcontextprotocol/memory',
    description: 'A knowledge graph that remembers',
    version: '1.0.0',
    packages: [{ registryType: 'npm', identifier: PACKAGE, version, transport: { type: 'stdio' } }],
  },
};

it("SC-001 US1.1: a newcomer's path: search, add, call, attach, and a client started from the written config calls a tool", async () => {
  const registry = await startRegistry([MEMORY]);
  const home = makeHome('version: "1.0"\n');
  // where npx finds the package without asking anybody
  symlinkSync(join(import.meta.dirname, '..', '..', 'node_modules'), join(home.folder, 'node_modules'));
  const run = async (...args: string[]) => {
    const env = { ...home.environment, TOOLHERD_REGISTRY: registry.url };
    const { status, stdout, stderr } = await toolherd(args, { cwd: home.folder, env });
    expect([args, status, stderr]).toEqual([args, 0, expect.not.stringContaining('error')]);
    return stdout;
  };
  expect(await run('search', 'memory')).toContain('io.github.modelcontextprotocol/memory');
  const memoryFile = `MEMORY_FILE_PATH=${join(home.folder, 'memory.jsonl')}`;
  const added = await run('add', 'io.github.modelcontextprotocol/memory', '-g', '--env', memoryFile);
  expect(added).toContain('memory');
  const { pid } = JSON.parse(await run('up', '--json')) as { pid: number };
  home.adopt(pid);
  const entities = [{ name: 'Ada', entityType: 'person', observations: ['wrote the first program'] }];
  await run('call', 'memory.create_entities', `entities:=${JSON.stringify(entities)}`);
  expect(await run('call', 'memory.search_nodes', 'query=Ada')).toContain('wrote the first program');
  await run('attach', 'claude-desktop');
  const written = readFileSync(join(home.folder, '.config/Claude/claude_desktop_config.json'), 'utf8');
  const { command, args, env } = JSON.parse(written).mcpServers.toolherd;
  const client = new Client({ name: 'newcomer', version: '1' });
  onTestFinished(() => client.close());
  await client.connect(new StdioClientTransport({ command, args, env: { ...env, PATH: '/usr/bin:/bin' } }));
  const result = await client.callTool({ name: 'memory__search_nodes', arguments: { query: 'Ada' } });
  expect(JSON.stringify(result.content)).toContain('wrote the first program');
});
