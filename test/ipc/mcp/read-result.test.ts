import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pageOfText } from '../../../src/ipc/mcp/read-result.js';

const NOTE = /\n\[characters (\d+) to (\d+) of (\d+); (?:next: offset (\d+)|this is the end)\]$/;

function read(whole: string, limit: number): string {
  let text = '';
  for (let offset: number | undefined = 0; offset !== undefined; ) {
    const page = pageOfText(whole, { offset, limit }, 1000);
    if ('problem' in page) throw new Error(page.problem);
    const [note = '', , , , next] = NOTE.exec(page.text) ?? [];
    text += page.text.slice(0, -note.length);
    offset = next === undefined ? undefined : Number(next);
  }
  return text;
}

describe('the pages of a text', () => {
  test('give the whole text, and none splits a character', () => {
    const texts = fc.string({ unit: 'grapheme', maxLength: 200 });
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 50 }), (whole, limit) => {
        expect(read(whole, limit)).toBe(whole);
      }),
    );
  });

  test('are no longer than the most that is allowed', () => {
    const page = pageOfText('x'.repeat(5000), { limit: 4000 }, 100);
    expect('text' in page && page.text).toMatch(
      /^x{100}\n\[characters 0 to 100 of 5000; next: offset 100\]$/,
    );
  });

  test('are of the lines that match, and say where none does', () => {
    expect(pageOfText('a needle\nb', { match: 'NEEDLE' }, 100)).toEqual({
      text: '1: a needle\n[characters 0 to 11 of 11; this is the end]',
    });
    expect(pageOfText('a\nb', { match: 'needle' }, 100)).toEqual({ text: 'no line has "needle"' });
  });

  test('are by a pointer those of the structure in the last line, where the text before it is no JSON', () => {
    const text = `Three rows:\n- one\n${JSON.stringify({ rows: ['one', 'two\nlines'] })}`;
    expect(pageOfText(text, { pointer: '/rows/1' }, 100)).toEqual({
      text: 'two\nlines\n[characters 0 to 9 of 9, in the JSON of the last line; this is the end]',
    });
    expect(pageOfText('no json\n3', { pointer: '/a' }, 100)).toHaveProperty('problem');
  });

  test('say what is wrong with a pointer or an offset', () => {
    const text = JSON.stringify({ a: { 'b/c~d': ['e'] } });
    expect(pageOfText(text, { pointer: '/a/b~1c~0d/0' }, 100)).toEqual({
      text: 'e\n[characters 0 to 1 of 1; this is the end]',
    });
    const problems = [
      pageOfText(text, { pointer: 'a' }, 100),
      pageOfText(text, { pointer: '/a/x' }, 100),
      pageOfText(text, { pointer: '/a/b~1c~0d/00' }, 100),
      pageOfText(text, { pointer: '/__proto__' }, 100),
      pageOfText('no json', { pointer: '/a' }, 100),
      pageOfText(`{"a":${'['.repeat(1e5)}${']'.repeat(1e5)}}`, { pointer: '/a' }, 100),
      pageOfText(text, { offset: 1000 }, 100),
    ];
    expect(problems.map((page) => 'problem' in page)).toEqual(problems.map(() => true));
  });
});
