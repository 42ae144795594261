import { isBlank, lineBreakOf, lineStart } from './lines.js';

/** One contiguous change of a text. Offsets are UTF-16 code units of the text before the change. */
export type TextEdit = { start: number; end: number; insert: string };

export function applyEdit(text: string, edit: TextEdit): string {
  return text.slice(0, edit.start) + edit.insert + text.slice(edit.end);
}

/** The edit that turns `applyEdit(text, edit)` back into `text`, byte for byte. */
export function invertEdit(text: string, edit: TextEdit): TextEdit {
  return {
    start: edit.start,
    end: edit.start + edit.insert.length,
    insert: text.slice(edit.start, edit.end),
  };
}

/** Joins edits that do not overlap into one. The text between them is inserted unchanged. */
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

/**
 * Inserts whole lines at the start of a line. Below a last line without a line break, the new last line has none
 * either.
 */
export function insertLines(text: string, offset: number, lines: readonly string[]): TextEdit {
  const lineBreak = lineBreakOf(text);
  const block = lines.join(lineBreak);
  const below = offset > lineStart(text, offset);
  return { start: offset, end: offset, insert: below ? lineBreak + block : block + lineBreak };
}

/** Removes whole lines. When they end a text without a final line break, the line above then has none either. */
export function cutLines(text: string, start: number, end: number): TextEdit {
  const closing = end === text.length && !text.endsWith('\n');
  return { start: closing ? endOfLineAbove(text, start) : start, end, insert: '' };
}

/** A blank line above stays: it can only be part of a block scalar. */
function endOfLineAbove(text: string, start: number): number {
  if (text[start - 1] !== '\n') return start;
  const end = text[start - 2] === '\r' ? start - 2 : start - 1;
  return isBlank(text.slice(lineStart(text, end), end)) ? start : end;
}
