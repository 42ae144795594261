import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { measured } from '../../faults/measured.js';
import { toolherd } from '../../support/command.js';
import { isAlive } from '../../support/processes.js';
import { until } from '../../support/until.js';
import { run, shared, startWorld } from './support.js';

const HELLO = 'fleet/hello';

describe('an agent file on the socket', () => {
  it('X3: that was not allowed is refused with what it would run; nothing starts, and the global servers stay', async () => {
    const world = await startWorld([]);
    const red = world.project('red', [shared('red', 'good.mjs', { start: 'eager' })]);
    const client = world.agent();
    const { error } = await client.ask(1, HELLO, { agent: red.file });
    expect(error).toMatchObject({
      code: 1040,
      data: { type: 'TrustRequiredError', file: red.file, would_run: [{ name: 'red', transport: 'stdio' }] },
    });
    expect((await client.status()).map(({ name }) => name)).toEqual(['any']);
    expect(await client.say1('any__echo', { value: 'here' })).toBe('here');
    await red.allow();
    const allowed = await client.ask(2, HELLO, { agent: red.file });
    expect(allowed.result).toMatchObject({ agent: red.file });
    expect(await client.say1('red__echo', { value: 'there' })).toBe('there');
    measured('X3: nothing ran before it was allowed, and toolherd listed what would run');
  });

  it('X3: that changed after it was allowed is refused to new connections; open ones keep the allowed version', async () => {
    const world = await startWorld([]);
    const red = world.project('red', [shared('red')]);
    await red.allow();
    const [early, late] = [world.agent(), world.agent()];
    await early.see(red.file);
    const pid = await early.pid('red');
    red.write([shared('red', 'good.mjs', { args: ['more'] })]);
    const { error } = await late.ask(1, HELLO, { agent: red.file });
    expect(error?.message).toBe(`${red.file} has changed since it was allowed`);
    expect(await early.pid('red')).toBe(pid);
    await red.allow();
    expect(await early.say1('red__argv')).toBe('["more"]');
  });

  it('X3: that is revoked has its servers stopped at once', async () => {
    const world = await startWorld([]);
    const red = world.project('red', [shared('red')]);
    await red.allow();
    const client = world.agent();
    await client.see(red.file);
    const pid = Number(await client.pid('red'));
    const { status, stderr } = await toolherd(['revoke', red.file], run(world.home, red.folder));
    expect([status, stderr]).toEqual([0, '']);
    await until(() => !isAlive(pid));
    const tools = await client.tools();
    expect(tools).toContain('any__echo');
    expect(tools.filter((tool) => tool.startsWith('red'))).toEqual([]);
    expect((await client.status()).at(-1)).toMatchObject({ name: 'red', detail: 'not_allowed', pids: [] });
    const call = await client.ask('call', 'fleet/call', { server: 'red', tool: 'pid', arguments: {} });
    expect(call.result?.error).toMatchObject({
      type: 'TrustRequiredError',
      fix: `toolherd allow ${red.file}`,
    });
    await red.allow();
    expect(Number(await client.pid('red'))).not.toBe(pid);
  });

  it('that is invalid is refused with every problem and its position; a relative or missing one with the reason', async () => {
    const world = await startWorld([]);
    const red = world.project('red', []);
    writeFileSync(red.file, 'tools:\n  - {name: x, type: mcp, server: x, comand: npx, cwdd: x}\n');
    const client = world.agent();
    const wrong = await client.ask(1, HELLO, { agent: red.file });
    expect(wrong.error?.data).toMatchObject({ problems: [{ file: red.file, line: 2 }, {}] });
    const relative = await client.ask(2, HELLO, { agent: 'agent.yaml' });
    expect(relative.error?.message).toContain('full path');
    const missing = await client.ask(3, HELLO, { agent: join(red.folder, 'none.yaml') });
    expect(missing.error?.message).toContain('none.yaml');
  });
});

describe('the command in a project', () => {
  it('calls servers of the nearest agent.yaml, and shares them with later commands', async () => {
    const world = await startWorld([]);
    const red = world.project('red', [shared('red')]);
    const options = run(world.home, red.folder);
    const refused = await toolherd(['call', 'red.pid'], options);
    expect(refused.status).toBe(77);
    expect(refused.stderr).toContain('would, each time it is used');
    expect(refused.stderr).toContain('  red (stdio)');
    const json = await toolherd(['call', 'red.pid', '--json'], options);
    expect(JSON.parse(json.stdout)).toMatchObject({ ok: false, error: { would_run: [{ name: 'red' }] } });
    const status = await toolherd(['status', '--json'], options);
    expect([status.status, status.stderr]).toEqual([0, expect.stringContaining('was never allowed to run')]);
    await red.allow();
    const first = await toolherd(['call', 'red.pid'], options);
    const second = await toolherd(['call', 'red.pid'], options);
    expect([first.status, first.stdout]).toEqual([0, second.stdout]);
    const elsewhere = { ...options, cwd: world.home.folder };
    expect((await toolherd(['call', 'red.pid'], elsewhere)).status).toBe(4);
    const named = await toolherd(['call', 'red.pid', '--agent', red.file], elsewhere);
    expect(named.stdout).toBe(first.stdout);
  });

  it('bridges the nearest agent.yaml if it is allowed, and the global servers in any case', async () => {
    const world = await startWorld([]);
    const red = world.project('red', [shared('red')]);
    const clientInfo = { name: 'test', version: '1' };
    const initialize = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    const input = [
      { id: 1, method: 'initialize', params: initialize },
      { id: 2, method: 'tools/list' },
    ]
      .map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
      .join('');
    const options = { ...run(world.home, red.folder), input };
    const without = await toolherd(['bridge'], options);
    expect(without.stdout).toContain('any__echo');
    expect(without.stdout).not.toContain('red__echo');
    expect(without.stderr).toContain('was never allowed to run');
    const named = await toolherd(['bridge', '--agent', 'agent.yaml'], options);
    expect([named.status, named.stdout]).toEqual([77, '']);
    await red.allow();
    expect((await toolherd(['bridge'], options)).stdout).toContain('red__echo');
  });
});
