import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { McpResult } from '../../../src/fleet/fleet.js';
import { limitResult } from '../../../src/supervisor/routing/result-limit.js';

const resultOf = (texts: readonly string[]): McpResult => ({
  content: texts.map((text) => ({ type: 'text', text })),
  structuredContent: { n: 1 },
});

const NOTE = /\n\[(\d+) of (\d+) characters cut by result_limit; .*\]$/s;
const textOf = ({ content }: McpResult) =>
  (content as { type: string; text: string }[]).flatMap(({ type, text }) => (type === 'text' ? [text] : []));

describe('a limited result', () => {
  test('has at most `limit` characters besides its note, and the whole text is stored', async () => {
    const texts = fc.array(fc.string({ unit: 'grapheme', maxLength: 30 }), { maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(texts, fc.integer({ min: 1, max: 60 }), async (given, limit) => {
        const kept: string[] = [];
        const keep = async (text: string) => {
          kept.push(text);
          return 'file:///kept/a.txt';
        };
        const { result, truncated } = await limitResult(resultOf(given), limit, keep);
        const length = given.join('').length;
        if (length <= limit) {
          expect([result, truncated, kept]).toEqual([resultOf(given), undefined, []]);
          return;
        }
        expect(kept).toEqual([given.join('\n')]);
        const shown = textOf(result).join('').replace(NOTE, '');
        expect(given.join('').startsWith(shown)).toBe(true);
        // one short of it where a character of two halves would have been cut
        expect([limit, limit - 1]).toContain(shown.length);
        expect(/\p{Surrogate}/u.test(shown)).toBe(false);
        expect(truncated).toEqual({
          characters: length,
          given: shown.length,
          uri: 'file:///kept/a.txt',
        });
      }),
    );
  });

  test('says that the rest is lost when the text could not be stored, and has no link', async () => {
    const limited = await limitResult(resultOf(['abcdef']), 2, async () => undefined);
    expect(limited.result.content).toEqual([
      { type: 'text', text: 'ab\n[4 of 6 characters cut by result_limit; the rest could not be kept]' },
    ]);
    expect(limited.truncated?.uri).toBeNull();
    const broken = await limitResult(resultOf(['abcdef']), 2, () => Promise.reject(new Error('no disk')));
    expect(broken).toEqual(limited);
  });

  test('is also cut when the server sends one block instead of a list', async () => {
    const single = { content: { type: 'text', text: 'abcdef' } };
    const { result, truncated } = await limitResult(single, 2, async () => 'file:///kept/a.txt');
    expect([textOf(result).length, truncated?.given]).toEqual([1, 2]);
  });
});

describe('a limited result of an agent that pages', () => {
  const kept: string[] = [];
  const keep = async (text: string) => {
    kept.push(text);
    return 'file:///kept/a.txt';
  };
  const rows = Array.from({ length: 50 }, (_, at) => ({ at }));
  const paged = async (texts: readonly string[]) => {
    const given = { content: texts.map((text) => ({ type: 'text', text })), structuredContent: { rows } };
    const { result } = await limitResult(given, 100, keep, true);
    return { result, whole: kept.at(-1)! };
  };

  test.each([
    ['another JSON', JSON.stringify('x'.repeat(1000))],
    ['no JSON', 'x'.repeat(1000)],
  ])('keeps a long structure as text where the text is %s', async (_, text) => {
    const { result, whole } = await paged([text]);
    expect(result).not.toHaveProperty('structuredContent');
    expect(whole).toBe(`${text}\n${JSON.stringify({ rows })}`);
  });

  test('keeps a long structure once where the text is the same JSON, with other spaces', async () => {
    const text = JSON.stringify({ rows }, null, 2);
    expect((await paged([text])).whole).toBe(text);
  });

  test.each([
    ['the text itself', (text: string) => ({ content: text })],
    ['the value of the JSON in the text', (text: string) => ({ result: JSON.parse(text) })],
  ])('keeps a long text once where the structure only wraps %s', async (_, wrapped) => {
    const text = JSON.stringify(rows, null, 2);
    const given = { content: [{ type: 'text', text }], structuredContent: wrapped(text) };
    const { result, truncated } = await limitResult(given, 100, keep, true);
    expect(result).not.toHaveProperty('structuredContent');
    expect([truncated?.characters, kept.at(-1)]).toEqual([text.length, text]);
  });

  test('names the offset in the kept text at which the rest begins', async () => {
    const { result, whole } = await paged(['a'.repeat(30), 'b'.repeat(30), 'c'.repeat(500)]);
    const [, offset] = /"offset":(\d+)/.exec(textOf(result).join('')) ?? [];
    expect(whole.slice(0, Number(offset))).toBe([30, 30, 40].map((n, at) => 'abc'[at]!.repeat(n)).join('\n'));
  });
});
