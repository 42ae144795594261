import { describe, expect, test } from 'vitest';
import type { StdioSpec } from '../../../src/config/fields/spec.js';
import type { Outcome } from '../../../src/shared/call-sink.js';
import { settled, spec, World } from '../world.js';
import { startSmallHerd, TOOLS } from './small-herd.js';

describe('a forwarded call', () => {
  test('is written or refused before `forward` returns when the lists are known', async () => {
    const { herd, world } = await startSmallHerd();
    const sent = () => world.links.flatMap(({ calls }) => calls).length;
    const outcomes: Outcome[] = [];
    const settle = (outcome: Outcome) => void outcomes.push(outcome);
    const sink = { caller: 'c', progress: undefined, ask: undefined, acceptsRaw: true, settle };
    const becomes = (name: string, server?: string) => {
      const before = [sent(), outcomes.length] as const;
      herd.view.requests.forward({ server, method: 'tools/call', params: { name } }, sink);
      if (sent() > before[0]) return 'sent';
      return outcomes.length > before[1] ? 'refused' : 'waits';
    };
    const running = ['a__x', 'a__y', 'b__x', 'b__a__x', 'brief__x'];
    expect(running.map((name) => becomes(name))).toEqual(running.map(() => 'sent'));
    expect(['a__hidden', ''].map((name) => becomes(name))).toEqual(['refused', 'refused']);
    expect([becomes('x', 'b'), becomes('hidden', 'a'), becomes('x', 'off'), becomes('x', 'absent')]).toEqual([
      'sent',
      'refused',
      'refused',
      'refused',
    ]);
  });

  test('fails with an error that has no declared value of its server', async () => {
    const redactFor = <T>({ name }: { name: string }, value: T): T =>
      JSON.parse(JSON.stringify(value).replaceAll(`secret of ${name}`, '***')) as T;
    const { herd, world } = await startSmallHerd({ redactFor });
    const outcomes: Outcome[] = [];
    const settle = (outcome: Outcome) => void outcomes.push(outcome);
    const sink = { caller: 'c', progress: undefined, ask: undefined, acceptsRaw: true, settle };
    herd.view.requests.forward({ method: 'tools/call', params: { name: 'b__x' } }, sink);
    const message = 'b: died of the secret of b';
    world.alive.find((link) => link.spec.name === 'b')?.goes({ kind: 'error', cause: 'exit', message });
    await settled();
    expect(outcomes).toMatchObject([{ ok: false, error: { type: 'ServerCrashedError', sent: true } }]);
    expect(String(outcomes.map((outcome) => !outcome.ok && (outcome.error as Error).message))).toBe(
      'b: died of the ***',
    );
  });

  test('logs a sink that throws after a wait, and keeps the daemon running', async () => {
    const warnings: string[] = [];
    const { herd, world } = await startSmallHerd({ warn: (text) => void warnings.push(text) });
    const settle = () => {
      throw new TypeError('private');
    };
    const sink = { caller: 'c', progress: undefined, ask: undefined, acceptsRaw: false, settle };
    world.behaviour = () => ({ opens: true, answers: true, lists: { 'tools/list': TOOLS } });
    await herd.view.order('restart', { servers: ['brief'] }, true);
    // its result is cut in a later turn
    herd.view.requests.forward({ method: 'tools/call', server: 'brief', params: { name: 'x' } }, sink);
    // its server is looked for in the lists
    herd.view.requests.forward({ method: 'resources/read', params: { uri: 'no://such' } }, sink);
    await settled();
    const fault = expect.stringMatching(/^a fault in toolherd itself: .*: TypeError$/);
    expect(warnings).toEqual([fault, fault]);
  });
});

describe('the statistics of a server', () => {
  test('count each call that it was given and each failure, and have the durations', async () => {
    const { herd, world } = await startSmallHerd();
    const b = () => world.alive.find((link) => link.spec.name === 'b')!;
    const call = () => herd.view.calls.call({ server: 'b', tool: 'x' });
    const first = call();
    await settled();
    world.clock.advance(40);
    b().answers();
    await first;
    const second = call();
    await settled();
    b().crashes();
    await second;
    await herd.view.calls.call({ server: 'b', tool: 'nothing' });
    expect(herd.view.status(['b'])).toMatchObject([{ calls: 2, failures: 1, latency_ms: { p99: 40 } }]);
  });
});

describe('a call whose server must be read first', () => {
  /** A server that starts and does not answer yet. */
  async function starting() {
    const world = new World();
    world.behaviour = () => ({ opens: false });
    const herd = world.herd();
    herd.apply([spec({ name: 'a' })]);
    const records: unknown[] = [];
    herd.view.events.subscribe(['call'], (event) => records.push(event));
    return { world, herd, records };
  }

  test('is cancelled at once, is not sent, and is recorded once', async () => {
    const { world, herd, records } = await starting();
    const outcomes: Outcome[] = [];
    const settle = (outcome: Outcome) => void outcomes.push(outcome);
    const sink = { caller: 'c', progress: undefined, ask: undefined, acceptsRaw: true, settle };
    const handle = herd.view.requests.forward({ method: 'tools/call', params: { name: 'a__x' } }, sink);
    await settled();
    expect([outcomes, world.links.length]).toEqual([[], 1]);
    handle.cancel('not wanted');
    await settled();
    expect(outcomes).toMatchObject([{ ok: false, error: { type: 'CancelledError', sent: false } }]);
    await world.passes(100);
    expect(records).toMatchObject([{ server: 'a', tool: 'a__x', ok: false, error: 'CancelledError' }]);
    world.newest.opens();
    await settled();
    expect([outcomes.length, world.newest.calls]).toEqual([1, []]);
  });

  test('that was cancelled before it began starts no server', async () => {
    const { world, herd } = await starting();
    const signal = AbortSignal.abort();
    const result = await herd.view.calls.call({ server: 'a', tool: 'a__x' }, { signal });
    expect([result.error?.type, world.links.length]).toEqual(['CancelledError', 0]);
  });
});

describe('a call that is answered after a reload has changed its server', () => {
  /** The call is with the process of the first spec, which does not exit when it is asked to. */
  async function reloaded(before: Partial<StdioSpec>, after: Partial<StdioSpec>) {
    const world = new World();
    world.behaviour = () => ({ opens: true, goes: 'never', lists: { 'tools/list': TOOLS } });
    const redactFor = <T>({ name, args }: { name: string; args?: readonly string[] }, value: T): T =>
      JSON.parse(JSON.stringify(value).replaceAll(args?.[0] ?? name, '[redacted]'));
    const herd = world.herd({ redactFor });
    herd.apply([spec({ name: 'a', ...before })]);
    await herd.view.order('start', { all: true }, true);
    await herd.view.catalog.tools('a');
    const calling = herd.view.calls.call({ server: 'a', tool: 'x' });
    await settled();
    herd.apply([spec({ name: 'a', ...after })]);
    await settled();
    return { calling, link: world.links[0]! };
  }
  const long = { content: [{ type: 'text', text: '0123456789' }] };

  test.each([
    [4, 0],
    [0, 4],
    [4, 6],
  ])('is cut to the limit of the server that ran it: %d, not %d', async (before, after) => {
    const { calling, link } = await reloaded({ resultLimit: before }, { resultLimit: after });
    link.answers(long);
    const { metadata } = await calling;
    expect(metadata.truncated?.given).toBe(before === 0 ? undefined : before);
  });

  test("X1: has the secrets of the server that ran it removed from the tool's error", async () => {
    const { calling, link } = await reloaded({ args: ['hunter2'] }, { args: ['hunter3'] });
    link.answers({ content: [{ type: 'text', text: 'hunter2 is wrong' }], isError: true });
    expect((await calling).error?.message).toBe('[redacted] is wrong');
  });
});

test('X1: no error of a request has a secret, in its message, why or fix, be it of the server or a refusal', async () => {
  const world = new World();
  world.behaviour = () => ({ opens: true, lists: { 'tools/list': TOOLS } });
  const redactFor = <T>(_: unknown, value: T): T =>
    JSON.parse(JSON.stringify(value).replaceAll('hunter2', '[redacted]'));
  const herd = world.herd({ redactFor, redact: (value) => redactFor(undefined, value) });
  herd.apply([spec({ name: 'a' })]);
  await herd.view.order('start', { all: true }, true);
  await herd.view.catalog.tools('a');
  const crashing = herd.view.calls.call({ server: 'a', tool: 'x' });
  await settled();
  const ending = { why: 'hunter2!', fix: 'not hunter2', message: 'bad hunter2' };
  world.newest.goes({ kind: 'error', cause: 'exit', code: 1, signal: null, ...ending });
  const { calls, requests } = herd.view;
  const results = [
    await crashing,
    await calls.call({ server: 'a', tool: 'hunter2' }),
    await calls.call({ server: 'hunter2', tool: 'x' }),
    ...(await calls.many({ calls: [{ server: 'hunter2', tool: 'x' }] }, { signal: AbortSignal.abort() })),
  ];
  expect(results.map(({ error }) => error?.type)).toEqual([
    'ServerCrashedError',
    'MCPToolNotFoundError',
    'ServerNotFoundError',
    'CancelledError',
  ]);
  for (const { error } of results) {
    expect(JSON.stringify(error)).not.toContain('hunter2');
    expect(JSON.stringify(error)).toContain('[redacted]');
  }
  const refused = requests.request({ method: 'tools/call', params: { name: 'a__hunter2' } });
  await expect(refused).rejects.toMatchObject({ message: expect.stringContaining('a__[redacted]') });
});
