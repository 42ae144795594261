import { describe, expect, test } from 'vitest';
import type { StdioSpec } from '../../../src/config/fields/spec.js';
import { type FakeLinkBehaviour, failure, text } from '../fake-link.js';
import { settled, spec, World } from '../world.js';

const GOOD: FakeLinkBehaviour = { opens: true, answers: true };
const TOOLS = { 'tools/list': [{ name: 'tool' }, { name: 'x' }] };

function startHerd(specs: readonly Partial<StdioSpec>[] = [{}], behaviour: FakeLinkBehaviour = GOOD) {
  const world = new World();
  world.behaviour = () => ({ lists: TOOLS, ...behaviour });
  const herd = world.herd();
  herd.apply(specs.map((changes) => spec(changes)));
  const call = (tool = 'tool', more: { server?: string; timeout_ms?: number; request_id?: string } = {}) =>
    herd.view.calls.call({ server: 'srv', tool, ...more });
  return { world, herd, call };
}

describe('a call to the herd', () => {
  test('FR-024: starts a lazy server and returns its result', async () => {
    const { world, call } = startHerd();
    const result = await call('tool', { request_id: 'mine' });
    expect(result).toMatchObject({
      success: true,
      content: [{ type: 'text', text: 'done' }],
      error: null,
      metadata: { server: 'srv', tool: 'tool', request_id: 'mine', incarnation: 1, is_error: false },
    });
    expect(world.newest.calls[0]?.params).toEqual({ name: 'tool', arguments: {} });
  });

  test('names the incarnation that served it, not the newest', async () => {
    const { world, call } = startHerd([{ lifecycle: 'transient' }], { opens: true });
    const calls = [call(), call(), call()];
    await settled();
    for (const link of [...world.links].reverse()) link.answers();
    expect((await Promise.all(calls)).map(({ metadata }) => metadata.incarnation)).toEqual([1, 2, 3]);
  });

  test('that no incarnation served names none', async () => {
    const { herd, call } = startHerd();
    await herd.view.order('stop', { servers: ['srv'] });
    expect((await call()).metadata.incarnation).toBeNull();
  });

  test('an unknown or disabled server fails it with an error that says so', async () => {
    const { herd, call } = startHerd([
      {},
      { name: 'off', enabled: false },
      { name: 'gone', lifecycle: 'transient', enabled: false },
    ]);
    const errors = await Promise.all(['srvv', 'off', 'gone'].map((server) => call('x', { server })));
    expect(errors.map(({ error }) => [error?.type, error?.message])).toEqual([
      ['ServerNotFoundError', "no server is called 'srvv'"],
      ['ServerUnavailableError', 'off: is disabled'],
      ['ServerUnavailableError', 'gone: is disabled'],
    ]);
    expect(errors[0]?.error).toMatchObject({ fix: "did you mean 'srv'?", sent: false });
    expect(herd.view.status(['off'])[0]?.calls).toBe(0);
  });

  test('an unknown or hidden tool fails it before anything is sent', async () => {
    const { world, herd, call } = startHerd([{ tools: { allow: ['*'], deny: ['rm'] } }], {
      ...GOOD,
      lists: { 'tools/list': [{ name: 'read' }, { name: 'rm' }] },
    });
    expect((await call('rm')).error?.type).toBe('MCPToolNotFoundError');
    expect(world.links).toEqual([]);
    await herd.view.catalog.tools('srv');
    expect((await call('raed')).error).toMatchObject({
      message: "srv has no tool 'raed'",
      why: 'it has: read',
      fix: "did you mean 'read'?",
    });
    expect((await call('read')).success).toBe(true);
    expect(world.newest.calls.length).toBe(1);
  });

  test('passes to the server when the list of its tools is not loaded or could not be read', async () => {
    for (const [changes, lists] of [
      [{ loadTools: false }, {}],
      [{}, { 'tools/list': new Error('no') }],
    ] as [Partial<StdioSpec>, FakeLinkBehaviour['lists']][]) {
      const { herd, call } = startHerd([changes], { ...GOOD, lists: lists ?? {} });
      await herd.view.catalog.tools('srv');
      expect((await call('anything')).success).toBe(true);
    }
  });

  test('keeps content of an unknown type and logs a warning', async () => {
    const { world, call } = startHerd([{}], { opens: true });
    const calling = call();
    await settled();
    world.newest.answers({ content: [{ type: 'video' }] });
    expect((await calling).content).toEqual([
      { type: 'unknown', original_type: 'video', raw: { type: 'video' } },
    ]);
    expect(world.logs).toEqual(["srv: content of unknown type 'video' was kept as it came"]);
  });

  test('forwards progress, and asks for it only when the caller wants it', async () => {
    const { world, herd, call } = startHerd([{}], { opens: true });
    const heard: unknown[] = [];
    const calling = herd.view.calls.call(
      { server: 'srv', tool: 'x' },
      { onProgress: (progress) => heard.push(progress) },
    );
    await settled();
    const { id, params } = world.newest.calls[0]!;
    expect(params._meta).toEqual({ progressToken: id });
    const message = {
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken: id, progress: 1 },
    };
    world.newest.session.deliver(Buffer.from(JSON.stringify(message)));
    world.newest.answers();
    await calling;
    expect(heard).toEqual([{ progress: 1 }]);
    void call();
    await settled();
    expect(world.newest.calls[1]?.params).not.toHaveProperty('_meta');
  });

  test('has its own request id', async () => {
    const { call } = startHerd();
    const ids = await Promise.all([call(), call()]);
    expect(new Set(ids.map(({ metadata }) => metadata.request_id)).size).toBe(2);
  });
});

describe('cancelling a call', () => {
  test('fails it once with CancelledError and the reason, while it waits and while it runs', async () => {
    const { world, herd } = startHerd([{}], {});
    const abort = new AbortController();
    const calling = herd.view.calls.call({ server: 'srv', tool: 'x' }, { signal: abort.signal });
    await settled();
    abort.abort(new Error('the client has gone'));
    expect((await calling).error).toMatchObject({ type: 'CancelledError', sent: false });
    const next = new AbortController();
    const running = herd.view.calls.call({ server: 'srv', tool: 'x' }, { signal: next.signal });
    world.newest.opens();
    next.abort();
    expect((await running).error).toMatchObject({ type: 'CancelledError', sent: true });
    expect((await calling).error?.message).toContain('the client has gone');
  });

  test('a call that is cancelled before it begins starts and writes nothing', async () => {
    const { world, herd } = startHerd();
    const { error } = await herd.view.calls.call(
      { server: 'srv', tool: 'x' },
      { signal: AbortSignal.abort() },
    );
    expect(error).toMatchObject({ type: 'CancelledError', sent: false });
    await settled();
    expect(world.links).toEqual([]);
  });

  test('leaves no abort listener, whether the call succeeds or is refused', async () => {
    const { herd } = startHerd([{}, { name: 'off', enabled: false }]);
    const { signal } = new AbortController();
    const counts = { added: 0, removed: 0 };
    const { addEventListener, removeEventListener } = signal;
    signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
      counts.added += 1;
      addEventListener.apply(signal, args);
    };
    signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
      counts.removed += 1;
      removeEventListener.apply(signal, args);
    };
    for (const server of ['srv', 'off', 'absent'])
      await herd.view.calls.call({ server, tool: 'x' }, { signal });
    expect(counts.removed).toBeGreaterThanOrEqual(counts.added);
    expect(counts.added).toBe(1);
  });
});

describe('orders', () => {
  test('that wait are answered when the server is up or gone; others are answered at once', async () => {
    const { world, herd } = startHerd([{}], { opens: true });
    expect(await herd.view.order('start', { servers: ['srv'] })).toMatchObject([
      { detail: 'running', state: 'created' },
    ]);
    expect(await herd.view.order('start', { servers: ['srv'] }, true)).toMatchObject([
      { state: 'connected' },
    ]);
    world.newest.behaviour = { goes: 'never' };
    let isStopped = false;
    void herd.view.order('stop', { servers: ['srv'] }, true).then(() => {
      isStopped = true;
    });
    await settled();
    expect(isStopped).toBe(false);
    world.newest.isBuried();
    await settled();
    expect(isStopped).toBe(true);
  });

  test('an order for all servers skips disabled ones, and returns the status of all', async () => {
    const { world, herd } = startHerd([{}, { name: 'b' }, { name: 'off', enabled: false }]);
    const all = await herd.view.order('start', { all: true }, true);
    expect(all.map(({ name, detail }) => [name, detail])).toEqual([
      ['srv', 'running'],
      ['b', 'running'],
      ['off', 'disabled'],
    ]);
    expect(world.links.length).toBe(2);
  });

  test('that name an unknown server are refused, and reach no server', async () => {
    const { world, herd } = startHerd();
    await expect(herd.view.order('start', { servers: ['srv', 'absent'] })).rejects.toMatchObject({
      type: 'ServerNotFoundError',
    });
    await settled();
    expect(world.links).toEqual([]);
  });

  test('a server that was stopped by order is not started by calls or requests for lists', async () => {
    const { world, herd, call } = startHerd();
    await herd.view.order('stop', { servers: ['srv'] });
    expect((await call()).error).toMatchObject({
      type: 'ServerUnavailableError',
      fix: 'toolherd start srv',
      retryable: false,
    });
    expect((await herd.view.catalog.tools('srv')).tools).toEqual([]);
    expect([world.links, herd.view.status()[0]?.detail]).toEqual([[], 'stopped']);
  });

  test('P11: no more than max_starting servers start at once', async () => {
    const world = new World();
    const herd = world.herd({ maxStarting: 2 });
    herd.apply(['a', 'b', 'c', 'd', 'e'].map((name) => spec({ name, start: 'eager' })));
    await settled();
    expect(world.links.map(({ spec: { name } }) => name)).toEqual(['a', 'b']);
    world.links[0]?.opens();
    await settled();
    world.links[1]?.goes(failure('b', { permanent: true }));
    await settled();
    expect(world.links.map(({ spec: { name } }) => name)).toEqual(['a', 'b', 'c', 'd']);
  });
});

describe('the tools of the herd', () => {
  test('have their own name, their public name and all fields of their definition', async () => {
    const lists = {
      'tools/list': [
        { name: 'a b', description: 'x', inputSchema: { type: 'object' }, server: 'liar', extra: 1 },
      ],
    };
    const { herd } = startHerd([{}], { ...GOOD, lists });
    expect((await herd.view.catalog.tools()).tools).toEqual([
      {
        server: 'srv',
        name: 'a b',
        exposed_name: 'srv__a-b',
        description: 'x',
        input_schema: { type: 'object' },
        extra: 1,
      },
    ]);
  });

  test('have the same public names in the list of one server and in the list of all', async () => {
    const world = new World();
    world.behaviour = ({ name }) => ({
      ...GOOD,
      lists: { 'tools/list': [{ name: name === 'a' ? 'b__c' : 'c', description: 7 }] },
    });
    const herd = world.herd();
    herd.apply([spec({ name: 'a' }), spec({ name: 'a__b' })]);
    const { tools: all } = await herd.view.catalog.tools();
    expect(new Set(all.map(({ exposed_name }) => exposed_name)).size).toBe(2);
    expect([
      ...(await herd.view.catalog.tools('a')).tools,
      ...(await herd.view.catalog.tools('a__b')).tools,
    ]).toEqual(all);
    expect(all[0]).toMatchObject({ description: null, input_schema: null });
  });

  test('an unknown server is refused with ServerNotFoundError', async () => {
    const { herd } = startHerd();
    await expect(herd.view.catalog.tools('absent')).rejects.toMatchObject({ type: 'ServerNotFoundError' });
  });
});

describe('the status and the inspection', () => {
  test('show a server that runs, and one that failed with its error and next try', async () => {
    const { world, herd, call } = startHerd([{}], {
      opens: true,
      lists: { 'tools/list': [{ name: 'tool' }] },
    });
    expect(herd.view.status()[0]).toMatchObject({
      state: 'created',
      detail: 'idle',
      last_error: null,
      latency_ms: { p50: null },
    });
    void call();
    await settled();
    expect(herd.view.status(['srv'])).toMatchObject([
      {
        name: 'srv',
        state: 'connected',
        detail: 'running',
        pids: [world.newest.pid],
        incarnation: 1,
        in_flight: 1,
        calls: 1,
        failures: 0,
        tools: 1,
        prompts: 0,
        protocol_version: '2025-06-18',
        server_info: { name: 'fake' },
        next_retry_at: null,
      },
    ]);
    world.newest.crashes();
    await settled();
    world.clock.advance(250);
    world.newest.goes(failure('srv', { fix: 'try harder' }));
    await settled();
    expect(herd.view.status()[0]).toMatchObject({
      state: 'error',
      detail: 'waiting',
      restarts: 1,
      failures: 1,
      next_retry_at: new Date(750).toISOString(),
      last_error: {
        message: 'srv: could not be started',
        cause: 'spawn',
        fix: 'try harder',
        at: new Date(250).toISOString(),
      },
      protocol_version: null,
      pids: [],
    });
  });

  test('X1: show no declared value in the last error', async () => {
    const world = new World();
    world.behaviour = () => ({ lists: TOOLS, ...GOOD });
    const redactFor = <T>(_: unknown, value: T): T =>
      JSON.parse(JSON.stringify(value).replaceAll('hunter2', '[X]')) as T;
    const herd = world.herd({ redactFor });
    herd.apply([spec()]);
    await herd.view.order('start', { servers: ['srv'] }, true);
    const [message, why, fix] = ['no hunter2', 'it said: hunter2', 'drop hunter2'];
    world.newest.goes(failure('srv', { message, why, fix }));
    await settled();
    expect(herd.view.status()[0]?.last_error).toMatchObject({
      message: 'no [X]',
      why: 'it said: [X]',
      fix: 'drop [X]',
    });
  });

  test('X1: show both charts and the spec without secrets; an unknown server is an error', async () => {
    const { herd } = startHerd([{ env: { TOKEN: 'hunter2' } }]);
    await herd.view.order('start', { servers: ['srv'] }, true);
    await settled();
    const inspection = herd.view.inspect('srv');
    expect(inspection).toMatchObject({
      server: 'srv',
      snapshot: { server: 'connected.serving', keeper: 'running.up' },
    });
    expect(JSON.stringify(inspection)).not.toContain('hunter2');
    expect(() => herd.view.inspect('absent')).toThrow("no server is called 'absent'");
    expect(() => herd.view.status(['absent'])).toThrow("no server is called 'absent'");
  });
});

describe('a bug of toolherd', () => {
  test('a fault in one keeper is logged, quarantines its server and touches no other', async () => {
    const world = new World();
    world.behaviour = () => ({ opens: true, lists: TOOLS });
    const herd = world.herd({
      random: () => {
        throw new Error('no chance');
      },
    });
    herd.apply([spec({ name: 'a', start: 'eager' }), spec({ name: 'b', start: 'eager' })]);
    await settled();
    for (let count = 0; count < 2; count += 1) {
      world.alive.find(({ spec: { name } }) => name === 'a')?.crashes();
      await settled();
    }
    expect(world.logs).toEqual(['a: a fault in toolherd itself: Error: no chance']);
    expect(herd.view.status().map(({ name, detail }) => [name, detail])).toEqual([
      ['a', 'quarantined'],
      ['b', 'running'],
    ]);
    expect((await herd.view.calls.call({ server: 'a', tool: 'x' })).error?.message).toContain(
      'its keeper broke',
    );
    await herd.shutdown(1000, async () => undefined);
    expect(world.alive).toEqual([]);
  });
});

test('a tool result with isError is returned as MCPToolError with sent: true', async () => {
  const { world, call } = startHerd([{}], { opens: true });
  const calling = call();
  await settled();
  world.newest.answers({ ...text('no such file'), isError: true });
  expect(await calling).toMatchObject({
    success: false,
    error: { type: 'MCPToolError', sent: true, message: 'no such file' },
  });
});
