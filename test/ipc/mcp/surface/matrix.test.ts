import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { command, config, server } from '../../../faults/config.js';
import { startHerd, until } from '../../../support/herd.js';
import { share } from '../../../support/share.js';
import { AGENTS, type Agent, type CallOptions, textOf } from './clients.js';

const WAYS = {
  directly: (agent: Agent, tool: string, args = {}, options?: CallOptions) => agent.call(tool, args, options),
  'through call_tool': (agent: Agent, tool: string, args = {}, options?: CallOptions) =>
    agent.call('call_tool', { name: tool, arguments: args }, options),
};

const CASES = AGENTS.flatMap(([era, attach]) =>
  Object.entries(WAYS).map(([way, call]) => [era, way, attach, call] as const),
);

const MODULES = join(import.meta.dirname, '..', '..', '..', '..', 'node_modules');
const EVERYTHING = join(MODULES, '@modelcontextprotocol', 'server-everything', 'dist', 'index.js');
/** Of surface.result_limit. */
const LIMIT = 100_000;

const SERVERS = [
  server('lawful', 'lawful.mjs'),
  server('modern', 'modern.mjs'),
  // only a server of one agent may ask for its roots
  server('own', 'lawful.mjs', { sharing: 'per-agent' }),
  server('mine', 'modern.mjs', { args: ['only'], sharing: 'per-agent' }),
  server('hasty', 'lawful.mjs', { request_timeout: 1 }),
  server('brief', 'lawful.mjs', { request_timeout: 1, max_timeout: 2 }),
  server('mortal', 'lawful.mjs', { restart: 'never' }),
  command('everything', process.execPath, [EVERYTHING]),
];

describe.each(CASES)('a call of a client of %s, %s, in search mode', (_era, _way, attach, call) => {
  const herd = share(async () => {
    const { home } = await startHerd(config(SERVERS));
    const agent = await attach(home, '--surface', 'search');
    await agent.tools();
    return { home, agent };
  });
  const ask = (tool: string, args = {}, options?: CallOptions) =>
    call(herd().agent, tool.includes('__') ? tool : `lawful__${tool}`, args, options);

  it('has its arguments and no others', async () => {
    const { value } = JSON.parse(textOf(await ask('echo', { value: { deep: [1, 'ä', null] } })));
    expect(value).toEqual({ deep: [1, 'ä', null] });
  });

  it('brings its _meta to the server, and gets that of the result', async () => {
    const trace = { id: 'a', deep: [1, null] };
    const { meta } = JSON.parse(textOf(await ask('echo', {}, { meta: { 'example.com/trace': trace } })));
    expect(meta['example.com/trace']).toEqual(trace);
    expect((await ask('blocks'))._meta).toMatchObject({ 'example.com/cost': 3 });
  });

  it('gets every block as it came, and the structured content', async () => {
    const { content, structuredContent } = await ask('blocks');
    expect(content).toEqual([
      { type: 'text', text: 'first', annotations: { priority: 0.5 } },
      { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' },
      { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' },
      { type: 'resource', resource: { uri: 'file:///a.txt', mimeType: 'text/plain', text: 'inside' } },
      { type: 'resource_link', uri: 'file:///b.csv', name: 'b', mimeType: 'text/csv', size: 3 },
    ]);
    expect(structuredContent).toEqual({ rows: [{ a: 1 }] });
    expect((await ask('empty')).content).toEqual([]);
  });

  it('gets the error that the tool reports', async () => {
    expect(await ask('fails')).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: 'no such row' }],
    });
    expect(await ask('modern__fail')).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: 'no' }],
    });
  });

  it('gets the JSON-RPC error of the server unchanged', async () => {
    await expect(ask('refuses')).rejects.toMatchObject({
      code: -32077,
      message: expect.stringContaining('not today'),
      data: { field: 'x' },
    });
  });

  it('gets the error for an unknown tool, with the nearest name', async () => {
    await expect(ask('ecko')).rejects.toMatchObject({ message: expect.stringContaining('lawful__echo') });
  });

  it('gets a result that says what happened where the server dies', async () => {
    const { isError, content } = await ask('mortal__dies');
    expect([isError, content[0]?.text]).toEqual([true, expect.stringContaining('mortal')]);
  });

  it.each(['lawful', 'modern'])('gets progress of %s', async (name) => {
    const steps: number[] = [];
    const onprogress = ({ progress }: { progress: number }) => {
      steps.push(progress);
      if (progress === 3) void ask(`${name}__release`);
    };
    const done = await ask(`${name}__progress`, { times: 3, held: true }, { onprogress });
    expect([textOf(done), steps]).toEqual(['done', [1, 2, 3]]);
  });

  it('gets progress of a published server', async () => {
    const steps: number[] = [];
    const onprogress = ({ progress }: { progress: number }) => steps.push(progress);
    const args = { duration: 1, steps: 4 };
    const { isError } = await ask('everything__trigger-long-running-operation', args, { onprogress });
    // a client may drop the last one, which arrives together with the result
    expect([isError, steps.slice(0, 2)]).toEqual([undefined, [1, 2]]);
  });

  it('answers the questions of a server: elicitation, sampling, roots', async () => {
    const answerOf = async (tool: string) => JSON.parse(textOf(await ask(tool))).result;
    expect(await answerOf('asks')).toEqual({ action: 'accept', content: { yes: true } });
    expect(await answerOf('ponders')).toMatchObject({ model: 'stub', content: { text: 'I think so' } });
    expect(await answerOf('own__looks')).toEqual({ roots: [{ uri: 'file:///project', name: 'project' }] });
  });

  it('answers the questions of a server of 2026-07-28, round by round', async () => {
    expect(textOf(await ask('modern__confirm', { rounds: 2 }))).toBe('round 2: {"yes":true}');
  });

  it('answers two questions at once of a server of 2026-07-28: sampling and roots', async () => {
    const { thought, roots } = JSON.parse(textOf(await ask('mine__ponder')));
    expect(thought).toMatchObject({ model: 'stub', content: { text: 'I think so' } });
    expect(roots).toMatchObject({ roots: [{ uri: 'file:///project', name: 'project' }] });
  });

  it('gets what a published server sends: text, image, links, structured content, an answered question', async () => {
    const everything = (tool: string, args = {}) => ask(`everything__${tool}`, args);
    expect(textOf(await everything('echo', { message: 'naïve ☃' }))).toBe('Echo: naïve ☃');
    const types = async (tool: string, args = {}) =>
      (await everything(tool, args)).content.map(({ type }) => type);
    expect(await types('get-tiny-image')).toEqual(['text', 'image', 'text']);
    expect(await types('get-resource-links', { count: 2 })).toEqual([
      'text',
      'resource_link',
      'resource_link',
    ]);
    const { structuredContent } = await everything('get-structured-content', { location: 'Chicago' });
    expect(structuredContent).toMatchObject({ temperature: expect.any(Number) });
    expect(JSON.stringify(await everything('trigger-sampling-request', { prompt: 'x' }))).toContain(
      'I think so',
    );
  });

  it('is cancelled at the server', async () => {
    const before = Number(textOf(await ask('cancelled')));
    const cancel = new AbortController();
    const hanging = ask('hangs', {}, { signal: cancel.signal });
    const over = expect(hanging).rejects.toThrow();
    await until(async () => (await ask('echo', { value: 1 })).content.length > 0);
    cancel.abort('enough');
    await over;
    await until(async () => Number(textOf(await ask('cancelled'))) > before);
  });

  it('ends at request_timeout, at max_timeout in spite of progress; progress renews the former', async () => {
    const late = await ask('hasty__hangs');
    expect([late.isError, textOf(late)]).toEqual([true, expect.stringMatching(/hasty.*1 s/s)]);
    const working = (name: string, steps: number) =>
      ask(`${name}__works`, { steps, ms: 400 }, { onprogress: () => undefined });
    expect(textOf(await working('hasty', 4))).toBe('worked');
    const long = await working('brief', 20);
    expect([long.isError, textOf(long)]).toEqual([true, expect.stringMatching(/brief.*2 s/s)]);
  });

  it('gets a large picture whole, and a text cut at the limit of search mode', async () => {
    const { content } = await ask('picture', { bytes: 3_000_000 });
    expect([content.length, String(content[0]?.data).length]).toEqual([1, 3_000_000]);
    expect(textOf(await ask('long', { lines: 5000 })).endsWith('line 5000 of many')).toBe(true);
    const cut = textOf(await ask('long', { lines: 20_000 }));
    const [, id] = /read_result \{"id":"([0-9a-f]+)","offset":100000\}/.exec(cut) ?? [];
    const rest = textOf(await herd().agent.call('read_result', { id, offset: LIMIT, limit: 20 }));
    expect(rest.slice(0, 20)).toBe(linesOf(20_000).slice(LIMIT, LIMIT + 20));
  });

  it('is recorded under the name of the tool', async () => {
    await ask('echo', { value: 'for the record' });
    const file = join(herd().home.folder, 'state', 'logs', 'audit.log');
    const records = await until(() => {
      const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
      return lines.some((line) => line.includes('"echo"')) ? lines : undefined;
    });
    expect(records.every((line) => !line.includes('call_tool'))).toBe(true);
  });
});

const linesOf = (count: number) =>
  Array.from({ length: count }, (_, at) => `line ${at + 1} of many`).join('\n');
