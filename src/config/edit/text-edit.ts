import { isBlank, lineBreakOf, lineStart } from './lines.js';

/** One contiguous change of a text. Position count UTF-16 units of the text before the change. */
export type TextEdit = { start: number; end: number; insert: string };

export function applyEdit(text: string, edit: TextEdit): string {
  return text.slice(0, edit.start) + edit.insert + text.slice(edit.end);
}

/** The change that takes `applySplice(text, edit)` back to `text`, byte for byte. */
export function invertEdit(text: string, edit: TextEdit): TextEdit {
  return {
    start: edit.start,
    end: edit.start + edit.insert.length,
    insert: text.slice(edit.start, edit.end),
  };
}

/** Several changes that do not overlap, in any order, as one: what lies between them is inserted as it was. */
export function joinEdits(text: string, edits: readonly TextEdit[]): TextEdit {
  const ordered = [...edits].sort((a, b) => a.start - b.start || a.end - b.end);
  const first = ordered[0];
  if (first === undefined) return { start: 0, end: 0, insert: '' };
  const joined = { ...first };
  for (const next of ordered.slice(1)) {
    joined.insert += text.slice(joined.end, next.start) + next.insert;
    joined.end = next.end;
  }
  return joined;
}

/** Whole lines put in at a line's start, or below a last line that has no line break, which then has none again. */
export function insertLines(text: string, offset: number, lines: readonly string[]): TextEdit {
  const lineBreak = lineBreakOf(text);
  const block = lines.join(lineBreak);
  const below = offset > lineStart(text, offset);
  return { start: offset, end: offset, insert: below ? lineBreak + block : block + lineBreak };
}

/** Whole lines taken out. When they close a text without a line break, the line above closes it the same way. */
export function cutLines(text: string, start: number, end: number): TextEdit {
  const closing = end === text.length && !text.endsWith('\n');
  return { start: closing ? endOfLineAbove(text, start) : start, end, insert: '' };
}

/** A blank line above is kept as it is: here it can only be the text of a block scalar. */
function endOfLineAbove(text: string, start: number): number {
  if (text[start - 1] !== '\n') return start;
  const end = text[start - 2] === '\r' ? start - 2 : start - 1;
  return isBlank(text.slice(lineStart(text, end), end)) ? start : end;
}
