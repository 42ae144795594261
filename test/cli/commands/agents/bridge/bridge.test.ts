import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Client as ClientV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { command, config, server } from '../../../../faults/config.js';
import { textOf } from '../../../../ipc/mcp/support.js';
import { startBridge } from '../../../../support/bridge.js';
import { COMMAND, toolherd } from '../../../../support/command.js';
import { type Home, isAlive, killDaemon, makeHome, startHerd, until } from '../../../../support/herd.js';

const require = createRequire(import.meta.url);
const EVERYTHING = join(
  dirname(require.resolve('@modelcontextprotocol/server-everything/package.json')),
  'dist',
  'index.js',
);
const HERD = config([
  command('everything', process.execPath, [EVERYTHING]),
  server('good', 'good.mjs'),
  server('questions', 'questions.mjs'),
]);
const INFO = { name: 'test', version: '1' };

const bridgeOf = ({ environment, folder }: Home, ...flags: string[]) => ({
  command: process.execPath,
  args: [COMMAND, 'bridge', ...flags],
  env: environment,
  cwd: folder,
  stderr: 'pipe' as const,
});

async function attach(home: Home, ...flags: string[]) {
  const client = new ClientV1(INFO, { capabilities: { elicitation: {} } });
  const transport = new StdioV1(bridgeOf(home, ...flags));
  await client.connect(transport);
  onTestFinished(() => client.close());
  return { client, transport };
}

const echo = async (client: ClientV1, value: string) => {
  const { content } = await client.callTool({ name: 'good__echo', arguments: { value } });
  return (content as { text: string }[])[0]?.text;
};

describe('toolherd bridge', () => {
  it('the official client of SDK v1 lists and calls tools, and answers a question of its call', async () => {
    const { home } = await startHerd(HERD);
    const { client } = await attach(home);
    const { tools } = await client.listTools();
    const names = tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['everything__echo', 'good__echo', 'questions__ask']));
    expect(await echo(client, 'hi')).toBe('hi');
    const sum = await client.callTool({ name: 'everything__get-sum', arguments: { a: 2, b: 3 } });
    expect(sum.content).toEqual([{ type: 'text', text: 'The sum of 2 and 3 is 5.' }]);
    const steps: number[] = [];
    const slow = {
      name: 'everything__trigger-long-running-operation',
      arguments: { duration: 2, steps: 2 },
    };
    await client.callTool(slow, undefined, { onprogress: ({ progress }) => steps.push(progress) });
    // this client drops progress that arrives together with the result: hence two steps
    expect(steps[0]).toBe(1);
    client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { name: 'Ada' } }));
    const params = { message: 'Who?', requestedSchema: { type: 'object', properties: {} } };
    const asked = await client.callTool({
      name: 'questions__ask',
      arguments: { method: 'elicitation/create', params },
    });
    expect(JSON.stringify(asked.content)).toContain('Ada');
    const { resources } = await client.listResources();
    const read = await client.readResource({ uri: resources[0]!.uri });
    expect(read.contents).toHaveLength(1);
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toContain('everything__simple-prompt');
    expect((await client.getPrompt({ name: 'everything__simple-prompt' })).messages).toHaveLength(1);
  });

  it('the official client of SDK v2 lists and calls tools', async () => {
    const { home } = await startHerd(HERD);
    const client = new ClientV2(INFO);
    await client.connect(new StdioV2(bridgeOf(home)));
    onTestFinished(() => client.close());
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['everything__echo', 'good__pid']));
    const { content } = await client.callTool({ name: 'everything__echo', arguments: { message: 'hi' } });
    expect(content).toEqual([{ type: 'text', text: 'Echo: hi' }]);
  });

  it('one bad definition does not hide the others from an official client', async () => {
    const { home } = await startHerd(
      config([server('many', 'offers.mjs', { args: ['600'] }), server('good', 'good.mjs')]),
    );
    const { client } = await attach(home);
    const first = await client.listTools();
    const second = await client.listTools({ cursor: first.nextCursor });
    const tools = [...first.tools, ...second.tools];
    expect(tools.find(({ name }) => name === 'many__tool-500')?.inputSchema).toEqual({ type: 'object' });
    expect(tools.map(({ name }) => name)).toContain('good__echo');
  });

  it('a client keeps working after the daemon was killed: the bridge starts another daemon and repeats the handshake', async () => {
    const { home, daemon } = await startHerd(HERD);
    const { client } = await attach(home);
    expect(await echo(client, 'before')).toBe('before');
    const waiting = client.callTool({ name: 'good__wait' }).catch((error: Error) => error.message);
    await echo(client, 'the call is with the server');
    await killDaemon(home, daemon);
    expect(await waiting).toMatch(/went away while tools\/call was in flight; it may have run/);
    expect(await echo(client, 'after')).toBe('after');
    const up = await toolherd(['status', '--json'], { cwd: home.folder, env: home.environment });
    home.adopt((JSON.parse(up.stdout) as { daemon: { pid: number } }).daemon.pid);
  });

  it('when the daemon ends, its open questions are cancelled, and the next daemon gets the log level again', async () => {
    const { home, daemon } = await startHerd(
      config([server('questions', 'questions.mjs'), server('logs', 'logs.mjs')]),
    );
    const bridge = startBridge(home);
    const params = { protocolVersion: '2025-11-25', capabilities: { elicitation: {} }, clientInfo: INFO };
    bridge.say({ id: 1, method: 'initialize', params });
    await bridge.reply(1);
    bridge.say({ method: 'notifications/initialized' });
    bridge.say({ id: 2, method: 'logging/setLevel', params: { level: 'info' } });
    const ask = { name: 'questions__ask', arguments: { method: 'elicitation/create' } };
    bridge.say({ id: 3, method: 'tools/call', params: ask });
    const heard = (method: string) => bridge.lines.find((line) => line.method === method);
    const question = await until(() => heard('elicitation/create'));
    await killDaemon(home, daemon);
    expect((await until(() => heard('notifications/cancelled'))).params?.requestId).toBe(question.id);
    expect((await bridge.reply(3)).error).toMatchObject({
      code: -32000,
      data: { sent: true, retryable: false },
    });
    const before = bridge.lines.length;
    await home.start();
    const log = { name: 'logs__log', arguments: { level: 'error', data: 'again' } };
    bridge.say({ id: 4, method: 'tools/call', params: log });
    expect((await bridge.reply(4)).result).toBeDefined();
    await until(() => heard('notifications/message'));
    // no reply to the bridge's own requests, and each list once
    const rest = bridge.lines.slice(before).filter(({ id }) => id !== 4);
    expect(new Set(rest.map(({ method }) => method))).toEqual(
      new Set([
        'notifications/tools/list_changed',
        'notifications/prompts/list_changed',
        'notifications/resources/list_changed',
        'notifications/message',
      ]),
    );
  });

  it("the next daemon gets the client's resource subscriptions again", async () => {
    const { home, daemon } = await startHerd(config([server('watched', 'watched.mjs')]));
    const bridge = startBridge(home);
    const uris = ['note://one', 'note://two'];
    for (const uri of uris) bridge.say({ id: uri, method: 'resources/subscribe', params: { uri } });
    for (const uri of uris) await bridge.reply(uri);
    bridge.say({ id: 1, method: 'resources/unsubscribe', params: { uri: 'note://one' } });
    await bridge.reply(1);
    await killDaemon(home, daemon);
    await home.start();
    const told = () =>
      bridge.lines
        .filter(({ method }) => method === 'notifications/resources/updated')
        .map(({ params }) => params);
    // the resource may have changed meanwhile
    await until(() => told().length === 1);
    let id = 1;
    const touch = async (uri: string) => {
      id += 1;
      bridge.say({ id, method: 'tools/call', params: { name: 'watched__touch', arguments: { uri } } });
      return textOf(await bridge.reply(id));
    };
    await until(async () => (await touch('note://two')) === 'told');
    expect(await touch('note://one')).toBe('not watched');
    expect(told()).toEqual([{ uri: 'note://two' }, { uri: 'note://two', title: 'new' }]);
    expect(bridge.lines.filter(({ error }) => error !== undefined)).toEqual([]);
  });

  it('a stopped daemon stays down until the client sends a request', async () => {
    const { home, daemon } = await startHerd(HERD);
    const bridge = startBridge(home);
    bridge.say({ id: 1, method: 'ping' });
    await bridge.reply(1);
    const down = await toolherd(['down'], { cwd: home.folder, env: home.environment });
    expect(down.status).toBe(0);
    await until(() => !isAlive(daemon.pid));
    const next = await home.start();
    bridge.say({ id: 2, method: 'tools/call', params: { name: 'good__echo', arguments: { value: 'x' } } });
    expect((await bridge.reply(2)).result?.content).toEqual([{ type: 'text', text: 'x' }]);
    expect(isAlive(next.pid)).toBe(true);
  });

  it('starts the daemon, answers requests that came before stdin ended, prints nothing else, and exits', async () => {
    const home = makeHome(HERD);
    const bridge = startBridge(home);
    bridge.say({ id: 'a', method: 'tools/call', params: { name: 'good__echo', arguments: { value: 'x' } } });
    bridge.child.stdin!.end();
    expect(await bridge.exit).toBe(0);
    expect(bridge.lines).toEqual([
      { jsonrpc: '2.0', id: 'a', result: { content: [{ type: 'text', text: 'x' }] } },
    ]);
    const up = await toolherd(['status', '--json'], { cwd: home.folder, env: home.environment });
    home.adopt((JSON.parse(up.stdout) as { daemon: { pid: number } }).daemon.pid);
  });

  it('a flood of large lines passes complete, without output on stderr', async () => {
    const { home } = await startHerd(HERD);
    const bridge = startBridge(home);
    let complaints = '';
    bridge.child.stderr!.on('data', (chunk) => {
      complaints += chunk;
    });
    const value = 'x'.repeat(50_000);
    for (let id = 0; id < 400; id += 1) {
      bridge.say({ id, method: 'tools/call', params: { name: 'good__echo', arguments: { value } } });
    }
    bridge.child.stdin!.end();
    expect(await bridge.exit).toBe(0);
    expect(new Set(bridge.lines.map(({ id }) => id)).size).toBe(400);
    expect(bridge.lines.every((line) => textOf(line) === value)).toBe(true);
    expect(complaints).toBe('');
  });

  it('--server shows one server with its own names; an unknown server: exit 4', async () => {
    const { home } = await startHerd(HERD);
    const { client } = await attach(home, '--server', 'good');
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['echo', 'pid']));
    const { content } = await client.callTool({ name: 'echo', arguments: { value: 'own' } });
    expect(content).toEqual([{ type: 'text', text: 'own' }]);
    const missing = await toolherd(['bridge', '--server', 'god'], {
      cwd: home.folder,
      env: home.environment,
      input: '',
    });
    expect(missing).toMatchObject({ status: 4, stdout: '', stderr: expect.stringContaining("mean 'good'") });
  });

  it('bridge fails without a daemon and with --no-autostart: exit 3', async () => {
    const home = makeHome(HERD);
    const { status, stdout } = await toolherd(['bridge', '--no-autostart'], {
      cwd: home.folder,
      env: home.environment,
      input: '',
    });
    expect({ status, stdout }).toEqual({ status: 3, stdout: '' });
  });
});
