import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/shared/json.js';
import { HELLO } from '../fake-link.js';
import { settled, spec, World } from '../world.js';

const LISTS = { 'prompts/list': [{ name: 'p' }], 'resources/list': [{ uri: 'note://a', name: 'a' }] };

/** A server that answers the one thing it is asked for with this error. */
async function refusing(error: JsonObject) {
  const world = new World();
  world.manners = () => ({ opens: true, lists: LISTS });
  const herd = world.herd({
    redact: (value) => JSON.parse(JSON.stringify(value).replaceAll('hunter2', '***')),
  });
  herd.apply([spec()]);
  await herd.order('start', { all: true }, true);
  const answered = async <T>(asking: Promise<T>) => {
    await settled();
    const { id } = world.newest.written.at(-1)!;
    world.newest.session.deliver(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, error })));
    return asking.then(
      () => undefined,
      (failure: unknown) => failure,
    );
  };
  return { herd, answered };
}

describe('what a server refuses', () => {
  test.each([-32002, -32602])('a resource with %i is one that it has not', async (code) => {
    const { herd, answered } = await refusing({ code, message: 'Resource note://b not found' });
    expect(await answered(herd.resource({ server: 'srv', uri: 'note://b' }))).toMatchObject({
      type: 'MCPResourceNotFoundError',
      why: 'the server said: Resource note://b not found',
      fix: "did you mean 'note://a'?",
      sent: true,
    });
  });

  test('a prompt that lacks an argument leads to the list of prompts, without secrets', async () => {
    const { herd, answered } = await refusing({ code: -32602, message: 'not hunter2: city is missing' });
    const failure = await answered(herd.prompt({ server: 'srv', name: 'p' }));
    expect(failure).toMatchObject({
      type: 'MCPProtocolError',
      message: expect.stringContaining('not ***: city is missing'),
      fix: 'see "toolherd prompts srv"',
      sent: true,
    });
  });

  test('anything else stays what it was', async () => {
    const { herd, answered } = await refusing({ code: -32603, message: 'oh' });
    const asking = herd.resource({ server: 'srv', uri: 'note://b' });
    expect(await answered(asking)).toMatchObject({
      type: 'MCPProtocolError',
      fix: 'see "toolherd logs srv"',
    });
  });
});

describe('a request whose server is not named, while another server hangs at its first start', () => {
  /** Where list_wait is longer than any request may take. */
  async function herdWithHungServer() {
    const world = new World();
    world.manners = ({ name }) => (name === 'hung' ? {} : { opens: true, lists: LISTS });
    const herd = world.herd({ listWaitMs: () => 60_000 });
    herd.apply([spec({ name: 'hung' }), spec({ name: 'srv' })]);
    await herd.order('start', { servers: ['srv'] }, true);
    return { world, herd };
  }

  const REQUESTS = [
    { method: 'resources/read', params: { uri: 'other://x' } },
    { method: 'prompts/get', params: { name: 'x' } },
    { method: 'tools/call', params: { name: 'x' } },
    { method: 'completion/complete', params: { ref: { type: 'ref/resource', uri: 'other://x' } } },
    { method: 'completion/complete', params: { ref: { type: 'ref/prompt', name: 'x' } } },
  ] as const;

  test.each(REQUESTS)('ends when its time is over: $method', async (request) => {
    const { world, herd } = await herdWithHungServer();
    const failure = herd.request({ ...request, timeout_ms: 500 }).catch((error: unknown) => error);
    const answered = Promise.race([failure, world.passes(500).then(() => settled())]);
    expect(await answered).toMatchObject({
      type: 'MCPTimeoutError',
      sent: false,
      retryable: true,
      message: expect.stringContaining('within the 0.5 s of this call'),
      why: expect.stringMatching(/not heard: hung \(has been starting for \d+ s\)$/),
    });
  });

  test.each(REQUESTS)('ends when it is cancelled: $method', async (request) => {
    const { herd } = await herdWithHungServer();
    const abort = new AbortController();
    const failure = herd.request({ ...request }, { signal: abort.signal }).catch((error: unknown) => error);
    await settled();
    abort.abort();
    const answered = Promise.race([failure, settled().then(() => 'no answer')]);
    expect(await answered).toMatchObject({ type: 'CancelledError', sent: false });
  });

  test('has the rest of its time where the server is found', async () => {
    const { world, herd } = await herdWithHungServer();
    const failure = herd
      .request({ method: 'resources/read', params: { uri: 'other://x' }, timeout_ms: 5000 })
      .catch((error: unknown) => error);
    await settled();
    await world.passes(2000);
    world.links.find(({ spec: { name } }) => name === 'hung')?.crashes();
    await settled();
    await world.passes(2900);
    const early = await Promise.race([failure, settled().then(() => 'no answer')]);
    await world.passes(100);
    expect([early, await failure]).toMatchObject(['no answer', { type: 'MCPTimeoutError', sent: true }]);
  });
});

describe('a watch of a resource', () => {
  test('moves to the changed server also where that says what it has later than list_wait', async () => {
    const world = new World();
    world.manners = () => ({ answers: true, lists: LISTS });
    const opened = { ...HELLO, capabilities: { resources: { subscribe: true } } };
    const herd = world.herd();
    herd.apply([spec()]);
    await herd.order('start', { all: true });
    await settled();
    world.newest.opens(opened);
    await settled();
    const told: unknown[] = [];
    await herd.watch({ uri: 'note://a' }, (params) => told.push(params));
    herd.apply([spec({ args: ['changed'] })]);
    await settled();
    await world.passes(10_000);
    expect([world.links.length, world.newest.life]).toEqual([2, 'starting']);
    world.newest.opens(opened);
    await world.passes(10);
    expect([world.newest.watched, told]).toEqual([['note://a'], [{ uri: 'note://a' }]]);
  });
});
