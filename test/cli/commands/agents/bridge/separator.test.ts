import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { config, server } from '../../../../faults/config.js';
import { textOf } from '../../../../ipc/mcp/support.js';
import { startBridge } from '../../../../support/bridge.js';
import { toolherd } from '../../../../support/command.js';
import { type Home, killDaemon, startHerd, until } from '../../../../support/herd.js';

const HERD = config([server('my.good', 'good.mjs')]);
const run = ({ folder, environment }: Home, ...args: string[]) =>
  toolherd(args, { cwd: folder, env: environment });
const PARAMS = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } };

describe('the separator of public names', () => {
  it('D2: a bridge lists names with its separator, also at the next daemon', async () => {
    const { home, daemon, fleet } = await startHerd(HERD);
    const bridge = startBridge(home, { flags: ['--separator', '_'] });
    bridge.say({ id: 'hello', method: 'initialize', params: PARAMS });
    bridge.say({ method: 'notifications/initialized' });
    const names = async (id: string) => {
      bridge.say({ id, method: 'tools/list' });
      const { tools } = (await bridge.reply(id)).result as { tools: { name: string }[] };
      return tools.map(({ name }) => name);
    };
    const echo = async (id: string, name: string) => {
      bridge.say({ id, method: 'tools/call', params: { name, arguments: { value: id } } });
      return textOf(await bridge.reply(id));
    };
    expect(await names('first')).toContain('my-good_echo');
    for (const name of ['my-good_echo', 'my-good__echo', 'my.good__echo'])
      expect(await echo(name, name)).toBe(name);
    // other connections have the separator of the config
    const { tools } = await fleet.tools();
    expect(tools.map(({ exposed_name }) => exposed_name)).toContain('my-good__echo');
    await killDaemon(home, daemon);
    await home.start();
    await until(() => bridge.lines.some(({ method }) => method === 'notifications/tools/list_changed'));
    expect(await names('second')).toContain('my-good_echo');
    expect(await echo('after', 'my-good_echo')).toBe('after');
  });

  it('the separator of the config counts for the command', async () => {
    const { home } = await startHerd(
      config([server('my.good', 'good.mjs')], { surface: { separator: '-' } }),
    );
    const listed = await run(home, 'tools', '--json');
    expect(JSON.parse(listed.stdout).tools[0].exposed_name).toMatch(/^my-good-/);
    const found = await run(home, 'find', 'echo', '--json');
    expect(JSON.parse(found.stdout).tools[0].exposed_name).toBe('my-good-echo');
    expect((await run(home, 'call', 'my-good-echo', 'value=hi')).stdout).toBe('hi');
    expect((await run(home, 'call', 'my-good__echo', 'value=hi')).stdout).toBe('hi');
  });

  it('attach writes the separator into the entry of the client; an unknown one is a usage error', async () => {
    const { home } = await startHerd(HERD);
    const attached = await run(home, 'attach', 'cursor', '--scope', 'project', '--separator', '-');
    expect(attached.status).toBe(0);
    const entry = JSON.parse(readFileSync(join(home.folder, '.cursor', 'mcp.json'), 'utf8'));
    expect(entry.mcpServers.toolherd.args).toEqual(['bridge', '--separator', '-']);
    const wrong = await run(home, 'bridge', '--separator', '/');
    expect([wrong.status, wrong.stderr]).toEqual([2, expect.stringContaining("unknown separator '/'")]);
  });
});
