import { describe, expect, test } from 'vitest';
import type { Opened } from '../../../src/link/link.js';
import { MCPProtocolError } from '../../../src/shared/call-errors.js';
import type { JsonObject } from '../../../src/shared/json.js';
import { type FakeLink, type FakeLinkBehaviour, HELLO } from '../fake-link.js';
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

describe('what a server refuses', () => {
  test('a subscription is refused without values that only this server was given', async () => {
    const world = new World();
    world.manners = () => ({ answers: true, lists: LISTS });
    const redactFor = <T>({ name }: { name: string }, value: T): T =>
      JSON.parse(JSON.stringify(value).replaceAll(`secret of ${name}`, '***')) as T;
    const herd = world.herd({ redactFor });
    herd.apply([spec()]);
    await herd.view.order('start', { all: true });
    await settled();
    world.newest.opens({ ...HELLO, capabilities: { resources: { subscribe: true } } });
    await settled();
    world.newest.watch = () => Promise.reject(new MCPProtocolError('srv: no, by the secret of srv'));
    const watching = herd.view.watches.watch({ uri: 'note://a' }, () => undefined);
    await expect(watching).rejects.toMatchObject({ message: 'srv: no, by the ***' });
  });

  test.each([-32002, -32602])('a resource with %i is one that it has not', async (code) => {
    const { herd, answered } = await refusing({ code, message: 'Resource note://b not found' });
    expect(await answered(herd.view.requests.resource({ server: 'srv', uri: 'note://b' }))).toMatchObject({
      type: 'MCPResourceNotFoundError',
      why: 'the server said: Resource note://b not found',
      fix: "did you mean 'note://a'?",
      sent: true,
    });
  });

  test('a prompt that lacks an argument leads to the list of prompts, without secrets', async () => {
    const { herd, answered } = await refusing({ code: -32602, message: 'not hunter2: city is missing' });
    const failure = await answered(herd.view.requests.prompt({ server: 'srv', name: 'p' }));
    expect(failure).toMatchObject({
      type: 'MCPProtocolError',
      message: expect.stringContaining('not ***: city is missing'),
      fix: 'see "toolherd prompts srv"',
      sent: true,
    });
  });

  test('anything else stays what it was', async () => {
    const { herd, answered } = await refusing({ code: -32603, message: 'oh' });
    const asking = herd.view.requests.resource({ server: 'srv', uri: 'note://b' });
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

  test.each(REQUESTS)('ends when its time is over: $method', async (request) => {
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
      why: expect.stringMatching(/missing: hung \(has been starting for \d+ s\)$/),
    });
  });

  test.each(REQUESTS)('ends when it is cancelled: $method', async (request) => {
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

  test('has the rest of its time where the server is found', async () => {
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

describe('a watch of a resource', () => {
  test('moves to the changed server also where that says what it has later than list_wait', async () => {
    const world = new World();
    world.manners = () => ({ answers: true, lists: LISTS });
    const opened = { ...HELLO, capabilities: { resources: { subscribe: true } } };
    const herd = world.herd();
    herd.apply([spec()]);
    await herd.view.order('start', { all: true });
    await settled();
    world.newest.opens(opened);
    await settled();
    const told: unknown[] = [];
    await herd.view.watches.watch({ uri: 'note://a' }, (params) => told.push(params));
    herd.apply([spec({ args: ['changed'] })]);
    await settled();
    await world.passes(10_000);
    expect([world.links.length, world.newest.life]).toEqual([2, 'starting']);
    world.newest.opens(opened);
    await world.passes(10);
    expect([world.newest.watched, told]).toEqual([['note://a'], [{ uri: 'note://a' }]]);
  });
});

describe('a resource that no known list has, while the server that has it still starts', () => {
  const URI = 'other://x';
  const TELLS = { ...HELLO, capabilities: { resources: { subscribe: true } } };
  const MUTE = { ...HELLO, capabilities: { resources: {} } };
  const LISTED = { 'resources/list': [{ uri: URI, name: 'x' }] };

  /** `first` is the only one that is known to offer resources; `second` is about to start and has `lists`. */
  async function stage(lists: FakeLinkBehaviour['lists'] = LISTED) {
    const world = new World();
    world.manners = ({ name }) => ({ answers: true, lists: name === 'first' ? LISTS : lists! });
    const herd = world.herd();
    herd.apply([spec({ name: 'first' }), spec({ name: 'second' })]);
    void herd.view.order('start', { all: true });
    await settled();
    const [first, second] = world.links as [FakeLink, FakeLink];
    first.opens(TELLS);
    await settled();
    const told: unknown[] = [];
    const watch = async (server?: string) => {
      const watching = herd.view.watches.watch({ uri: URI, server }, (params) => told.push(params));
      await world.passes(2500);
      return watching;
    };
    const watched = () => [first.watched, second.watched];
    /** It shakes hands and says what it has. */
    const comes = async (opened: Opened = TELLS) => {
      second.opens(opened);
      await world.passes(100);
    };
    return { world, herd, first, second, watch, watched, comes, told };
  }

  test.each<FakeLinkBehaviour['lists']>([
    LISTED,
    { 'resources/templates/list': [{ uriTemplate: 'other://{id}', name: 'others' }] },
  ])('is watched at the other server until then, and moves with the list (%o)', async (lists) => {
    const { watch, watched, comes, told } = await stage(lists);
    const end = await watch();
    expect([watched(), told]).toEqual([[[URI], []], []]);
    await comes();
    expect([watched(), told]).toEqual([[[], [URI]], [{ uri: URI }]]);
    end();
    await settled();
    expect(watched()).toEqual([[], []]);
  });

  test('stays watched where it is if the server that lists it does not tell of changes', async () => {
    const { watch, watched, comes, told } = await stage();
    const end = await watch();
    await comes(MUTE);
    expect([watched(), told]).toEqual([[[URI], []], []]);
    end();
    await settled();
    expect(watched()).toEqual([[], []]);
  });

  test('stays watched at the server that the watch names', async () => {
    const { watch, watched, comes } = await stage();
    await watch('first');
    await comes();
    expect(watched()).toEqual([[URI], []]);
  });

  test('stays watched where it is if that server lists it too', async () => {
    const { first, world, watch, watched, comes } = await stage();
    await watch();
    first.manners = { ...first.manners, lists: LISTED };
    first.says('notifications/resources/list_changed');
    await world.passes(1000);
    await comes();
    expect(watched()).toEqual([[URI], []]);
  });

  test('ended while it moves is watched nowhere', async () => {
    const { second, watch, watched, comes, told } = await stage();
    const end = await watch();
    let asked = () => {};
    const plain = second.watch.bind(second);
    second.watch = (uri) => new Promise((resolve) => (asked = () => resolve(plain(uri))));
    await comes();
    end();
    asked();
    await settled();
    expect([watched(), told]).toEqual([[[], []], []]);
  });

  const refusedBy = async (link: FakeLink, error: JsonObject) => {
    await settled();
    const { id } = link.written.at(-1)!;
    link.session.deliver(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, error })));
  };
  const READ = { method: 'resources/read', params: { uri: URI } } as const;

  test.each([-32002, -32602])('a read that is answered with %i names who was not heard', async (code) => {
    const { world, herd, first } = await stage();
    const failure = herd.view.requests.request(READ).catch((error: unknown) => error);
    await world.passes(2500);
    await refusedBy(first, { code, message: 'not mine', data: { uri: URI } });
    const why = expect.stringMatching(
      /^first said: not mine; these lists are missing: second \(has been starting/,
    );
    const fix = 'try again when they run; see "toolherd status"';
    expect(await failure).toMatchObject({
      type: 'MCPResourceNotFoundError',
      message: `no server has a resource '${URI}'`,
      ...{ why, fix, sent: true },
      // for a client of MCP: the words of the server, and who was not heard beside them
      rpc: { code, message: 'not mine', data: { uri: URI, why, fix } },
    });
  });

  test('a read that fails otherwise, or is of a server that all others are known beside, stays what it was', async () => {
    const { world, herd, first, comes } = await stage({});
    const failing = herd.view.requests.request(READ).catch((error: unknown) => error);
    await world.passes(2500);
    await refusedBy(first, { code: -32603, message: 'oh' });
    expect(await failing).toMatchObject({ rpc: { code: -32603, message: 'oh' } });
    await comes();
    const unknown = herd.view.requests.request(READ).catch((error: unknown) => error);
    await refusedBy(first, { code: -32002, message: 'not mine' });
    expect(await unknown).toMatchObject({ rpc: { code: -32002, message: 'not mine' } });
  });

  test('a completion that is refused stays what it was', async () => {
    const { world, herd, first } = await stage();
    const params = { ref: { type: 'ref/resource', uri: URI }, argument: { name: 'id', value: '' } };
    const failure = herd.view.requests
      .request({ method: 'completion/complete', params })
      .catch((error: unknown) => error);
    await world.passes(2500);
    await refusedBy(first, { code: -32602, message: 'no such argument' });
    expect(await failure).toMatchObject({ rpc: { code: -32602, message: 'no such argument' } });
  });
});
