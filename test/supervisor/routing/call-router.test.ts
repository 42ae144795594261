import { duplexPair } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { StdioSpec } from '../../../src/config/fields/spec.js';
import type { ForwardHandle, ForwardSink, LocalFleet, RequestParams } from '../../../src/fleet/fleet.js';
import { serveFleet } from '../../../src/ipc/server/socket-server.js';
import type { MCPError } from '../../../src/shared/call-errors.js';
import type { Outcome } from '../../../src/shared/call-sink.js';
import type { JsonObject } from '../../../src/shared/json.js';
import type { Herd } from '../../../src/supervisor/herd/herd.js';
import { crash } from '../fake-link.js';
import { ALL_TOOLS, settled, spec, World } from '../world.js';

const TOOLS = ['x', 'y', 'a__x', 'hidden', 'odd name'].map((name) => ({
  name,
  inputSchema: { type: 'object' },
}));
const KNOWN = ['a__x', 'a__y', 'a__a__x', 'b__x', 'a__odd-name', 'once__x'];
const OTHERS = ['x', 'a__hidden', 'brief__x', 'off__x', 'odd name', 'absent', ''];
const names = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...KNOWN) }, fc.constantFrom(...OTHERS));

const SPECS: StdioSpec[] = [
  spec({ name: 'a', tools: { ...ALL_TOOLS, deny: ['hidden'] }, maxInFlight: 2 }),
  spec({ name: 'b' }),
  spec({ name: 'brief', resultLimit: 1000 }),
  spec({ name: 'off', enabled: false }),
  spec({ name: 'once', lifecycle: 'transient' }),
];

/** The same call as a promise that is cancelled by a signal. */
function byPromise(herd: Herd, params: RequestParams, sink: ForwardSink): ForwardHandle {
  const controller = new AbortController();
  const { caller, progress: onProgress, ask: onRequest } = sink;
  const context = { caller, onProgress, onRequest, signal: controller.signal, acceptsRaw: true };
  herd.view.requests.request(params, context).then(
    (result) => sink.settle({ ok: true, result }),
    (error: MCPError) => sink.settle({ ok: false, error }),
  );
  return { cancel: (reason) => controller.abort(new Error(reason)) };
}

/** A herd on a connection of MCP; `isShort`: calls go without a promise. */
async function connection(isShort: boolean, specs = SPECS, options: Parameters<World['herd']>[0] = {}) {
  const world = new World();
  world.behaviour = () => ({ opens: true, lists: { 'tools/list': TOOLS } });
  const herd: Herd = world.herd(options);
  herd.apply(specs);
  await herd.view.order('start', { all: true }, true);
  for (const { name, enabled } of specs) if (enabled) await herd.view.catalog.tools(name);
  const fleet = {
    subscribe: () => () => undefined,
    forward: (...asked: Parameters<LocalFleet['forward']>) =>
      isShort ? herd.view.requests.forward(...asked) : byPromise(herd, ...asked),
  } as unknown as LocalFleet;
  const [wire, stream] = duplexPair();
  const server = serveFleet(fleet);
  const peer = server.accept(stream);
  onTestFinished(() => peer.destroy());
  let said = '';
  wire.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  return {
    world,
    herd,
    peer,
    wire,
    said: () => said,
    lines: () =>
      said
        .split('\n')
        .filter((line) => line.trim() !== '')
        .map((line) => JSON.parse(line) as JsonObject),
    async say(...messages: JsonObject[]) {
      wire.write(messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''));
      for (let turn = 0; turn < 4; turn += 1) await settled();
    },
  };
}

type Connection = Awaited<ReturnType<typeof connection>>;

const call = (id: unknown, name: unknown, more: JsonObject = {}) => ({
  id,
  method: 'tools/call',
  params: { name, arguments: { n: 1 }, ...more },
});

/** What servers answer, as it stands in their lines. */
const ANSWERS = [
  '"result":{"content":[]}',
  '"result":{"content":[{"type":"text","text":"\\ud800 \u2028 \ufffd é"}],"isError":true}',
  '"result":{"structuredContent":{"n":1e3,"__proto__":{"a":1},"a\\u0062":[]}}',
  '"result": { "content" : [ ] }',
  '"result":{"x":1},"more":2',
  '"result":7',
  '"error":{"code":-32602,"message":"no such thing","data":{"a":1}}',
  '"error":{"code":-32000,"message":"hunter2"}',
];

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('call' as const),
      name: names,
      token: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('answer' as const),
      which: fc.nat(5),
      as: fc.constantFrom(...ANSWERS),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('cancel' as const), which: fc.nat(12), mcp: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('progress' as const), which: fc.nat(5) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom('crash' as const, 'stop' as const, 'start' as const),
      which: fc.nat(4),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Every call that a server knows of and has not answered, of all servers in their order. */
const open = ({ world }: Connection, answered: ReadonlySet<string>) =>
  world.alive.flatMap((link) =>
    link.calls.filter(({ id }) => !answered.has(`${link.pid} ${id}`)).map(({ id }) => ({ link, id })),
  );

async function act(on: Connection, script: readonly Step[]): Promise<void> {
  const answered = new Set<string>();
  let id = 0;
  for (const one of script) {
    if (one.do === 'call') {
      id += 1;
      await on.say(call(id, one.name, one.token ? { _meta: { progressToken: `p${id}` } } : {}));
    } else if (one.do === 'cancel') {
      const params = one.mcp ? { requestId: one.which } : { id: one.which };
      await on.say({ method: one.mcp ? 'notifications/cancelled' : '$/cancel', params });
    } else if (one.do === 'answer' || one.do === 'progress') {
      const waiting = open(on, answered);
      const chosen = waiting[one.which % Math.max(1, waiting.length)];
      if (chosen === undefined) continue;
      if (one.do === 'answer') answered.add(`${chosen.link.pid} ${chosen.id}`);
      const progress = { progressToken: chosen.id, progress: 1 };
      const line =
        one.do === 'answer'
          ? `{"jsonrpc":"2.0","id":${chosen.id},${one.as}}`
          : JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params: progress });
      chosen.link.session.deliver(Buffer.from(line));
      await on.say();
    } else {
      const { name } = SPECS[one.which]!;
      if (one.do === 'crash') on.world.alive.find((link) => link.spec.name === name)?.goes(crash(name, 1));
      else await on.herd.view.order(one.do, { servers: [name] }, true);
      await on.say();
    }
  }
}

const told = ({ world, lines }: Connection) => ({
  client: lines(),
  servers: world.links.map(({ spec: { name }, written }) => [name, written]),
});

describe('a forwarded call', () => {
  test('gets the same replies and events as a requested call, for any script of steps', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25, size: 'max' }), async (script) => {
        const [short, long] = await Promise.all([connection(true), connection(false)]);
        await act(short, script);
        await act(long, script);
        expect(told(short)).toEqual(told(long));
        expect(short.peer.running).toBe(long.peer.running);
        short.peer.destroy();
        long.peer.destroy();
        expect(told(short).servers).toEqual(told(long).servers);
      }),
      { seed: 7, numRuns: process.env.TOOLHERD_LONG ? 300 : 12 },
    );
  }, 120_000);

  test('is written or refused before `forward` returns when the lists are known', async () => {
    const { herd, world } = await connection(true);
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
    const { herd, world } = await connection(true, SPECS, { redactFor });
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
    const { herd, world } = await connection(true, SPECS, { warn: (text) => void warnings.push(text) });
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

  test.each(['$/cancel', 'notifications/cancelled'])('is cancelled by %s in every state', async (method) => {
    const on = await connection(true);
    const cancel = (id: number) => ({ method, params: { id, requestId: id } });
    const reply = (id: number, sent: boolean) => ({
      jsonrpc: '2.0',
      id,
      error: expect.objectContaining({ code: 1032, data: expect.objectContaining({ sent }) }),
    });
    const cancels = () =>
      on.world.links.flatMap(({ written }) =>
        written.filter((one) => one.method === 'notifications/cancelled'),
      );
    // two are with the server, the third waits in its line
    await on.say(call(1, 'a__x'), call(2, 'a__x'), call(3, 'a__x'));
    await on.say(cancel(3), cancel(1), cancel(1));
    expect(cancels()).toHaveLength(1);
    // one waits for a server that comes back, one for a process that starts
    on.world.alive.find((link) => link.spec.name === 'b')?.goes(crash('b', 1));
    on.world.behaviour = () => ({ opens: false });
    await on.say(call(4, 'b__x'), call(5, 'once__x'));
    await on.say(cancel(4), cancel(5));
    expect([cancels().length, on.peer.running]).toEqual([1, 1]);
    const told = [reply(3, false), reply(1, true), reply(4, false), reply(5, false)];
    expect(on.lines()).toEqual(method === '$/cancel' ? told : []);
    on.peer.destroy();
    await settled();
    expect([cancels().length, on.peer.running]).toEqual([2, 0]);
  });
});

describe('the statistics of a server', () => {
  test('count each call that it was given and each failure, and have the durations', async () => {
    const { herd, world } = await connection(true);
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
