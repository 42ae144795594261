import { isBlank, lineBreakOf, lineStart } from './lines.js';

/** One contiguous change of a text. Offsets count UTF-16 units of the text before the change. */
export type TextEdit = { start: number; end: number; insert: string };

export function applyEdit(text: string, splice: TextEdit): string {
  return text.slice(0, splice.start) + splice.insert + text.slice(splice.end);
}

/** The change that takes `applySplice(text, splice)` back to `text`, byte for byte. */
export function invertEdit(text: string, splice: TextEdit): TextEdit {
  return {
    start: splice.start,
    end: splice.start + splice.insert.length,
    insert: text.slice(splice.start, splice.end),
  };
}

/** Several changes that do not overlap, in any order, as one: what lies between them is inserted as it was. */
export function joinEdits(text: string, splices: readonly TextEdit[]): TextEdit {
  const ordered = [...splices].sort((a, b) => a.start - b.start || a.end - b.end);
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
