import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ContentBlock, ToolResult } from '../../../src/fleet/fleet.js';
import { limitResult } from '../../../src/supervisor/routing/result-limit.js';

const resultOf = (texts: readonly string[]): ToolResult => ({
  success: true,
  content: texts.map((text): ContentBlock => ({ type: 'text', text })),
  error: null,
  metadata: {
    server: 's',
    tool: 't',
    request_id: 'r',
    incarnation: 1,
    execution_time_ms: 1,
    is_error: false,
  },
});

const NOTE = /\n\[(\d+) of (\d+) characters cut by result_limit; .*\]$/s;
const textOf = ({ content }: ToolResult) =>
  content.flatMap((block) => (block.type === 'text' ? [block.text] : []));

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
        const result = await limitResult(resultOf(given), limit, keep);
        const length = given.join('').length;
        if (length <= limit) {
          expect([result, kept]).toEqual([resultOf(given), []]);
          return;
        }
        expect(kept).toEqual([given.join('\n')]);
        const shown = textOf(result).join('').replace(NOTE, '');
        expect(given.join('').startsWith(shown)).toBe(true);
        // one short of it where a character of two halves would have been cut
        expect([limit, limit - 1]).toContain(shown.length);
        expect(/\p{Surrogate}/u.test(shown)).toBe(false);
        expect(result.metadata.truncated).toEqual({
          characters: length,
          given: shown.length,
          uri: 'file:///kept/a.txt',
        });
      }),
    );
  });

  test('says that the rest is lost when the text could not be stored, and has no link', async () => {
    const result = await limitResult(resultOf(['abcdef']), 2, async () => undefined);
    expect(result.content).toEqual([
      { type: 'text', text: 'ab\n[4 of 6 characters cut by result_limit; the rest could not be kept]' },
    ]);
    expect(result.metadata.truncated?.uri).toBeNull();
    const broken = await limitResult(resultOf(['abcdef']), 2, () => Promise.reject(new Error('no disk')));
    expect(broken).toEqual(result);
  });
});
