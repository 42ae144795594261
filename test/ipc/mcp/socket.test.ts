import { describe, expect, it } from 'vitest';
import { config, server } from '../../faults/config.js';
import { share } from '../../support/share.js';
import { until } from '../../support/until.js';
import { type LineClient, namesOf, startMcp, textOf } from './support.js';

const call = (name: string, args: Record<string, unknown> = {}, progressToken?: unknown) => ({
  name,
  arguments: args,
  ...(progressToken === undefined ? {} : { _meta: { progressToken } }),
});

describe('MCP on the socket', () => {
  /** For those that leave everything as it was. */
  const herd = share(() =>
    startMcp(
      config([server('good', 'good.mjs'), server('questions', 'questions.mjs'), server('logs', 'logs.mjs')]),
    ),
  );

  it.each([
    ['2024-11-05', '2024-11-05'],
    ['2025-03-26', '2025-03-26'],
    ['2025-06-18', '2025-06-18'],
    ['2025-11-25', '2025-11-25'],
    ['1999-01-01', '2025-11-25'],
  ])('a client of %s is answered in %s', async (wanted, given) => {
    const { client } = herd();
    const { result } = await client().hello({}, wanted);
    expect(result).toMatchObject({
      protocolVersion: given,
      serverInfo: { name: 'toolherd' },
      capabilities: { tools: { listChanged: true }, logging: {}, completions: {} },
    });
  });

  it('tools are listed as server__tool in pages, each tool once and none missing', async () => {
    const { client } = await startMcp(
      config([server('many', 'offers.mjs', { args: ['1200'] }), server('a', 'good.mjs')]),
    );
    const mine = client();
    await mine.hello();
    const names: string[] = [];
    let cursor: unknown;
    let pages = 0;
    do {
      const params = cursor === undefined ? {} : { cursor };
      const { result } = await mine.ask(`page-${pages}`, 'tools/list', params);
      names.push(...namesOf(result?.tools));
      cursor = result?.nextCursor;
      pages += 1;
    } while (cursor !== undefined);
    expect(pages).toBe(3);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toEqual(
      expect.arrayContaining(['many__echo', 'many__tool-1199', 'a__echo', 'many__say-it']),
    );
    expect((await mine.ask('bad', 'tools/list', { cursor: 'nonsense' })).error?.code).toBe(-32602);
  });

  it('a result passes unchanged, also with unknown fields, as does the _meta of a request', async () => {
    const { client } = herd();
    const { result } = await client().ask(1, 'tools/call', {
      name: 'logs__odd',
      arguments: { a: 1 },
      _meta: { 'my/key': 7 },
    });
    expect(result).toEqual({
      content: [{ type: 'hologram', beam: 1, _meta: { a: 1 } }],
      structuredContent: { given: { a: 1 }, meta: { 'my/key': 7 } },
      _meta: { 'x/y': [1] },
      unheardOf: true,
    });
  });

  it("a server's own error passes unchanged: code, message and data", async () => {
    const { client } = herd();
    const { error } = await client().ask(1, 'tools/call', call('good__refuse'));
    expect(error).toEqual({ code: -32602, message: 'no', data: { field: 'x' } });
  });

  it('a tool that the config hides is neither listed nor called, and an error suggests a similar name', async () => {
    const { client } = await startMcp(config([server('good', 'good.mjs', { tools: { deny: ['pid'] } })]));
    const mine = client();
    const { result } = await mine.ask(1, 'tools/list');
    expect(namesOf(result?.tools)).toContain('good__echo');
    expect(JSON.stringify(result)).not.toContain('good__pid');
    expect((await mine.ask(2, 'tools/call', call('good__pid'))).error?.code).toBe(-32602);
    expect((await mine.ask(3, 'tools/call', call('good__ech'))).error?.message).toContain(
      "did you mean 'good__echo'",
    );
    expect((await mine.ask(4, 'tools/call', call('absent__tool'))).error?.code).toBe(-32602);
    expect((await mine.ask(5, 'tools/call', {})).error?.code).toBe(-32602);
  });

  it('a crash during a call is a result that says whether the tool may have run, and the next call succeeds', async () => {
    const { client } = await startMcp(config([server('good', 'good.mjs')]));
    const mine = client();
    const crashed = await mine.ask(1, 'tools/call', call('good__kill'));
    expect(crashed.result?.isError).toBe(true);
    expect(textOf(crashed)).toMatch(/ServerCrashedError.*SIGKILL[\s\S]*may have run[\s\S]*A new call waits/);
    expect(textOf(await mine.ask(2, 'tools/call', call('good__echo', { value: 'hi' })))).toBe('hi');
  });

  it('a stopped server and a timeout are isError results with an explanation for a model', async () => {
    const { client, fleet } = await startMcp(config([server('good', 'good.mjs', { request_timeout: 1 })]));
    const mine = client();
    const late = await mine.ask(1, 'tools/call', call('good__wait'));
    expect(late.result?.isError).toBe(true);
    expect(textOf(late)).toMatch(/MCPTimeoutError[\s\S]*may have run/);
    await fleet.stop({ all: true }, true);
    const stopped = await mine.ask(2, 'tools/call', call('good__echo'));
    expect(stopped.result?.isError).toBe(true);
    expect(textOf(stopped)).toMatch(/was stopped[\s\S]*nothing has run[\s\S]*toolherd start good/);
  });

  it("two connections with the same ids and tokens never get each other's messages", async () => {
    const { client } = herd();
    const clients = [client(), client()];
    await Promise.all(clients.map((one) => one.hello()));
    await Promise.all(
      clients.flatMap((one, who) =>
        Array.from({ length: 50 }, async (_, id) => {
          const value = `${who}-${id}`;
          expect(textOf(await one.ask(id, 'tools/call', call('good__echo', { value })))).toBe(value);
        }),
      ),
    );
    await Promise.all(
      clients.map((one, who) =>
        one.ask('p', 'tools/call', call('good__progress', { times: who + 2 }, 'token')),
      ),
    );
    const told = clients.map((one) => one.heard('notifications/progress').map(({ params }) => params));
    expect(told).toEqual([
      [1, 2].map((progress) => ({ progress, total: 2, progressToken: 'token' })),
      [1, 2, 3].map((progress) => ({ progress, total: 3, progressToken: 'token' })),
    ]);
  });

  it('an elicitation reaches only the client that called, and its answer or error returns to the server', async () => {
    const { client } = herd();
    const [mine, other] = [client(), client()];
    await Promise.all([mine.hello({ elicitation: {} }), other.hello({ elicitation: {}, sampling: {} })]);
    const asked = {
      name: 'questions__ask',
      arguments: { method: 'elicitation/create', params: { message: 'Who?' } },
    };
    const answer = mine.ask(1, 'tools/call', asked);
    const question = await until(() => mine.heard('elicitation/create')[0]);
    expect(question.params).toEqual({ message: 'Who?' });
    mine.say({ id: question.id, result: { action: 'accept', content: { name: 'Ada' } } });
    expect(JSON.parse(textOf(await answer))).toEqual({
      result: { action: 'accept', content: { name: 'Ada' } },
    });

    // it is not asked without the capability
    const sampling = { name: 'questions__ask', arguments: { method: 'sampling/createMessage', params: {} } };
    expect(textOf(await mine.ask(2, 'tools/call', sampling))).toContain(
      'does not offer sampling/createMessage',
    );
    expect(mine.heard('sampling/createMessage')).toEqual([]);

    // its error reaches the server too
    const failing = mine.ask(3, 'tools/call', asked);
    const second = await until(() => mine.heard('elicitation/create')[1]);
    mine.say({ id: second.id, error: { code: -5, message: 'no person here', data: { a: 1 } } });
    expect(JSON.parse(textOf(await failing))).toEqual({
      error: { code: -5, message: 'no person here', data: { a: 1 } },
    });
    await other.settle();
    expect(
      other.lines.filter(({ method }) => method !== undefined && !method.endsWith('list_changed')),
    ).toEqual([]);
  });

  it('a client that cancels gets no reply, its call ends at the server, and an open question is cancelled', async () => {
    const { client, status } = herd();
    const mine = client();
    await mine.hello({ elicitation: {} });
    mine.say({
      id: 7,
      method: 'tools/call',
      params: call('questions__ask', { method: 'elicitation/create' }),
    });
    const question = await until(() => mine.heard('elicitation/create')[0]);
    mine.say({ method: 'notifications/cancelled', params: { requestId: 7 } });
    const taken = await until(() => mine.heard('notifications/cancelled')[0]);
    expect(taken.params?.requestId).toBe(question.id);
    await until(async () => (await status('questions')).in_flight === 0);
    await mine.settle();
    expect(mine.lines.filter(({ id, method }) => id === 7 && method === undefined)).toEqual([]);
  });

  it('the calls of a client that leaves are cancelled', async () => {
    const { client, status } = herd();
    const mine = client();
    mine.say({ id: 1, method: 'tools/call', params: call('good__wait') });
    await until(async () => (await status('good')).in_flight === 1);
    mine.close();
    await until(async () => (await status('good')).in_flight === 0);
  });

  it('a question to a client that leaves ends at its server', async () => {
    const { client, status } = herd();
    const [mine, other] = [client(), client()];
    await mine.hello({ elicitation: {} });
    await other.hello({ elicitation: {} });
    const asks = call('questions__ask', { method: 'elicitation/create' });
    mine.say({ id: 1, method: 'tools/call', params: asks });
    await until(() => mine.heard('elicitation/create')[0]);
    mine.close();
    await until(async () => (await status('questions')).in_flight === 0);
    // a question is refused until the server has answered the call that ended; it takes its messages in their order
    await other.ask('hello again', 'tools/call', call('questions__hello'));
    other.say({ id: 1, method: 'tools/call', params: asks });
    const question = await until(() => other.heard('elicitation/create')[0]);
    other.say({ id: question.id, result: { action: 'decline' } });
    await until(() => other.lines.find(({ id, result }) => id === 1 && result !== undefined));
    expect(other.heard('elicitation/create')).toHaveLength(1);
  });

  it('a changed list is sent once, to initialized connections only', async () => {
    const { client } = await startMcp(config([server('offers', 'offers.mjs')]));
    const [mine, bare] = [client(), client()];
    await mine.hello();
    await mine.ask(1, 'tools/list');
    await bare.settle();
    await until(() => mine.heard('notifications/tools/list_changed').length === 1);
    await mine.ask(3, 'tools/call', call('offers__add', { name: 'new' }));
    await until(() => mine.heard('notifications/tools/list_changed').length === 2);
    const { result } = await mine.ask(4, 'tools/list');
    expect(JSON.stringify(result)).toContain('offers__new');
    await bare.settle();
    expect(bare.lines.filter(({ method }) => method !== undefined)).toEqual([]);
  });

  it('each connection gets log messages from its own level', async () => {
    const { client } = herd();
    const [loud, quiet, silent] = [client(), client(), client()];
    await loud.ask(1, 'logging/setLevel', { level: 'info' });
    await quiet.ask(1, 'logging/setLevel', { level: 'error' });
    expect((await silent.ask(1, 'logging/setLevel', { level: 'loud' })).error?.code).toBe(-32602);
    for (const level of ['notice', 'error']) {
      await loud.ask(level, 'tools/call', call('logs__log', { level, data: `it is ${level}`, logger: 'db' }));
    }
    await until(() => quiet.heard('notifications/message').length === 1);
    const told = (one: LineClient) => one.heard('notifications/message').map(({ params }) => params);
    expect(told(loud)).toEqual([
      { level: 'notice', logger: 'logs/db', data: 'it is notice' },
      { level: 'error', logger: 'logs/db', data: 'it is error' },
    ]);
    expect(told(quiet)).toEqual([{ level: 'error', logger: 'logs/db', data: 'it is error' }]);
    await silent.settle();
    expect(told(silent)).toEqual([]);
  });

  it('prompts, resources, templates and completions come from the server that has them', async () => {
    const { client } = await startMcp(config([server('offers', 'offers.mjs'), server('logs', 'logs.mjs')]));
    const mine = client();
    const { result: prompts } = await mine.ask(1, 'prompts/list');
    expect(namesOf(prompts?.prompts)).toEqual(['offers__greet', 'offers__wait', 'logs__p']);
    const got = await mine.ask(2, 'prompts/get', { name: 'offers__greet', arguments: { who: 'Ada' } });
    expect(got.result).toMatchObject({
      messages: [{ content: { text: 'Hello Ada!' } }],
      _meta: { kept: true },
    });
    expect((await mine.ask(3, 'resources/list')).result).toEqual({
      resources: [
        { uri: 'note://hello', name: 'hello', mimeType: 'text/plain' },
        { uri: 'image://dot', name: 'dot', mimeType: 'image/png', description: 'A dot' },
      ],
    });
    expect((await mine.ask(4, 'resources/templates/list')).result).toEqual({
      resourceTemplates: [{ uriTemplate: 'note://{name}', name: 'notes' }],
    });
    for (const uri of ['image://dot', 'note://by-template']) {
      expect((await mine.ask(uri, 'resources/read', { uri })).result?.contents).toMatchObject([{ uri }]);
    }
    expect((await mine.ask(5, 'resources/read', { uri: 'gone://x' })).error).toEqual({
      code: -32002,
      message: 'Resource not found',
    });
    const ref = (name: string) => ({
      ref: { type: 'ref/prompt', name },
      argument: { name: 'a', value: 'v' },
    });
    const completed = await mine.ask(6, 'completion/complete', ref('logs__p'));
    expect(completed.result).toEqual({ completion: { values: ['p', 'v'] } });
    const none = await mine.ask(7, 'completion/complete', ref('offers__greet'));
    expect(none.result).toMatchObject({ completion: { values: [] } });
  });

  it('fleet/hello with a server shows only that server, under its own names', async () => {
    const { client } = await startMcp(config([server('good', 'good.mjs'), server('offers', 'offers.mjs')]));
    const [mine, general] = [client(), client()];
    // what is hidden below is there, and known
    const whole = namesOf((await general.ask(1, 'tools/list')).result?.tools);
    expect(whole).toEqual(expect.arrayContaining(['good__echo', 'offers__add']));
    expect((await general.ask(2, 'resources/list')).result?.resources).toHaveLength(2);
    expect((await mine.ask(1, 'fleet/hello', { server: 'god' })).error?.message).toContain("'god'");
    await mine.ask(2, 'fleet/hello', { server: 'good' });
    const { result } = await mine.ask(3, 'tools/list');
    const names = namesOf(result?.tools);
    expect(names).toEqual(expect.arrayContaining(['echo', 'pid']));
    expect(names).not.toContain('add');
    expect(textOf(await mine.ask(4, 'tools/call', call('echo', { value: 'own' })))).toBe('own');
    expect((await mine.ask(5, 'tools/call', call('add'))).error?.code).toBe(-32602);
    expect((await mine.ask(6, 'resources/list')).result).toEqual({ resources: [] });
  });
});
