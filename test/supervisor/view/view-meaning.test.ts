import { describe, expect, test } from 'vitest';
import type { ToolVectors } from '../../../src/search/meaning.js';
import type { JsonObject } from '../../../src/shared/json.js';
import type { HerdOptions } from '../../../src/supervisor/herd/herd.js';
import { meaningOf } from '../../support/embedding-server.js';
import { settled, spec, World } from '../world.js';

const tool = (name: string, description = ''): JsonObject => ({
  name,
  description,
  inputSchema: { type: 'object' },
});
const named = (name: string, deny: string[] = []) =>
  spec({ name, start: 'eager', tools: { allow: ['*'], deny } });

const TOOLS: Record<string, JsonObject[]> = {
  page: [tool('screenshot', 'Of the page.'), tool('scroll', 'Down.'), tool('erase_photograph', 'For good.')],
  post: [tool('send_mail', 'To a person.'), tool('read_mail', 'Of today.')],
};

const vectorOf = (text: string) => {
  const numbers = meaningOf(text);
  const length = Math.hypot(...numbers);
  return Float32Array.from(numbers, (number) => number / length);
};

/** A service that is always in time. `asked`: the texts of tools. */
function stubVectors(ofQuery: ToolVectors['ofQuery'] = async (query) => vectorOf(query)) {
  const asked = new Set<string>();
  const vectors: ToolVectors = {
    of: (text) => {
      asked.add(text);
      return vectorOf(text);
    },
    ofQuery,
  };
  return { asked, vectors };
}

async function herdOf(vectors: ToolVectors | undefined, options: Partial<HerdOptions> = {}) {
  const world = new World();
  world.behaviour = ({ name }) => ({
    opens: true,
    answers: true,
    lists: { 'tools/list': structuredClone(TOOLS[name] ?? []) },
  });
  const herd = world.herd({ vectors: () => vectors, ...options });
  herd.apply([named('page', ['scroll']), named('post')]);
  for (let turn = 0; turn < 5; turn += 1) await settled();
  return async (query: string, server?: string) =>
    (await herd.view.search.search({ query, server })).tools.map(({ name }) => name);
}

describe('a search with vectors', () => {
  test('finds tools that share no word with the query', async () => {
    const plain = await herdOf(undefined);
    expect(await plain('correspondence')).toEqual([]);
    const find = await herdOf(stubVectors().vectors);
    expect((await find('correspondence')).sort()).toEqual(['read_mail', 'send_mail']);
  });

  test('keeps a tool whose name is the query first', async () => {
    const find = await herdOf(stubVectors().vectors);
    expect((await find('photograph'))[0]).toBe('erase_photograph');
    expect(await find('photograph')).toContain('screenshot');
  });

  test('finds only tools of the server that is named', async () => {
    const find = await herdOf(stubVectors().vectors);
    expect(await find('correspondence', 'page')).not.toContain('send_mail');
  });

  test('neither finds nor sends a tool that the config hides', async () => {
    const { asked, vectors } = stubVectors();
    const find = await herdOf(vectors);
    expect(await find('scroll')).not.toContain('scroll');
    expect([...asked].sort()).toEqual([
      'page erase_photograph\nFor good.',
      'page screenshot\nOf the page.',
      'post read_mail\nOf today.',
      'post send_mail\nTo a person.',
    ]);
  });

  test('ranks by words alone where the query has no vector', async () => {
    const find = await herdOf(stubVectors(async () => undefined).vectors);
    const plain = await herdOf(undefined);
    for (const query of ['mail', 'page', 'correspondence', 'read mail of today'])
      expect([query, await find(query)]).toEqual([query, await plain(query)]);
  });

  test('ranks by words alone while many tools have no vector: the others would seem near', async () => {
    const { vectors } = stubVectors();
    const find = await herdOf({
      ...vectors,
      of: (text) => (text.startsWith('post') ? vectorOf(text) : undefined),
    });
    expect(await find('photograph')).toEqual(['erase_photograph']);
  });

  test('sends no secret of the herd', async () => {
    const sent: string[] = [];
    const { asked, vectors } = stubVectors(async (query) => void sent.push(query));
    const hide = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll('person', '[redacted]'));
    const find = await herdOf(vectors, { redact: hide, redactFor: (_, value) => hide(value) });
    await find('mail to a person');
    expect([sent, [...asked].filter((text) => text.includes('person'))]).toEqual([
      ['mail to a [redacted]'],
      [],
    ]);
  });
});
