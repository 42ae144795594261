import { describe, expect, test } from 'vitest';
import { validateEntries } from '../../../src/supervisor/catalog/validate-entries.js';

function sifted(list: Parameters<typeof validateEntries>[0], found: Record<string, unknown>[]) {
  const logs: string[] = [];
  const { items, problems } = validateEntries(list, found, (text) => logs.push(text));
  return { items, problems: Object.fromEntries(problems), logs };
}

const good = { type: 'object' };

describe('U7: a bad definition', () => {
  test('is kept and marked with its problem; the other definitions stay unchanged', () => {
    const tools = [
      { name: 'a', inputSchema: good, extra: 1 },
      { name: 'b', inputSchema: 'not a schema' },
      { name: 'c', inputSchema: good, outputSchema: { type: 'nonsense' } },
      { name: 'd' },
    ];
    expect(sifted('tools', tools)).toEqual({
      items: tools,
      problems: {
        b: 'its inputSchema cannot be compiled: it is no object',
        c: 'its outputSchema cannot be compiled: type is "nonsense", which is no type',
        d: 'its inputSchema cannot be compiled: it is missing',
      },
      logs: [],
    });
  });

  test('a definition without a usable name is left out; the first of two with one name counts; both are logged', () => {
    const found = [{ name: 'a', n: 1 }, { name: 7 }, {}, { name: '' }, { name: 'a', n: 2 }];
    const { items, logs } = sifted('prompts', found);
    expect(items).toEqual([{ name: 'a', n: 1 }]);
    expect(logs).toEqual([
      '3 of its prompts have no usable name and were left out',
      'of its prompts these came more than once, and the first counts: a',
    ]);
  });

  test('makes one log line together with a thousand others', () => {
    const found = Array.from({ length: 2000 }, (_, index) => ({ uri: `x:${index % 1000}`, name: 'x' }));
    const { items, logs } = sifted('resources', found);
    expect(items).toHaveLength(1000);
    expect(logs).toEqual([
      'of its resources these came more than once, and the first counts: x:0, x:1, x:2, x:3, x:4 and 995 more',
    ]);
  });

  test('that is nested too deep to be written as JSON is reduced to its name', () => {
    let deep: object = {};
    for (let level = 0; level < 6000; level += 1) deep = { not: deep };
    const { items, problems } = sifted('tools', [{ name: 'deep', inputSchema: deep }]);
    expect([items, problems]).toEqual([[{ name: 'deep' }], { deep: 'is nested more than 200 deep' }]);
  });

  test('a prompt (arguments that are no list or have no name) or a template (no name) gets a problem', () => {
    expect(
      sifted('prompts', [
        { name: 'a', arguments: {} },
        { name: 'b', arguments: [{}] },
        { name: 'c', arguments: [{ name: 'x' }] },
      ]).problems,
    ).toEqual({ a: 'its arguments are no list', b: 'one of its arguments has no name' });
    expect(sifted('templates', [{ uriTemplate: 'x:{y}' }]).problems).toEqual({ 'x:{y}': 'has no name' });
  });
});
