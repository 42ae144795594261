import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  ConfigError,
  type FleetEvent,
  type FleetHandle,
  MCPConnectionError,
  MCPError,
  MCPPromptNotFoundError,
  MCPProtocolError,
  MCPTimeoutError,
  MCPToolNotFoundError,
  RemoteError,
  ServerNotFoundError,
  ServerUnavailableError,
  ToolherdError,
  toError,
} from '../../src/index.js';
import { config, server } from '../faults/config.js';
import { makeFolder } from '../support/folder.js';
import { until } from '../support/until.js';

/** The herd on which everything below is tried. */
export const HERD = config([
  server('good', 'good.mjs', { request_timeout: 20 }),
  server('offers', 'offers.mjs'),
  server('logs', 'logs.mjs'),
  server('exits', 'exits-at-start.mjs', { max_restarts: 0 }),
]);

/** The laws of every fleet. `open`: a new one over HERD, and the file of its config. */
export function itIsAFleet(open: () => Promise<{ fleet: FleetHandle; configFile: string }>): void {
  it('calls a tool, and has its text', async () => {
    const { fleet } = await open();
    const result = await fleet.call('good', 'echo', { value: 'hi' }, { requestId: 'mine' });
    expect(result.text()).toBe('hi');
    expect(result).toMatchObject({ success: true, metadata: { request_id: 'mine', server: 'good' } });
    expect(JSON.parse(JSON.stringify(result))).toEqual(result);
    // a list that is known is what a near miss is found in
    await fleet.tools('good');
    const missing = await fleet.call('good', 'ehco');
    expect(missing).toMatchObject({ success: false, error: { type: 'MCPToolNotFoundError', sent: false } });
    const late = await fleet.call('good', 'wait', {}, { timeoutMs: 100 });
    expect(late.error).toMatchObject({ type: 'MCPTimeoutError', sent: true });
  });

  it('passes progress to a call, and cancels it by its signal', async () => {
    const { fleet } = await open();
    const heard: unknown[] = [];
    await fleet.call(
      'good',
      'progress',
      { times: 3 },
      { onProgress: ({ progress }) => heard.push(progress) },
    );
    expect(heard).toEqual([1, 2, 3]);
    const abort = new AbortController();
    const calls = Array.from({ length: 20 }, () => fleet.call('good', 'wait', {}, { signal: abort.signal }));
    await until(async () => (await fleet.server('good').status()).in_flight === 20);
    abort.abort();
    for (const { error } of await Promise.all(calls)) expect(error?.type).toBe('CancelledError');
    const never = await fleet.call('good', 'wait', {}, { signal: abort.signal });
    expect(never.error).toMatchObject({ type: 'CancelledError', sent: false });
  });

  it('makes many calls: awaited in order, iterated as they end', async () => {
    const { fleet } = await open();
    await fleet.start(['good', 'offers']);
    const calls = [
      { server: 'good', tool: 'wait', timeoutMs: 2000 },
      { server: 'good', tool: 'echo', arguments: { value: 'a' } },
      { server: 'offers', tool: 'echo', arguments: { value: 'b' } },
    ];
    const many = fleet.callMany(calls);
    const order: number[] = [];
    for await (const { index, result } of many) {
      order.push(index);
      expect(result.text()).toBe(['', 'a', 'b'][index]);
    }
    expect(order.at(-1)).toBe(0);
    expect([...order].sort()).toEqual([0, 1, 2]);
    const results = await many;
    expect(results.map((result) => result.text())).toEqual(['', 'a', 'b']);
    expect(results.map(({ success }) => success)).toEqual([false, true, true]);
    const again: number[] = [];
    for await (const { index } of many) again.push(index);
    expect(again).toEqual(order);
  });

  it('cancels running calls when a loop over many calls ends early', async () => {
    const { fleet } = await open();
    const many = fleet.callMany([
      { server: 'good', tool: 'wait' },
      { server: 'good', tool: 'echo', arguments: { value: 'a' } },
    ]);
    for await (const { index } of many) {
      expect(index).toBe(1);
      break;
    }
    expect((await many)[0]?.error?.type).toBe('CancelledError');
  });

  it('returns the first success, and cancels the other calls', async () => {
    const { fleet } = await open();
    const calls = ['wait', 'echo'].map((tool) => ({ server: 'good', tool, arguments: { value: 'x' } }));
    const [slow, quick] = await fleet.callMany(calls, { mode: 'first' });
    expect([slow?.error?.type, quick?.text()]).toEqual(['CancelledError', 'x']);
  });

  it('broadcasts to every server that has the tool', async () => {
    const { fleet } = await open();
    const many = fleet.broadcast('echo', { value: 'all' }, { servers: ['good', 'off*'] });
    const servers: string[] = [];
    for await (const { result } of many) servers.push(result.metadata.server);
    expect(servers.sort()).toEqual(['good', 'offers']);
    expect((await many).map((result) => result.text())).toEqual(['all', 'all']);
  });

  it('finds a tool by what it does, or says why there is none', async () => {
    const { fleet } = await open();
    const { tools } = await fleet.search('echo a value', { server: 'good', limit: 1 });
    expect(tools).toMatchObject([{ server: 'good', name: 'echo', exposed_name: 'good__echo' }]);
    expect(await fleet.search('xyzzy', { server: 'good' })).toMatchObject({
      tools: [],
      hints: [expect.stringMatching(/^none of \d+ tools has a word of the query$/)],
    });
    await expect(fleet.search('echo', { server: 'absent' })).rejects.toThrow(ServerNotFoundError);
  });

  it('lists tools, prompts and resources, and uses them', async () => {
    const { fleet } = await open();
    expect((await fleet.tools('good')).map(({ name }) => name)).toContain('echo');
    expect((await fleet.prompts('offers'))[0]).toMatchObject({
      name: 'greet',
      exposed_name: 'offers__greet',
    });
    expect((await fleet.resources('offers')).resources[0]).toMatchObject({ uri: 'note://hello' });
    const prompt = await fleet.prompt('offers', 'greet', { who: 'you' });
    expect(JSON.stringify(prompt)).toContain('Hello you!');
    expect(JSON.stringify(await fleet.resource('offers', 'note://x'))).toContain('a note of x');
    await expect(fleet.prompt('offers', 'gret')).rejects.toMatchObject({ type: 'MCPPromptNotFoundError' });
  });

  it('connects, uses and disconnects a server', async () => {
    const { fleet } = await open();
    const offers = fleet.server('offers');
    expect(await offers.connect()).toMatchObject({ name: 'offers', state: 'connected', detail: 'running' });
    expect((await offers.listTools({ refresh: true })).map(({ name }) => name)).toContain('echo');
    expect((await offers.listPrompts()).map(({ name }) => name)).toContain('greet');
    expect((await offers.callTool('echo', { value: 'v' })).text()).toBe('v');
    expect(JSON.stringify(await offers.getPrompt('greet', { who: 'me' }))).toContain('Hello me!');
    expect(await offers.disconnect()).toMatchObject({ detail: 'stopped', pids: [] });
    expect((await offers.callTool('echo')).error?.type).toBe('ServerUnavailableError');
    expect(await offers.connect()).toMatchObject({ state: 'connected' });
  });

  it('fails with the reason if a server does not start', async () => {
    const { fleet } = await open();
    await expect(fleet.server('exits').connect()).rejects.toMatchObject({
      type: 'ServerUnavailableError',
      message: expect.stringContaining('exits'),
      fix: expect.stringMatching(/./),
    });
    await expect(fleet.server('none').connect()).rejects.toMatchObject({ type: 'ServerNotFoundError' });
  });

  it('throws the exported class of an error, with why, fix, code and the data of the socket', async () => {
    const { fleet } = await open();
    await fleet.prompts('offers');
    const unknown = await errorOf(fleet.prompt('offers', 'gret'));
    expect(unknown).toBeInstanceOf(MCPPromptNotFoundError);
    const { type, message, why, fix, retryable, sent, code, data } = unknown;
    expect({ type, retryable, sent, code }).toEqual({
      ...{ type: 'MCPPromptNotFoundError', retryable: false, sent: false },
      code: 1016,
    });
    expect(fix).toBe("did you mean 'greet'?");
    expect(data).toEqual({ type, message, why, fix, retryable, sent });
    expect(await errorOf(fleet.status(['none']))).toBeInstanceOf(ServerNotFoundError);
    const exits = await errorOf(fleet.server('exits').connect());
    expect(exits).toBeInstanceOf(ServerUnavailableError);
    expect(exits).toMatchObject({ code: 1021, sent: false, data: { type: 'ServerUnavailableError' } });
    const late = await errorOf(fleet.prompt('offers', 'wait', {}, { timeoutMs: 100 }));
    expect(late).toBeInstanceOf(MCPTimeoutError);
    expect(late).toMatchObject({ code: 1012, sent: true, retryable: false });
    const wrong = await errorOf(fleet.register({ name: 'x', command: 'npx', server: 's', nonsense: 1 }));
    expect(wrong).toBeInstanceOf(ConfigError);
    expect(wrong).toMatchObject({ code: 1002, problems: [{ type: 'MCPConfigError' }] });
    const malformed = await errorOf(fleet.call('good', 'echo', {}, { timeoutMs: -1 }));
    expect(malformed).toBeInstanceOf(RemoteError);
    expect(malformed).toMatchObject({ type: 'InvalidParamsError', code: -32602 });
  });

  it('a timeout is a connection error, also as the error of a result', async () => {
    const { fleet } = await open();
    const { error } = await fleet.call('good', 'wait', {}, { timeoutMs: 100 });
    const late = toError(error!);
    expect(late).toBeInstanceOf(MCPTimeoutError);
    expect(late).toBeInstanceOf(MCPConnectionError);
    expect(late).toBeInstanceOf(MCPError);
    expect(late).toMatchObject({ ...error, code: 1012, data: error });
    await fleet.tools('good');
    const missing = await fleet.call('good', 'ehco');
    expect(toError(missing.error!)).toBeInstanceOf(MCPToolNotFoundError);
    const refused = toError((await fleet.call('good', 'refuse')).error!);
    expect(refused).toBeInstanceOf(MCPProtocolError);
    expect(refused).not.toBeInstanceOf(MCPConnectionError);
    expect(refused).toMatchObject({ code: 1013, rpc: { code: -32602, data: { field: 'x' } } });
  });

  it('sends events of states, logs, lists, calls and notifications', async () => {
    const { fleet } = await open();
    const heard: FleetEvent[] = [];
    const off = fleet.on('state', (event) => heard.push(event));
    fleet.on('log', (event) => heard.push(event));
    fleet.on('catalog', (event) => heard.push(event));
    fleet.on('call', (event) => heard.push(event));
    fleet.on('notification', (event) => heard.push(event));
    await fleet.call('logs', 'log', { level: 'warning', data: 'beware', logger: 'me' });
    await fleet.call('good', 'refuse', { secret: 'never told' });
    await fleet.server('offers').connect();
    await fleet.call('offers', 'add', { name: 'another' });
    const has = (wanted: object) => () => {
      expect(heard).toContainEqual(expect.objectContaining(wanted));
      return true;
    };
    const hears = (wanted: object) =>
      until(() => heard.some((event) => matches(event, wanted))).then(has(wanted));
    await hears({ topic: 'state', server: 'logs', state: 'connected' });
    await hears({ topic: 'log', server: 'logs', level: 'warn', logger: 'me', message: 'beware' });
    await hears({ topic: 'catalog', server: 'offers', list: 'tools', added: ['another'] });
    await hears({ topic: 'call', server: 'logs', tool: 'log', method: 'tools/call', ok: true, error: null });
    await hears({ topic: 'call', server: 'good', tool: 'refuse', ok: false, error: 'MCPProtocolError' });
    expect(JSON.stringify(heard)).not.toContain('never told');
    off();
    heard.length = 0;
    await fleet.restart('good');
    await fleet.call('good', 'echo', { value: 'x' });
    await hears({ topic: 'call', server: 'good', tool: 'echo' });
    expect(heard.filter(({ topic }) => topic === 'state')).toEqual([]);
  });

  it('shows the herd, one server, the logs and the metrics', async () => {
    const { fleet } = await open();
    await fleet.call('logs', 'log', { level: 'error', data: 'this went wrong' });
    const { servers, daemon } = await fleet.status();
    expect(servers.map(({ name }) => name)).toEqual(['good', 'offers', 'logs', 'exits']);
    expect(daemon).toMatchObject({ pid: expect.any(Number), config_error: null });
    expect((await fleet.inspect('logs')).journal.length).toBeGreaterThan(2);
    const entries = await until(async () => {
      const found = await fleet.logs({ level: 'error' });
      return found.length > 0 && found;
    });
    expect(entries).toMatchObject([
      { server: 'logs', level: 'error', source: 'mcp', text: 'this went wrong' },
    ]);
    expect(await fleet.metrics()).toMatch(/^toolherd_calls_total\{server="logs"\} 1$/m);
  });

  it('gives orders to one, some and all servers', async () => {
    const { fleet } = await open();
    expect(await fleet.start(['good', 'logs'])).toMatchObject([
      { state: 'connected' },
      { state: 'connected' },
    ]);
    const [before] = await fleet.start('good');
    const [after] = await fleet.restart('good');
    expect(after?.incarnation).toBe((before?.incarnation ?? 0) + 1);
    await fleet.stop({ all: true });
    const { servers } = await fleet.status(['good', 'logs']);
    expect(servers).toMatchObject([{ detail: 'stopped' }, { detail: 'stopped' }]);
    expect(await fleet.reset('good', { wait: false })).toHaveLength(1);
  });

  it('registers a server until it is unregistered, also over a changed config', async () => {
    const { fleet, configFile } = await open();
    const entry = server('extra', 'good.mjs');
    const states = await fleet.register(entry);
    expect(states).toMatchObject([{ name: 'extra', detail: 'running' }]);
    expect((await fleet.call('extra', 'echo', { value: 'hi' })).text()).toBe('hi');
    await expect(fleet.register(entry)).rejects.toMatchObject({ type: 'ConfigError' });
    await expect(fleet.register({ ...entry, name: 'good' })).rejects.toMatchObject({ type: 'ConfigError' });
    await expect(fleet.register({ ...entry, name: 'x', comand: 'y' })).rejects.toMatchObject({
      type: 'MCPConfigError',
      message: expect.stringContaining("did you mean 'command'"),
    });
    const { pids } = await fleet.server('extra').status();
    appendFileSync(configFile, `  - ${JSON.stringify(server('late', 'good.mjs'))}\n`);
    await fleet.reload();
    expect(await fleet.server('extra').status()).toMatchObject({ pids });
    expect((await fleet.status()).servers.map(({ name }) => name)).toContain('late');
    expect(await fleet.unregister('extra')).toMatchObject([{ name: 'extra' }]);
    await expect(fleet.unregister('extra')).rejects.toMatchObject({ type: 'ServerNotFoundError' });
    await expect(fleet.unregister('good')).rejects.toMatchObject({ type: 'ConfigError' });
    await until(() => pids.every((pid) => !isThere(pid)));
  });

  it('registers a source document whose plugin is in a folder', async () => {
    const { fleet } = await open();
    const folder = makeFolder();
    const [program = ''] = server('x', 'good.mjs').args as string[];
    const plugin = { packages: [{ runtime: 'node', command: [program] }] };
    writeFileSync(join(folder, 'plugin.json'), JSON.stringify(plugin));
    const source = { name: 'plug', url: 'mcp://plug', source_type: 'mcp', mcp_plugin_dir: '.' };
    expect(await fleet.register(source, folder)).toMatchObject([{ name: 'plug', lifecycle: 'transient' }]);
    expect((await fleet.call('plug', 'cwd')).text()).toBe(folder);
  });

  it('refuses invalid arguments, and calls no server', async () => {
    const { fleet } = await open();
    const calls = [{ server: 'good', tool: 'echo', arguments: { value: 'a' } }];
    const refused = [
      () => fleet.callMany(calls, { concurrency: 0 }),
      () => fleet.callMany(calls, { mode: 'quorum' }),
      () => fleet.callMany(calls, { timeoutMs: 0 }),
      () => fleet.broadcast('', {}),
      () => fleet.call('good', 'echo', {}, { timeoutMs: -1 }),
      () => fleet.call('good', ''),
      () => fleet.prompt('offers', 'greet', {}, { timeoutMs: 0 }),
      () => fleet.resource('offers', ''),
      () => fleet.tools(''),
      () => fleet.logs({ tail: 0 }),
      () => fleet.logs({ since: 'yesterday' }),
      () => fleet.register(server('extra', 'good.mjs'), 'not/a/full/path'),
    ];
    for (const ask of refused) await expect(ask()).rejects.toMatchObject({ type: 'InvalidParamsError' });
    await expect(fleet.call('good', 'echo', { value: 1n })).rejects.toMatchObject({ type: 'ToolherdError' });
    expect(await fleet.server('good').status()).toMatchObject({ calls: 0, incarnation: 0 });
  });

  it('returns a result for a call that was cancelled before it began', async () => {
    const { fleet } = await open();
    const signal = AbortSignal.abort();
    const calls = ['a', 'b'].map((value) => ({ server: 'good', tool: 'echo', arguments: { value } }));
    const cancelled = { success: false, error: { type: 'CancelledError', sent: false } };
    expect(await fleet.callMany(calls, { signal })).toMatchObject([cancelled, cancelled]);
    const arrived: number[] = [];
    for await (const { index } of fleet.callMany(calls, { signal })) arrived.push(index);
    expect(arrived).toEqual([0, 1]);
    expect(await fleet.broadcast('echo', {}, { signal })).toEqual([]);
    expect(await fleet.server('good').status()).toMatchObject({ calls: 0, incarnation: 0 });
  });

  it('copies its arguments: later changes by the caller have no effect', async () => {
    const { fleet } = await open();
    const args = { value: 'before' };
    const call = fleet.call('good', 'echo', args);
    args.value = 'after';
    expect((await call).text()).toBe('before');
    const [tool] = await fleet.tools('good');
    (tool?.input_schema as Record<string, unknown>).type = 'changed';
    expect((await fleet.tools('good'))[0]?.input_schema).toMatchObject({ type: 'object' });
  });

  it('cancels calls in flight when it is closed, and refuses later ones', async () => {
    const { fleet } = await open();
    const call = fleet.call('good', 'wait');
    await until(async () => (await fleet.server('good').status()).in_flight === 1);
    const closed = fleet.close();
    expect((await call).error?.type).toBe('CancelledError');
    await closed;
    await fleet[Symbol.asyncDispose]();
    const refusal = { type: 'FleetClosedError' };
    await expect(fleet.status()).rejects.toMatchObject(refusal);
    await expect(fleet.call('good', 'echo')).rejects.toMatchObject(refusal);
    await expect(fleet.callMany([])).rejects.toMatchObject(refusal);
    expect(() => fleet.on('state', () => undefined)).toThrow(expect.objectContaining(refusal));
  });
}

async function errorOf(work: Promise<unknown>): Promise<ToolherdError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ToolherdError)) throw error ?? new Error('it did not fail');
  return error;
}

function matches(event: FleetEvent, wanted: object): boolean {
  return Object.entries(wanted).every(
    ([key, value]) =>
      JSON.stringify((event as unknown as Record<string, unknown>)[key]) === JSON.stringify(value),
  );
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
