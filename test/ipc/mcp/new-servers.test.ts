import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { config, fixturePath, server } from '../../faults/config.js';
import { COMMAND, toolherd } from '../../support/command.js';
import { type Home, startHerd, until } from '../../support/herd.js';
import { NOISE_MS } from '../../support/noise.js';

/** An agent: the SDK's own client behind a real bridge. */
async function attach({ environment, folder }: Home) {
  const client = new Client({ name: 'agent', version: '1' });
  let changes = 0;
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    changes += 1;
  });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [COMMAND, 'bridge'],
    env: environment,
    cwd: folder,
    stderr: 'pipe',
  });
  await client.connect(transport);
  onTestFinished(() => client.close());
  const names = async () => (await client.listTools()).tools.map(({ name }) => name);
  return { client, names, changes: () => changes };
}

/** Adds a server to the global config as a user does. */
async function add({ environment, folder }: Home, name: string, ...words: string[]): Promise<void> {
  const args = ['add', name, '-g', '--', process.execPath, ...words];
  const { status, stderr } = await toolherd(args, { cwd: folder, env: environment });
  expect(status, stderr).toBe(0);
}

/** No server yet; the fixtures may run. */
const ALLOWED = `version: "1.0"\nsecurity: {allowed_commands: [${JSON.stringify(process.execPath)}]}\n`;

describe('an attached agent', () => {
  it('gets list_changed for an added server, and calls its tool by its public name', async () => {
    const { home } = await startHerd(config([server('old', 'good.mjs')]));
    const { client, names, changes } = await attach(home);
    expect(await names()).toContain('old__echo');
    // the first list started it, and what it offers was news
    await until(() => changes() === 1);
    await add(home, 'new', fixturePath('good.mjs'));
    await until(() => changes() === 2);
    expect(await names()).toEqual(expect.arrayContaining(['old__echo', 'new__echo']));
    const { content } = await client.callTool({ name: 'new__echo', arguments: { value: 'first call' } });
    expect(content).toEqual([{ type: 'text', text: 'first call' }]);
  });

  it('gets the tools of nine servers within 2 s while a tenth hangs at its first start', async () => {
    const { home, fleet } = await startHerd(ALLOWED);
    const nine = Array.from({ length: 9 }, (_, index) => `s${index}`);
    for (const name of nine) await add(home, name, fixturePath('good.mjs'));
    const isKnown = async () => (await fleet.status()).servers.every(({ tools }) => tools > 0);
    await until(isKnown);
    await add(home, 'hang', fixturePath('silent.mjs'));
    const { names } = await attach(home);
    const begun = performance.now();
    const listed = await names();
    const tookMs = performance.now() - begun;
    expect(listed.filter((name) => name.endsWith('__echo'))).toEqual(nine.map((name) => `${name}__echo`));
    // the default of daemon.list_wait
    expect(tookMs).toBeLessThan(2000 + NOISE_MS);
    const [hang] = (await fleet.status(['hang'])).servers;
    expect(hang).toMatchObject({ state: 'connecting', detail: 'running', tools: 0 });
    expect(hang?.lists?.tools).toEqual({ freshness: 'unknown' });
  });

  it('gets a list at once with list_wait: 0, and list_changed for each server that is late', async () => {
    const late = ['1500', '3000'].map((ms) => server(`late-${ms}`, 'boots-slowly.mjs', { args: [ms] }));
    const { home } = await startHerd(config([server('good', 'good.mjs'), ...late], { list_wait: 0 }));
    const { names, changes } = await attach(home);
    const tools = ['good__echo', 'late-1500__echo', 'late-3000__echo'];
    const echoes = async () => (await names()).filter((name) => name.endsWith('__echo'));
    expect(await echoes()).toEqual([]);
    for (const count of [1, 2, 3]) {
      await until(() => changes() >= count);
      await until(async () => (await echoes()).length >= count);
    }
    expect(await echoes()).toEqual(tools);
  });
});
