import { describe, expect, it } from 'vitest';
import { config, server } from '../../../faults/config.js';
import { startHerd } from '../../../support/herd.js';
import { share } from '../../../support/share.js';
import { AGENTS, type Agent, agent2025, type CallResult, textOf } from './clients.js';

const LAWFUL = server('lawful', 'lawful.mjs');
const ID = /read_result \{"id":"([0-9a-f]+)","offset":(\d+)\}/;

const long = (agent: Agent, lines: number) =>
  agent.call('call_tool', { name: 'lawful__long', arguments: { lines } });
const linesOf = (count: number) =>
  Array.from({ length: count }, (_, at) => `line ${at + 1} of many`).join('\n');

function cutOf(result: CallResult): { id: string; offset: number } {
  const [, id = '', offset] = ID.exec(textOf(result)) ?? [];
  return { id, offset: Number(offset) };
}

describe('a result over surface.result_limit', () => {
  const herd = share(() => startHerd(config([LAWFUL], { surface: { mode: 'search', result_limit: 1000 } })));

  it.each(AGENTS)('is cut for a client of %s, which pages the rest by characters', async (_, attach) => {
    const agent = await attach(herd().home);
    const whole = linesOf(500);
    const cut = await long(agent, 500);
    expect(textOf(cut)).toContain(`${whole.length - 1000} of ${whole.length} characters cut`);
    expect(cut.content.at(-1)).toMatchObject({ type: 'resource_link', mimeType: 'text/plain' });
    const { id, offset } = cutOf(cut);
    expect(offset).toBe(1000);
    let read = textOf(cut).slice(0, 1000);
    for (let next: number | undefined = offset; next !== undefined; ) {
      const page = textOf(await agent.call('read_result', { id, offset: next, limit: 3000 }));
      const [note = '', to] = /\n\[characters \d+ to (\d+) of \d+; [^\]]*\]$/.exec(page) ?? [];
      read += page.slice(0, -note.length);
      next = Number(to) < whole.length ? Number(to) : undefined;
    }
    expect(read).toBe(whole);
  });

  it('is searched for lines with a text', async () => {
    const agent = await agent2025(herd().home);
    const { id } = cutOf(await long(agent, 500));
    const found = textOf(await agent.call('read_result', { id, match: 'LINE 49' }));
    expect(found.split('\n').slice(0, 2)).toEqual(['49: line 49 of many', '490: line 490 of many']);
    expect(textOf(await agent.call('read_result', { id, match: 'nowhere' }))).toContain('no line has');
  });

  it('is read by a JSON pointer, and its structured content is not sent beside it', async () => {
    const agent = await agent2025(herd().home);
    const result = await agent.call('call_tool', { name: 'lawful__json', arguments: { rows: 200 } });
    expect(result.structuredContent).toBeUndefined();
    const { id } = cutOf(result);
    expect(textOf(await agent.call('read_result', { id, pointer: '/rows/150/name' }))).toMatch(/^row 150\n/);
    const wrong = await agent.call('read_result', { id, pointer: '/rows/900' });
    expect([wrong.isError, textOf(wrong)]).toEqual([true, expect.stringContaining('/rows is a list of 200')]);
  });

  it('is also cut where the tool is called by its own name', async () => {
    const agent = await agent2025(herd().home);
    await agent.tools();
    expect(cutOf(await agent.call('lawful__long', { lines: 500 })).offset).toBe(1000);
  });

  it('cannot be read by another agent: its id is unknown there', async () => {
    const [one, other] = [await agent2025(herd().home), await agent2025(herd().home)];
    const { id } = cutOf(await long(one, 500));
    const stolen = await other.call('read_result', { id });
    const never = await other.call('read_result', { id: '000000000000000000000000' });
    expect(stolen).toEqual(never);
    expect(stolen.isError).toBe(true);
    expect((await one.call('read_result', { id })).isError).not.toBe(true);
  });

  it('is not cut for an agent that lists all tools', async () => {
    const agent = await agent2025(herd().home, '--surface', 'all');
    expect(textOf(await agent.call('lawful__long', { lines: 500 }))).toBe(linesOf(500));
  });
});

it("the limit of a server's entry comes before that of the surface", async () => {
  const entry = { ...LAWFUL, result_limit: 50 };
  const { home } = await startHerd(config([entry], { surface: { mode: 'search', result_limit: 1000 } }));
  const agent = await agent2025(home);
  expect(cutOf(await long(agent, 500)).offset).toBe(50);
});

it.each(AGENTS)(
  'a tool that is always listed may have an output schema, and its result is cut: %s',
  async (_, attach) => {
    const surface = { mode: 'search', result_limit: 1000, always: ['structured.rows'] };
    const { home, fleet } = await startHerd(config([server('structured', 'structured.mjs')], { surface }));
    await fleet.tools(undefined, true);
    const agent = await attach(home);
    expect((await agent.tools()).map(({ name }) => name)).toContain('structured__rows');
    // a client refuses a result without structured content where it listed an output schema
    expect(cutOf(await agent.call('structured__rows', { count: 500 })).offset).toBe(1000);
    expect((await agent.call('structured__rows', { count: 1 })).structuredContent).toEqual({
      rows: ['row 0'],
    });
  },
);
