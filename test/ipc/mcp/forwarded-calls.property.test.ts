import { duplexPair } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ForwardHandle, ForwardSink, LocalFleet, RequestParams } from '../../../src/fleet/fleet.js';
import { FleetServer } from '../../../src/ipc/server/fleet-server.js';
import type { MCPError } from '../../../src/shared/call-errors.js';
import type { JsonObject } from '../../../src/shared/json.js';
import type { Herd } from '../../../src/supervisor/herd/herd.js';
import { crash } from '../../supervisor/fake-link.js';
import { SPECS, startSmallHerd } from '../../supervisor/routing/small-herd.js';
import { settled } from '../../supervisor/world.js';

const KNOWN = ['a__x', 'a__y', 'a__a__x', 'b__x', 'a__odd-name', 'once__x'];
const OTHERS = ['x', 'a__hidden', 'brief__x', 'off__x', 'odd name', 'absent', ''];
const names = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...KNOWN) }, fc.constantFrom(...OTHERS));

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
async function connection(isShort: boolean) {
  const { world, herd } = await startSmallHerd();
  const fleet = {
    subscribe: () => () => undefined,
    forward: (...asked: Parameters<LocalFleet['forward']>) =>
      isShort ? herd.view.requests.forward(...asked) : byPromise(herd, ...asked),
  } as unknown as LocalFleet;
  const [wire, stream] = duplexPair();
  const server = new FleetServer(fleet);
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
