import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/shared/json.js';
import type { FakeLink } from '../fake-link.js';
import { settled, spec, World } from '../world.js';
import { LISTS, URI, unlistedResource } from './unlisted-resource.js';

/** A herd whose server answers the next request with this error. */
async function refusing(error: JsonObject) {
  const world = new World();
  world.behaviour = () => ({ opens: true, lists: LISTS });
  const herd = world.herd({
    redact: (value) => JSON.parse(JSON.stringify(value).replaceAll('hunter2', '***')),
  });
  herd.apply([spec()]);
  await herd.view.order('start', { all: true }, true);
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

describe('the error of a server', () => {
  test.each([-32002, -32602])(
    'the error %i to a read becomes MCPResourceNotFoundError with a suggestion',
    async (code) => {
      const { herd, answered } = await refusing({ code, message: 'Resource note://b not found' });
      expect(await answered(herd.view.requests.resource({ server: 'srv', uri: 'note://b' }))).toMatchObject({
        type: 'MCPResourceNotFoundError',
        why: 'the server said: Resource note://b not found',
        fix: "did you mean 'note://a'?",
        sent: true,
      });
    },
  );

  test('the error to a prompt that lacks an argument keeps its text without secrets, and its fix names the prompts', async () => {
    const { herd, answered } = await refusing({ code: -32602, message: 'not hunter2: city is missing' });
    const failure = await answered(herd.view.requests.prompt({ server: 'srv', name: 'p' }));
    expect(failure).toMatchObject({
      type: 'MCPProtocolError',
      message: expect.stringContaining('not ***: city is missing'),
      fix: 'see "toolherd prompts srv"',
      sent: true,
    });
  });

  test('the error to a read with another code stays MCPProtocolError', async () => {
    const { herd, answered } = await refusing({ code: -32603, message: 'oh' });
    const asking = herd.view.requests.resource({ server: 'srv', uri: 'note://b' });
    expect(await answered(asking)).toMatchObject({
      type: 'MCPProtocolError',
      fix: 'see "toolherd logs srv"',
    });
  });
});

describe('a request that names no server, while a server hangs at its first start', () => {
  /** Where list_wait is longer than any request may take. */
  async function herdWithHungServer() {
    const world = new World();
    world.behaviour = ({ name }) => (name === 'hung' ? {} : { opens: true, lists: LISTS });
    const herd = world.herd({ listWaitMs: () => 60_000 });
    herd.apply([spec({ name: 'hung' }), spec({ name: 'srv' })]);
    await herd.view.order('start', { servers: ['srv'] }, true);
    return { world, herd };
  }

  const REQUESTS = [
    { method: 'resources/read', params: { uri: 'other://x' } },
    { method: 'prompts/get', params: { name: 'x' } },
    { method: 'tools/call', params: { name: 'x' } },
    { method: 'completion/complete', params: { ref: { type: 'ref/resource', uri: 'other://x' } } },
    { method: 'completion/complete', params: { ref: { type: 'ref/prompt', name: 'x' } } },
  ] as const;

  test.each(REQUESTS)('fails with MCPTimeoutError at its timeout: $method', async (request) => {
    const { world, herd } = await herdWithHungServer();
    const failure = herd.view.requests
      .request({ ...request, timeout_ms: 500 })
      .catch((error: unknown) => error);
    const answered = Promise.race([failure, world.passes(500).then(() => settled())]);
    expect(await answered).toMatchObject({
      type: 'MCPTimeoutError',
      sent: false,
      retryable: true,
      message: expect.stringContaining('within the 0.5 s of this call'),
      why: expect.stringMatching(/lists are missing: hung \(has been starting for \d+ s\)$/),
    });
  });

  test.each(REQUESTS)('fails with CancelledError when it is cancelled: $method', async (request) => {
    const { herd } = await herdWithHungServer();
    const abort = new AbortController();
    const failure = herd.view.requests
      .request({ ...request }, { signal: abort.signal })
      .catch((error: unknown) => error);
    await settled();
    abort.abort();
    const answered = Promise.race([failure, settled().then(() => 'no answer')]);
    expect(await answered).toMatchObject({ type: 'CancelledError', sent: false });
  });

  test('has the remaining time at the server that is found', async () => {
    const { world, herd } = await herdWithHungServer();
    const failure = herd.view.requests
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

describe('while a server starts, a request for a resource that no known list has', () => {
  const refusedBy = async (link: FakeLink, error: JsonObject) => {
    await settled();
    const { id } = link.written.at(-1)!;
    link.session.deliver(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, error })));
  };
  const READ = { method: 'resources/read', params: { uri: URI } } as const;

  test.each([-32002, -32602])(
    'that is answered with %i gets an error that names the servers whose lists are missing',
    async (code) => {
      const { world, herd, first } = await unlistedResource();
      const failure = herd.view.requests.request(READ).catch((error: unknown) => error);
      await world.passes(2500);
      await refusedBy(first, { code, message: 'not mine', data: { uri: URI } });
      const why = expect.stringMatching(
        /^first said: not mine; these lists are missing: second \(has been starting/,
      );
      const fix = 'try again when these servers run; see "toolherd status"';
      expect(await failure).toMatchObject({
        type: 'MCPResourceNotFoundError',
        message: `no server has a resource '${URI}'`,
        ...{ why, fix, sent: true },
        // an MCP client gets the server's error, with the missing servers in data
        rpc: { code, message: 'not mine', data: { uri: URI, why, fix } },
      });
    },
  );

  test("keeps the server's error if that has another code, or all lists are known", async () => {
    const { world, herd, first, comes } = await unlistedResource({});
    const failing = herd.view.requests.request(READ).catch((error: unknown) => error);
    await world.passes(2500);
    await refusedBy(first, { code: -32603, message: 'oh' });
    expect(await failing).toMatchObject({ rpc: { code: -32603, message: 'oh' } });
    await comes();
    const unknown = herd.view.requests.request(READ).catch((error: unknown) => error);
    await refusedBy(first, { code: -32002, message: 'not mine' });
    expect(await unknown).toMatchObject({ rpc: { code: -32002, message: 'not mine' } });
  });

  test("keeps the server's error if it is a completion", async () => {
    const { world, herd, first } = await unlistedResource();
    const params = { ref: { type: 'ref/resource', uri: URI }, argument: { name: 'id', value: '' } };
    const failure = herd.view.requests
      .request({ method: 'completion/complete', params })
      .catch((error: unknown) => error);
    await world.passes(2500);
    await refusedBy(first, { code: -32602, message: 'no such argument' });
    expect(await failure).toMatchObject({ rpc: { code: -32602, message: 'no such argument' } });
  });
});
