import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { config, server } from '../../../faults/config.js';
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

describe.each(CASES)('a call of a client of %s, %s, in search mode', (_era, _way, attach, call) => {
  const herd = share(async () => {
    const { home } = await startHerd(
      config([server('lawful', 'lawful.mjs'), server('modern', 'modern.mjs')]),
    );
    const agent = await attach(home, '--surface', 'search');
    await agent.tools();
    return { home, agent };
  });
  const ask = (tool: string, args = {}, options?: CallOptions) =>
    call(herd().agent, `lawful__${tool}`, args, options);

  it('has its arguments and no others', async () => {
    const { value } = JSON.parse(textOf(await ask('echo', { value: { deep: [1, 'ä', null] } })));
    expect(value).toEqual({ deep: [1, 'ä', null] });
  });

  it('gets every block as it came, and the structured content', async () => {
    const { content, structuredContent } = await ask('blocks');
    expect(content).toEqual([
      { type: 'text', text: 'first', annotations: { priority: 0.5 } },
      { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'file:///a.txt', mimeType: 'text/plain', text: 'inside' } },
    ]);
    expect(structuredContent).toEqual({ rows: [{ a: 1 }] });
  });

  it('gets the error that the tool reports', async () => {
    expect(await ask('fails')).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: 'no such row' }],
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

  it('gets progress', async () => {
    const steps: number[] = [];
    const done = await ask('progress', {}, { onprogress: ({ progress }) => steps.push(progress) });
    expect([textOf(done), steps]).toEqual(['done', [1, 2, 3]]);
  });

  it('answers the question of the server', async () => {
    const answer = JSON.parse(textOf(await ask('asks')));
    expect(answer).toEqual({ result: { action: 'accept', content: { yes: true } } });
  });

  it('answers the questions of a server of 2026-07-28, round by round', async () => {
    const confirmed = await call(herd().agent, 'modern__confirm', { rounds: 2 });
    expect(textOf(confirmed)).toBe('round 2: {"yes":true}');
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
