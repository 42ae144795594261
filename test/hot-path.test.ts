// isolated: counts what the whole process does: calls on JSON, messages to actors, async resources
/**
 * What a call costs, in counts that are the same on every machine. A real connection, herd, session and framer; only
 * the two pipes are the test's own, so that everything between them happens within one turn and nothing else does.
 */
import { createHook } from 'node:async_hooks';
import { Duplex, Writable } from 'node:stream';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Actor } from 'xstate';
import type { LocalFleet } from '../src/fleet/fleet.js';
import { FleetServer } from '../src/ipc/server/fleet-server.js';
import { Session } from '../src/link/calls/session.js';
import type { Link } from '../src/link/link.js';
import { serverEncoding } from '../src/link/stdio/encoding.js';
import { StdinWriter } from '../src/link/stdio/stdin-writer.js';
import { Framer } from '../src/shared/framing/framer.js';
import type { OpenLink } from '../src/supervisor/server/link-actor.js';
import { HELLO } from './supervisor/fake-link.js';
import { settled, spec, World } from './supervisor/world.js';

const MANY = 100;
/** So many that all of them fit into one write. */
const FEW = 15;
const sizes = (writes: readonly Buffer[]) => writes.map(({ length }) => length);
const isOneWrite = (bytes: number) => bytes >= 4096 && bytes < 5000;

/**
 * A client and a server with toolherd between them; `server` and `client` are the writes that each was given. `isBusy`:
 * many calls came together before, and the timer of the wheel, which is armed once for all calls, is armed.
 */
async function forwardCalls({ isBusy = false } = {}) {
  const world = new World();
  const server: Buffer[] = [];
  const client: Buffer[] = [];
  const stdin = new Writable({
    write(chunk, _encoding, done) {
      server.push(chunk);
      done();
    },
  });
  let framer: Framer | undefined;
  const open: OpenLink = ({ name, maxInFlight }, incarnation, on): Link => {
    const input = new StdinWriter(stdin, serverEncoding('utf-8'), {
      drained: () => session.resume(),
      broken: () => undefined,
    });
    const session: Session = new Session({
      ...{ name, incarnation, clock: world.clock, wire: input, maxInFlight },
      ...{ timeoutMs: 60_000, maxTimeoutMs: 600_000, other: () => undefined },
      fault: (error) => {
        throw error;
      },
    });
    framer = new Framer(64 * 2 ** 20, {
      line: (line) => session.deliver(line),
      long: () => session.deliverLong(),
    });
    queueMicrotask(() => on.opened(HELLO));
    return {
      ...{ session, pids: [], ping: async () => undefined, watch: async () => async () => undefined },
      list: async (method) =>
        method === 'tools/list' ? [{ name: 'echo', inputSchema: { type: 'object' } }] : [],
      renewLogLevel: () => {},
      close: () => on.ended({ kind: 'disconnected', reason: 'stopped', killed: false }),
    };
  };
  const herd = world.herd({ open });
  herd.apply([spec({ name: 'srv' })]);
  await herd.view.order('start', { all: true }, true);
  await herd.view.catalog.tools();
  const fleet = {
    request: () => Promise.reject(new Error('this is not the short way')),
    forward: (...asked: Parameters<typeof herd.view.requests.forward>) =>
      herd.view.requests.forward(...asked),
    subscribe: () => () => undefined,
  } as unknown as LocalFleet;
  const socket = new Duplex({
    read: () => undefined,
    write(chunk, _encoding, done) {
      client.push(chunk);
      done();
    },
  });
  const peer = new FleetServer(fleet).accept(socket);
  onTestFinished(() => peer.destroy());
  const lines = (writes: readonly Buffer[]) => Buffer.concat(writes).toString().split('\n').slice(0, -1);
  const scene = {
    world,
    peer,
    server,
    client,
    ask(count: number, first = 1) {
      const params = { name: 'srv__echo', arguments: { text: 'x'.repeat(30) } };
      const texts = Array.from(
        { length: count },
        (_, at) => `${JSON.stringify({ jsonrpc: '2.0', id: first + at, method: 'tools/call', params })}\n`,
      );
      socket.emit('data', Buffer.from(texts.join('')));
    },
    /** Answers everything that the server was given, in one piece; the answer is what it returns. */
    answer(result = `{"content":[{"type":"text","text":"${'x'.repeat(100)}"}]}`): Buffer {
      const asked = lines(server.splice(0)).map((line) => JSON.parse(line) as { id: number });
      const bytes = Buffer.from(
        asked.map(({ id }) => `{"jsonrpc":"2.0","id":${id},"result":${result}}\n`).join(''),
      );
      framer?.push(bytes);
      return bytes;
    },
    replies: () => lines(client).map((line) => JSON.parse(line) as { id: number; result: unknown }),
  };
  if (isBusy) {
    scene.ask(FEW);
    await settled();
    scene.answer();
    await settled();
    client.length = 0;
  }
  return scene;
}

/** What came into being in one turn, by its kind. */
function made(run: () => void): Record<string, number> {
  const counts: Record<string, number> = {};
  const count = (kind: string) => {
    counts[kind] = (counts[kind] ?? 0) + 1;
  };
  class Counted extends AbortController {
    constructor() {
      super();
      count('AbortController');
    }
  }
  vi.stubGlobal('AbortController', Counted);
  const hook = createHook({ init: (_id, kind) => count(kind) }).enable();
  try {
    run();
  } finally {
    hook.disable();
    vi.unstubAllGlobals();
  }
  return counts;
}

test('the counters of this file count', () => {
  const counts = made(() => {
    new AbortController().abort();
    clearTimeout(setTimeout(() => undefined, 1000));
    void Promise.resolve();
  });
  expect(counts).toMatchObject({ AbortController: 1, Timeout: 1, PROMISE: 1 });
});

describe('a forwarded call', () => {
  test('makes no promise, no timer and no AbortController, on its way there or back', async () => {
    const { ask, answer, replies, peer } = await forwardCalls({ isBusy: true });
    // one turn more for all lines together, to the server and to the client
    expect(made(() => ask(FEW))).toEqual({ TickObject: 1 });
    await settled();
    expect(made(() => answer())).toEqual({ Immediate: 1 });
    await settled();
    expect([replies().length, peer.running]).toEqual([FEW, 0]);
  });

  test('that comes alone is written at once, to the server and back, without a promise or a timer', async () => {
    const { ask, answer, server, client } = await forwardCalls();
    const kinds = new Set<string>();
    for (const id of [1, 2]) {
      for (const kind of Object.keys(made(() => ask(1, id)))) if (id > 1) kinds.add(kind);
      expect(server).toHaveLength(1);
      await settled();
      for (const kind of Object.keys(made(() => answer()))) if (id > 1) kinds.add(kind);
      expect(client).toHaveLength(id);
      await settled();
    }
    // the first one armed the timer of the wheel
    expect([...kinds].sort()).toEqual(['Immediate', 'TickObject']);
  });

  test('is written at once if the last turn had one call; further calls of that turn share a write', async () => {
    const { ask, server } = await forwardCalls();
    ask(FEW);
    expect(server).toHaveLength(1);
    await settled();
    expect(server).toHaveLength(2);
    ask(FEW, FEW + 1);
    expect(server).toHaveLength(2);
    await settled();
    expect(server).toHaveLength(3);
  });

  test('shares one write to the server, and one to the client, with calls that came in the same chunk', async () => {
    const { ask, answer, server, client } = await forwardCalls({ isBusy: true });
    ask(FEW);
    await settled();
    expect(server).toHaveLength(1);
    answer();
    await settled();
    expect(client).toHaveLength(1);
  });

  test('does not wait for many others: full writes go out before the chunk is processed', async () => {
    const { ask, answer, server, client, replies } = await forwardCalls({ isBusy: true });
    ask(MANY);
    expect(server.length).toBeGreaterThan(0);
    await settled();
    expect(sizes(server).slice(0, -1).every(isOneWrite)).toBe(true);
    answer();
    expect(client.length).toBeGreaterThan(0);
    await settled();
    expect(sizes(client).slice(0, -1).every(isOneWrite)).toBe(true);
    expect(replies().map(({ id }) => id)).toEqual(Array.from({ length: MANY }, (_, at) => at + 1));
  });

  test('has each of its lines parsed once, and only its request is serialized', async () => {
    const { ask, answer, replies } = await forwardCalls();
    const [parse, stringify] = [vi.spyOn(JSON, 'parse'), vi.spyOn(JSON, 'stringify')];
    onTestFinished(() => void vi.restoreAllMocks());
    ask(MANY);
    await settled();
    const [read, written] = [parse.mock.calls.length, stringify.mock.calls.length - MANY];
    answer();
    const back = [parse.mock.calls.length - read - MANY, stringify.mock.calls.length - MANY - written];
    vi.restoreAllMocks();
    await settled();
    // the method and the params of the question; the answer is passed on as it came
    expect({ read, written, back }).toEqual({ read: MANY, written: 2 * MANY, back: [MANY, 0] });
    expect(replies()).toHaveLength(MANY);
  });

  test('sends no event to a statechart', async () => {
    const { ask, answer } = await forwardCalls();
    const sent = vi.spyOn(Actor.prototype, 'send');
    onTestFinished(() => void sent.mockRestore());
    ask(MANY);
    await settled();
    answer();
    await settled();
    expect(sent).not.toHaveBeenCalled();
  });

  test('passes a long result on in the memory that it arrived in', async () => {
    const { ask, answer, client } = await forwardCalls();
    ask(1);
    await settled();
    const came = answer(`{"content":[{"type":"text","text":"${'x'.repeat(2 ** 20)}"}]}`);
    while (client.at(-1)?.at(-1) !== 0x0a) await settled();
    const copied = client.filter(({ buffer }) => buffer !== came.buffer);
    expect(copied.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(100);
    expect(Buffer.concat(client).length).toBeGreaterThan(2 ** 20);
  });

  test('leaves no timer armed after its reply', async () => {
    const { ask, answer, world } = await forwardCalls();
    for (let round = 0; round < 5; round += 1) {
      ask(MANY, round * MANY);
      await settled();
      answer();
      await settled();
      world.clock.advance(50);
    }
    const armed = vi.spyOn(world.clock, 'setTimeout');
    world.clock.advance(600_000);
    expect(armed).not.toHaveBeenCalled();
  });
});
