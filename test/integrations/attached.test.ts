import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { parse as parseToml } from 'smol-toml';
import { describe, expect, it, onTestFinished } from 'vitest';
import { config, server } from '../faults/config.js';
import { toolherd } from '../support/command.js';
import { startHerd } from '../support/herd.js';

interface Program {
  command: string;
  args: string[];
  env?: Record<string, string>;
}

/** The program in each client's file, read as the client reads it. */
const RUNS: Record<string, { file: string; program(text: string): Program }> = {
  'claude-desktop': {
    file: '.config/Claude/claude_desktop_config.json',
    program: (text) => JSON.parse(text).mcpServers.toolherd,
  },
  vscode: { file: '.config/Code/User/mcp.json', program: (text) => JSON.parse(text).servers.toolherd },
  codex: {
    file: '.codex/config.toml',
    program: (text) =>
      (parseToml(text) as unknown as { mcp_servers: { toolherd: Program } }).mcp_servers.toolherd,
  },
  opencode: {
    file: '.config/opencode/opencode.json',
    program(text) {
      const { command, environment } = JSON.parse(text).mcp.toolherd;
      return { command: command[0], args: command.slice(1), env: environment };
    },
  },
};

describe('an attached client', () => {
  it('starts the program in its file and calls a tool of the herd: Claude Desktop, VS Code, Codex, opencode', async () => {
    const { home } = await startHerd(config([server('good', 'good.mjs')]));
    for (const [name, { file, program }] of Object.entries(RUNS)) {
      const { status } = await toolherd(['attach', name], { cwd: home.folder, env: home.environment });
      expect(status).toBe(0);
      const { command, args, env } = program(readFileSync(join(home.folder, file), 'utf8'));
      // the environment of a GUI program
      const transport = new StdioClientTransport({ command, args, env: { ...env, PATH: '/usr/bin:/bin' } });
      const client = new Client({ name, version: '1' });
      onTestFinished(() => client.close());
      await client.connect(transport);
      const result = await client.callTool({ name: 'good__echo', arguments: { value: `hi ${name}` } });
      expect(result.content).toEqual([{ type: 'text', text: `hi ${name}` }]);
      await client.close();
    }
  });
});
