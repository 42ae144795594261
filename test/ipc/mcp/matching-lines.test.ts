import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { matchingLines } from '../../../src/ipc/mcp/matching-lines.js';

describe('the lines that match', () => {
  test('are those that have the text, with their numbers, whatever the case', () => {
    const lines = fc.array(fc.string({ unit: fc.constantFrom('a', 'B', 'b', 'İ', '😀', ' '), maxLength: 8 }));
    fc.assert(
      fc.property(lines, fc.constantFrom('a', 'ab', 'B', '😀b', ' '), (given, match) => {
        const fold = (text: string) => text.replaceAll('İ', 'i').toLowerCase();
        const expected = given.flatMap((line, at) =>
          fold(line).includes(fold(match)) ? [`${at + 1}: ${line}`] : [],
        );
        expect(matchingLines(given.join('\n'), match)).toBe(expected.join('\n'));
      }),
    );
  });

  test('are, of a long line, what is around each match, with its offset in the text', () => {
    const line = `${'İ'.repeat(5000)}NEEDLE${'b'.repeat(5000)}needle${'c'.repeat(100)}Needle`;
    expect(matchingLines(`first\n${line}\nlast`, 'needle').split('\n')).toEqual([
      `2, at offset ${6 + 4800}: ${'İ'.repeat(200)}NEEDLE${'b'.repeat(200)}`,
      `2, at offset ${6 + 9806}: ${'b'.repeat(200)}needle${'c'.repeat(100)}Needle`,
    ]);
  });

  test('never split a character', () => {
    const found = matchingLines(`${'😀'.repeat(2000)}needle${'😀'.repeat(2000)}`, 'needle');
    expect(/\p{Surrogate}/u.test(found)).toBe(false);
  });

  test('have about a million characters at most, and say that there are more', () => {
    for (const text of ['match me\n'.repeat(500_000), 'x'.repeat(5_000_000)]) {
      const found = matchingLines(text, text[0]!);
      expect(found.length).toBeLessThan(2 ** 22);
      expect(found.split('\n').at(-1)).toBe('… there are more: search for a longer text');
    }
  });

  test('are none for a text with a line break', () => {
    expect(matchingLines('a\nb', 'a\nb')).toBe('');
  });
});
