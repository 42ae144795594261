import fc from 'fast-check';
import { expect, test } from 'vitest';
import { applyEdit, invertEdit } from '../../../src/config/edit/index.js';
import { joinEdits } from '../../../src/config/edit/text-edit.js';

test('an edit replaces its range and nothing else', () => {
  expect(applyEdit('abcdef', { start: 2, end: 4, insert: 'XYZ' })).toBe('abXYZef');
  expect(applyEdit('abc', { start: 3, end: 3, insert: '!' })).toBe('abc!');
});

test('the inverse of any edit gives the text back', () => {
  const cut = fc.tuple(fc.string(), fc.nat(), fc.nat(), fc.string());
  fc.assert(
    fc.property(cut, ([text, one, other, insert]) => {
      const [start = 0, end = 0] = [one, other].map((at) => at % (text.length + 1)).sort((a, b) => a - b);
      const edit = { start, end, insert };
      expect(applyEdit(applyEdit(text, edit), invertEdit(text, edit))).toBe(text);
    }),
  );
});

test('joined edits change the same ranges, and the text between them stays', () => {
  const parts = [
    { start: 8, end: 9, insert: '' },
    { start: 1, end: 1, insert: '+' },
    { start: 3, end: 5, insert: '-' },
  ];
  expect(applyEdit('0123456789', joinEdits('0123456789', parts))).toBe('0+12-5679');
});
