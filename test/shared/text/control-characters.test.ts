import { describe, expect, it } from 'vitest';
import { withoutEscapes } from '../../../src/shared/text/control-characters.js';
import { fastestOf } from '../../support/fastest-of.js';

describe('a text without escape sequences', () => {
  it.each([
    ['a colour', 'a\u001B[1;31mb\u001B[0mc', 'abc'],
    ['a colour of 24 bits for both grounds', '\u001B[38;2;255;255;255;48;2;255;255;255mb\u001B[m', 'b'],
    ['a colour with colons', '\u001B[4:3mb', 'b'],
    ['a colour of the 8-bit kind', 'a\u009B31mb', 'ab'],
    ['a move of the cursor', 'a\u001B[2K\u001B[1Gb\u001B[?25h', 'ab'],
    ['a sequence with an intermediate byte', 'a\u001B[1 qb\u001B[!pc', 'abc'],
    ['a title that ends with BEL', 'a\u001B]0;my title\u0007b', 'ab'],
    [
      'a link that ends with ST',
      '\u001B]8;;https://h/x?a=b\u001B\\text\u001B]8;;\u001B\\ and \u001B]0;t\u009Cb',
      'text and b',
    ],
    ['a character set', 'a\u001B(Bb\u001B)0c', 'abc'],
    ['an escape of two bytes', 'a\u001B7b\u001B=c\u001Bcd', 'abcd'],
  ])('has not even parts of %s', (_, text, plain) => expect(withoutEscapes(text)).toBe(plain));

  it.each([
    ['words and lines', 'Error: [31m is no colour ;?\n\tnot; here either]0;\r\n'],
    ['what only begins like a sequence', 'ä[0m ☃'],
  ])('equals the text if that has none: %s', (_, text) => expect(withoutEscapes(text)).toBe(text));

  it('loses no line to a sequence that does not end in its own line', () => {
    expect(withoutEscapes('\u001B]0;title\nError: a\u0007')).toBe('0;title\nError: a\u0007');
    expect(withoutEscapes('\u001B[31\nError: a')).toBe('31\nError: a');
  });

  it.each([
    ['a sequence that does not end', `\u001B${';?'.repeat(16_384)}`],
    ['parameters that do not end', `\u001B[${'1;'.repeat(16_384)}`],
    ['the longest lines of a log', `\u001B${';?'.repeat(4095)}\n`.repeat(16)],
    ['a title that does not end', `\u001B]0;${'a;'.repeat(16_384)}`],
    ['sequences that only begin', '\u001B['.repeat(16_384)],
    ['titles that only begin', '\u001B]'.repeat(16_384)],
    ['titles that begin anew', `\u001B]${'a'.repeat(100)}`.repeat(320)],
    ['intermediate bytes', `\u001B${' '.repeat(32_768)}`],
    ['escapes', '\u001B'.repeat(32_768)],
  ])('is found in time that grows with its length alone: %s', (_, text) => {
    // the pattern of Node takes 1.1 s for the first, where nothing else runs
    expect(fastestOf(5, () => withoutEscapes(text))).toBeLessThan(200);
  });
});
