import { describe, expect, it } from 'vitest';
import * as wire from '../../../../src/shared/mcp/mcp-names.js';
import { config, server } from '../../../faults/config.js';
import { share } from '../../../support/share.js';
import { until } from '../../../support/until.js';
import { ask as post } from '../../http/support.js';
import { type Line, type LineClient, namesOf, startMcp, textOf } from '../support.js';

const VERSION = '2026-07-28';
const INFO = { name: 'toolherd', version: expect.any(String) };
const STAMP = { [wire.SERVER_INFO_KEY]: INFO };

interface Said {
  meta?: Record<string, unknown>;
  capabilities?: Record<string, unknown>;
  version?: unknown;
}

/** Params of this era: each request names its client. */
const params = (fields: object = {}, { meta = {}, capabilities = {}, version = VERSION }: Said = {}) => ({
  ...fields,
  _meta: {
    [wire.PROTOCOL_VERSION_KEY]: version,
    [wire.CLIENT_INFO_KEY]: { name: 'modern', version: '1' },
    [wire.CLIENT_CAPABILITIES_KEY]: capabilities,
    ...meta,
  },
});
const call = (name: string, args: object = {}, said: Said = {}) => params({ name, arguments: args }, said);

const asks = (message: string) => ({
  method: 'elicitation/create',
  params: { message, requestedSchema: { type: 'object', properties: {} } },
});

describe('a client of 2026-07-28 on the socket', () => {
  /** For those that leave everything as it was. */
  const herd = share(() =>
    startMcp(
      config([server('good', 'good.mjs'), server('offers', 'offers.mjs'), server('logs', 'logs.mjs')]),
    ),
  );

  it('discovers, lists and calls without a handshake', async () => {
    const { client } = herd();
    const mine = client();
    expect((await mine.ask(1, 'server/discover', params())).result).toEqual({
      supportedVersions: [VERSION],
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
        logging: {},
        completions: {},
      },
      resultType: 'complete',
      ttlMs: 0,
      cacheScope: 'private',
      _meta: STAMP,
    });
    const listed = await mine.ask(2, 'tools/list', params());
    expect(listed.result).toMatchObject({
      resultType: 'complete',
      ttlMs: 0,
      cacheScope: 'private',
      _meta: STAMP,
    });
    expect(namesOf(listed.result?.tools)).toContain('good__echo');
    const echoed = await mine.ask(3, 'tools/call', call('good__echo', { value: 'hi' }));
    expect(echoed.result).toEqual({
      content: [{ type: 'text', text: 'hi' }],
      resultType: 'complete',
      _meta: STAMP,
    });
    expect((await mine.ask(4, 'resources/read', params({ uri: 'note://a' }))).result).toMatchObject({
      contents: [{ uri: 'note://a' }],
      resultType: 'complete',
      ttlMs: 0,
      cacheScope: 'private',
    });
    for (const [method, key] of [
      ['prompts/list', 'prompts'],
      ['resources/list', 'resources'],
      ['resources/templates/list', 'resourceTemplates'],
    ] as const) {
      const { result } = await mine.ask(method, method, params());
      expect(result).toMatchObject({ [key]: expect.any(Array), resultType: 'complete', ttlMs: 0 });
    }
    const got = await mine.ask(
      5,
      'prompts/get',
      params({ name: 'offers__greet', arguments: { who: 'Ada' } }),
    );
    expect(got.result).toMatchObject({ resultType: 'complete', _meta: { ...STAMP, kept: true } });
    const ref = { ref: { type: 'ref/prompt', name: 'logs__p' }, argument: { name: 'a', value: 'v' } };
    expect((await mine.ask(6, 'completion/complete', params(ref))).result).toMatchObject({
      completion: { values: ['p', 'v'] },
      resultType: 'complete',
    });
    const none = { ref: { type: 'ref/prompt', name: 'offers__greet' }, argument: { name: 'a', value: 'v' } };
    expect((await mine.ask(7, 'completion/complete', params(none))).result).toMatchObject({
      completion: { values: [] },
      resultType: 'complete',
    });
  });

  it('does not pass its envelope to the server; the rest of its _meta passes', async () => {
    const { client } = herd();
    const { result } = await client().ask(1, 'tools/call', {
      ...call('logs__odd', { a: 1 }, { meta: { 'my/key': 7 } }),
      inputResponses: {},
    });
    expect(result).toMatchObject({
      content: [{ type: 'hologram', beam: 1, _meta: { a: 1 } }],
      structuredContent: { given: { a: 1 }, meta: { 'my/key': 7 } },
      unheardOf: true,
      _meta: { 'x/y': [1] },
    });
    expect(JSON.stringify(result?.structuredContent)).not.toContain('io.modelcontextprotocol');
  });

  it('gets an error for an unknown version, a bad envelope, and a method that this era lacks', async () => {
    const { client } = herd();
    const mine = client();
    const error = async (id: number, method: string, fields: Record<string, unknown>) =>
      (await mine.ask(id, method, fields)).error;
    expect(await error(1, 'tools/list', params({}, { version: '2031-01-01' }))).toEqual({
      code: -32022,
      message: 'Unsupported protocol version: 2031-01-01',
      data: { supported: [VERSION], requested: '2031-01-01' },
    });
    expect(
      await error(2, 'tools/list', params({}, { meta: { [wire.CLIENT_CAPABILITIES_KEY]: 7 } })),
    ).toMatchObject({ code: -32602, data: { envelope: { key: wire.CLIENT_CAPABILITIES_KEY } } });
    expect(
      await error(3, 'tools/list', params({}, { meta: { [wire.LOG_LEVEL_KEY]: 'loud' } })),
    ).toMatchObject({
      code: -32602,
    });
    for (const method of ['ping', 'logging/setLevel', 'resources/subscribe', 'initialize']) {
      expect(await error(4, method, params({ level: 'info', uri: 'note://a' }))).toMatchObject({
        code: -32601,
      });
    }
    expect(await error(5, 'server/discover', {})).toMatchObject({ code: -32602 });
    expect(await error(6, 'resources/read', params({ uri: 'gone://x' }))).toEqual({
      code: -32602,
      message: 'Resource not found',
      data: { uri: 'gone://x' },
    });
    expect(await error(7, 'tools/call', call('offers__nothing'))).toMatchObject({ code: -32602 });
    // and an old request on the same connection is answered as ever
    expect((await mine.ask(8, 'ping')).result).toEqual({});
    expect((await mine.ask(9, 'tools/list')).result).not.toHaveProperty('resultType');
  });

  it('gets progress, and log messages of its call from the level in the request', async () => {
    const { client } = herd();
    const [mine, other] = [client(), client()];
    const said = { meta: { progressToken: 'p' } };
    await mine.ask(1, 'tools/call', call('good__progress', { times: 2 }, said));
    expect(mine.heard('notifications/progress').map((line) => line.params)).toEqual(
      [1, 2].map((progress) => ({ progress, total: 2, progressToken: 'p' })),
    );
    const log = (one: LineClient, level: string, least?: string) => {
      const meta = least === undefined ? {} : { [wire.LOG_LEVEL_KEY]: least };
      const args = { level, data: `it is ${level}`, logger: 'db' };
      return one.ask(level, 'tools/call', call('logs__log', args, { meta }));
    };
    await log(mine, 'notice', 'warning');
    await log(mine, 'error', 'warning');
    await log(mine, 'critical');
    await log(other, 'alert', 'debug');
    await Promise.all([
      mine.ask('a', 'server/discover', params()),
      other.ask('a', 'server/discover', params()),
    ]);
    const told = (one: LineClient) => one.heard('notifications/message').map((line) => line.params);
    expect(told(mine)).toEqual([{ level: 'error', logger: 'logs/db', data: 'it is error' }]);
    expect(told(other)).toEqual([{ level: 'alert', logger: 'logs/db', data: 'it is alert' }]);
  });

  it('gets a crash as an isError result; a cancelled call gets no reply and ends at its server', async () => {
    const { client, status } = await startMcp(config([server('good', 'good.mjs')]));
    const mine = client();
    const crashed = await mine.ask(1, 'tools/call', call('good__kill'));
    expect(crashed.result).toMatchObject({ isError: true, resultType: 'complete' });
    expect(textOf(crashed)).toContain('ServerCrashedError');
    mine.say({ id: 2, method: 'tools/call', params: call('good__wait') });
    await until(async () => (await status('good')).in_flight === 1);
    mine.say({ method: 'notifications/cancelled', params: { requestId: 2 } });
    await until(async () => (await status('good')).in_flight === 0);
    await mine.settle();
    expect(mine.lines.filter(({ id }) => id === 2)).toEqual([]);
  });
});

describe('a question of a server to a client of 2026-07-28', () => {
  const CAN = { capabilities: { elicitation: {}, sampling: {} } };
  const ask = (message: string) => call('questions__ask', asks(message), CAN);
  const stateOf = (line: Line) => line.result?.requestState as string;
  const answers = (key: string, name: string) => ({
    [key]: { action: 'accept', content: { name } },
  });

  it('is the result of its call, which continues when the same request brings the answer', async () => {
    const { client, status } = await startMcp(config([server('questions', 'questions.mjs')]));
    const [mine, other] = [client(), client()];
    const asked = await mine.ask(1, 'tools/call', ask('Who?'));
    expect(asked.result).toEqual({
      resultType: 'input_required',
      inputRequests: { 'question-1': asks('Who?') },
      requestState: expect.stringMatching(/^[\w-]{32,}$/),
    });
    expect(await status('questions')).toMatchObject({ in_flight: 1, calls: 1 });
    const more = { requestState: stateOf(asked), inputResponses: answers('question-1', 'Ada') };

    // no other client has it, and another request does not get it
    expect((await other.ask(1, 'tools/call', { ...ask('Who?'), ...more })).error).toMatchObject({
      code: -32602,
    });
    const wrong = await mine.ask(2, 'tools/call', { ...ask('What?'), ...more });
    expect(wrong.error?.message).toContain('belongs to another request');
    const bad = await mine.ask(3, 'tools/call', {
      ...ask('Who?'),
      ...more,
      inputResponses: { 'question-1': 7 },
    });
    expect(bad.error?.code).toBe(-32602);

    // without an answer the question stays
    const again = await mine.ask(4, 'tools/call', { ...ask('Who?'), requestState: stateOf(asked) });
    expect(again.result).toMatchObject({
      resultType: 'input_required',
      inputRequests: asked.result?.inputRequests,
    });
    expect(stateOf(again)).not.toBe(stateOf(asked));
    const done = await mine.ask(5, 'tools/call', { ...ask('Who?'), ...more, requestState: stateOf(again) });
    expect(done.result?.resultType).toBe('complete');
    expect(JSON.parse(textOf(done))).toEqual({ result: { action: 'accept', content: { name: 'Ada' } } });

    // it was good once
    const twice = await mine.ask(6, 'tools/call', { ...ask('Who?'), ...more, requestState: stateOf(again) });
    expect(twice.error).toMatchObject({
      code: -32602,
      message: expect.stringContaining("'requestState' is unknown"),
    });
    expect(await status('questions')).toMatchObject({ in_flight: 0, calls: 1 });
    expect(mine.heard('elicitation/create')).toEqual([]);
  });

  it('belongs to a call with an open request: a suspended call blocks no other', async () => {
    const { client } = await startMcp(config([server('questions', 'questions.mjs')]));
    const mine = client();
    const first = await mine.ask(1, 'tools/call', ask('One?'));
    const second = await mine.ask(2, 'tools/call', ask('Two?'));
    const [key] = Object.keys(second.result?.inputRequests as object);
    expect(second.result?.inputRequests).toEqual({ [key!]: asks('Two?') });
    // nor is one asked that is waited for, where the question came with another
    mine.say({ id: 3, method: 'tools/call', params: call('questions__wait', {}, CAN) });
    const third = await mine.ask(6, 'tools/call', ask('Three?'));
    expect(Object.values(third.result?.inputRequests as object)).toEqual([asks('Three?')]);
    const answered = { requestState: stateOf(second), inputResponses: answers(key!, 'Ada') };
    const done = await mine.ask(4, 'tools/call', { ...ask('Two?'), ...answered });
    expect(JSON.parse(textOf(done))).toMatchObject({ result: { content: { name: 'Ada' } } });
    const late = { requestState: stateOf(first), inputResponses: answers('question-1', 'Bob') };
    const last = await mine.ask(5, 'tools/call', { ...ask('One?'), ...late });
    expect(JSON.parse(textOf(last))).toMatchObject({ result: { content: { name: 'Bob' } } });
  });

  it('is passed on for a server of 2026-07-28, round by round', async () => {
    const { client } = await startMcp(config([server('modern', 'modern.mjs', { roots: ['.'] })]));
    const mine = client();
    const confirm = call('modern__confirm', { rounds: 2 }, CAN);
    let reply = await mine.ask(1, 'tools/call', confirm);
    for (const id of [2, 3]) {
      const [key] = Object.keys(reply.result?.inputRequests as object);
      const inputResponses = { [key!]: { action: 'accept', content: { yes: true } } };
      reply = await mine.ask(id, 'tools/call', { ...confirm, inputResponses, requestState: stateOf(reply) });
    }
    expect(textOf(reply)).toBe('round 2: {"yes":true}');
    expect(reply.result?._meta).toMatchObject({ [wire.SERVER_INFO_KEY]: { name: 'modern' } });
  });

  it('is refused if the client does not declare the capability', async () => {
    const { client } = await startMcp(config([server('questions', 'questions.mjs')]));
    const mine = client();
    const ask = call('questions__ask', asks('Who?'));
    expect(textOf(await mine.ask(1, 'tools/call', ask))).toContain("use an agent that offers 'elicitation'");
    const other = { ...ask, ...call('questions__ask', asks('Who?'), { capabilities: { sampling: {} } }) };
    const reply = await mine.ask(2, 'tools/call', other);
    expect(reply.result?.resultType).toBe('complete');
    expect(textOf(reply)).toContain('does not offer elicitation/create');
  });

  it('is cancelled when its client leaves; if the server dies, the call fails', async () => {
    const { client, status, fleet } = await startMcp(config([server('questions', 'questions.mjs')]));
    const [gone, mine] = [client(), client()];
    await gone.ask(1, 'tools/call', ask('Who?'));
    gone.close();
    await until(async () => (await status('questions')).in_flight === 0);
    const asked = await mine.ask(1, 'tools/call', ask('Who?'));
    await fleet.restart({ all: true }, true);
    const more = { requestState: stateOf(asked), inputResponses: answers('question-1', 'Ada') };
    const reply = await mine.ask(2, 'tools/call', { ...ask('Who?'), ...more });
    expect(reply.result?.isError).toBe(true);
    expect(textOf(reply)).toContain('may have run');
  });
});

describe('over HTTP, with one connection per request,', () => {
  it.each(['shared', 'per-agent'])('a question is answered by the next request (%s)', async (sharing) => {
    const { home, status } = await startMcp(config([server('questions', 'questions.mjs', { sharing })]));
    const said = (more: object = {}) => ({
      ...call('questions__ask', asks('Who?'), { capabilities: { elicitation: {} } }),
      ...more,
    });
    const send = async (id: number, fields: object) => {
      const answer = await post({ socketPath: home.socket }, '/mcp', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': VERSION,
          'mcp-method': 'tools/call',
          'mcp-name': 'questions__ask',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: fields }),
      });
      const text =
        answer.text
          .split('\n')
          .find((line) => line.startsWith('data: '))
          ?.slice(6) ?? answer.text;
      return JSON.parse(text) as Line;
    };
    const asked = await send(1, said());
    expect(asked.result).toMatchObject({ resultType: 'input_required' });
    const more = {
      requestState: asked.result?.requestState,
      inputResponses: { 'question-1': { action: 'accept', content: { name: 'Ada' } } },
    };
    const done = await send(2, said(more));
    expect(JSON.parse(textOf(done))).toEqual({ result: more.inputResponses['question-1'] });
    expect((await send(3, said(more))).error?.code).toBe(-32602);
    await until(async () => (await status('questions')).in_flight === 0);
  });
});

describe('subscriptions/listen', () => {
  const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';
  const listen = (notifications: object) => params({ notifications });
  const LISTS = 'notifications/tools/list_changed';
  const UPDATED = 'notifications/resources/updated';
  const idOf = (line: Line | undefined) =>
    (line?.params?._meta as Record<string, unknown> | undefined)?.[wire.SUBSCRIPTION_ID_KEY];

  it('sends the requested notifications with its id, until it is cancelled', async () => {
    const { client, say } = await startMcp(
      config([server('offers', 'offers.mjs'), server('watched', 'watched.mjs')]),
    );
    const [mine, other] = [client(), client()];
    await mine.ask('warm', 'tools/list', params());
    const uris = ['note://one', 'absent://it'];
    mine.say({
      id: 'lists',
      method: 'subscriptions/listen',
      params: listen({ toolsListChanged: true, promptsListChanged: false }),
    });
    mine.say({ id: 7, method: 'subscriptions/listen', params: listen({ resourceSubscriptions: uris }) });
    await until(() => mine.heard(ACKNOWLEDGED).length === 2);
    const honoured = new Map(
      mine.heard(ACKNOWLEDGED).map((line) => [idOf(line), line.params?.notifications]),
    );
    expect(honoured.get('lists')).toEqual({ toolsListChanged: true });
    expect(honoured.get(7)).toEqual({ resourceSubscriptions: ['note://one'] });

    await say('offers', 'add', { name: 'new' });
    await until(() => mine.heard(LISTS).length > 0);
    expect(idOf(mine.heard(LISTS)[0])).toBe('lists');
    await say('watched', 'touch', { uri: 'note://one' });
    await until(() => mine.heard(UPDATED).length === 1);
    expect(mine.heard(UPDATED)[0]?.params).toEqual({
      uri: 'note://one',
      title: 'new',
      _meta: { [wire.SUBSCRIPTION_ID_KEY]: 7 },
    });

    mine.say({ method: 'notifications/cancelled', params: { requestId: 7 } });
    await until(async () => (await say('watched', 'touch', { uri: 'note://one' })) === 'not watched');
    await Promise.all([mine.settle(), other.settle()]);
    expect(mine.heard(UPDATED)).toHaveLength(1);
    expect(mine.lines.filter(({ id }) => id === 7)).toEqual([]);
    expect(other.lines.filter(({ method }) => method !== undefined)).toEqual([]);
  });

  it('sends the acknowledgement first, then changes that happened before it', async () => {
    const silent = server('silent', 'silent.mjs', { start_timeout: 3, max_restarts: 0 });
    const { client, say } = await startMcp(config([server('watched', 'watched.mjs'), silent]));
    const mine = client();
    await mine.ask('warm', 'fleet/resources', { server: 'watched' });
    // whether a server has the other one is not known before the silent one has had its time
    const uris = ['note://one', 'absent://it'];
    mine.say({ id: 1, method: 'subscriptions/listen', params: listen({ resourceSubscriptions: uris }) });
    await until(async () => (await say('watched', 'touch', { uri: 'note://one' })) === 'told');
    await until(() => mine.heard(UPDATED).length > 0);
    const told = mine.lines.filter(({ method }) => method !== undefined);
    expect(told.map(({ method }) => method)).toEqual([ACKNOWLEDGED, UPDATED]);
    expect(told[1]?.params).toMatchObject({ uri: 'note://one', title: 'new' });
  });

  it('ends at once when no server reports changes, and closes the connection', async () => {
    const { client, say } = await startMcp(config([server('watched', 'watched.mjs')]));
    const mine = client();
    const { result } = await mine.ask(
      1,
      'subscriptions/listen',
      listen({ resourceSubscriptions: ['other://refused'] }),
    );
    expect(result).toEqual({ resultType: 'complete', _meta: { ...STAMP, [wire.SUBSCRIPTION_ID_KEY]: 1 } });
    expect((await mine.ask(2, 'subscriptions/listen', params())).error?.code).toBe(-32602);
    mine.say({
      id: 3,
      method: 'subscriptions/listen',
      params: listen({ resourceSubscriptions: ['note://one'] }),
    });
    await until(() => mine.heard(ACKNOWLEDGED).length === 2);
    mine.end();
    await mine.closed;
    await until(async () => (await say('watched', 'touch', { uri: 'note://one' })) === 'not watched');
  });
});
