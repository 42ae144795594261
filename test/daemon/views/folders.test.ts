import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { textOf } from '../../ipc/mcp/support.js';
import { startBridge } from '../../support/bridge.js';
import { toolherd } from '../../support/command.js';
import { makeFolder } from '../../support/folder.js';
import { isAlive } from '../../support/processes.js';
import { until } from '../../support/until.js';
import { run, shared, startWorld } from './support.js';

const PER_FOLDER = { sharing: 'per-folder', cwd: '/' };

describe('a per-folder server', () => {
  it('D16: runs in the folder of its agents, and those of one folder share it', async () => {
    const world = await startWorld([shared('here', 'good.mjs', PER_FOLDER)]);
    const [red, blue] = [makeFolder(), makeFolder()];
    const inFolder = async (folder?: string) => {
      const agent = world.agent();
      await agent.hello();
      await agent.ask('see', 'fleet/hello', { folder });
      return agent;
    };
    const [a, b, c, none] = [
      await inFolder(red),
      await inFolder(red),
      await inFolder(blue),
      await inFolder(),
    ];
    expect(await a.say1('here__cwd')).toBe(red);
    expect(await c.say1('here__cwd')).toBe(blue);
    expect(await none.say1('here__cwd')).toBe('/');
    const pid = await a.pid('here');
    expect(await b.pid('here')).toBe(pid);
    expect(await c.pid('here')).not.toBe(pid);
    a.close();
    expect(await b.pid('here')).toBe(pid);
    b.close();
    await until(() => !isAlive(Number(pid)));
    expect(await c.say1('here__cwd')).toBe(blue);
    const reply = await c.ask('wrong', 'fleet/hello', { folder: 'relative' });
    expect(reply.error?.message).toContain("'folder' must be a full path");
  });

  it('gets the folder of the bridge, or of the command, as its root', async () => {
    const world = await startWorld([
      shared('here', 'questions.mjs', PER_FOLDER),
      shared('good', 'good.mjs', PER_FOLDER),
    ]);
    const folder = makeFolder();
    const bridge = startBridge(world.home, { cwd: folder });
    const capabilities = {};
    const clientInfo = { name: 't', version: '1' };
    bridge.say({
      id: 0,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities, clientInfo },
    });
    bridge.say({ method: 'notifications/initialized' });
    const call = { name: 'here__ask', arguments: { method: 'roots/list' } };
    bridge.say({ id: 1, method: 'tools/call', params: call });
    const { result } = JSON.parse(textOf(await bridge.reply(1)));
    expect(result.roots).toMatchObject([{ uri: pathToFileURL(folder).href }]);
    const { stdout } = await toolherd(['call', 'good.cwd'], run(world.home, folder));
    expect(stdout).toBe(folder);
    const inspected = await toolherd(['inspect', 'good', '--json'], run(world.home, folder));
    expect(inspected.status).toBe(0);
  });
});

it('a per-agent server that asks for roots during a call gets those of its agent', async () => {
  const world = await startWorld([shared('own', 'questions.mjs', { sharing: 'per-agent' })]);
  const [a, b] = [world.agent(), world.agent()];
  await a.hello({ roots: {} });
  await b.hello({});
  const roots = [{ uri: 'file:///red', name: 'red' }];
  const asked = a.say1('own__ask', { method: 'roots/list' });
  const question = await until(() => a.heard('roots/list')[0]);
  a.say({ id: question.id, result: { roots } });
  expect(JSON.parse(await asked)).toEqual({ result: { roots } });
  expect(await b.say1('own__ask', { method: 'roots/list' })).toContain('cannot answer it');
});
