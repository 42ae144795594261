const BYTE_ORDER_MARK = '\uFEFF';

/** The start of the line of `offset`. A byte order mark is not part of the first line. */
export function lineStart(text: string, offset: number): number {
  const start = offset === 0 ? 0 : text.lastIndexOf('\n', offset - 1) + 1;
  return start === 0 && text.startsWith(BYTE_ORDER_MARK) ? 1 : start;
}

/** The end of the line of `offset`, before its line break. */
export function lineEnd(text: string, offset: number): number {
  const newline = text.indexOf('\n', offset);
  if (newline === -1) return text.length;
  return newline > offset && text[newline - 1] === '\r' ? newline - 1 : newline;
}

/** The start of the next line; the end of the text when there is none. */
export function nextLine(text: string, offset: number): number {
  const newline = text.indexOf('\n', offset);
  return newline === -1 ? text.length : newline + 1;
}

/**
 * The start of the first line after content. A block scalar ends after its last line break, everything else inside a
 * line.
 */
export function lineAfter(text: string, contentEnd: number): number {
  return lineStart(text, contentEnd) === contentEnd ? contentEnd : nextLine(text, contentEnd);
}

export function columnOf(text: string, offset: number): number {
  return offset - lineStart(text, offset);
}

/** The line break of the file: that of its first line. */
export function lineBreakOf(text: string): string {
  return /\r?\n/.exec(text)?.[0] ?? '\n';
}

/** Only white space as YAML defines it, which is less than in Unicode. */
export function isBlank(text: string): boolean {
  return !/[^ \t\r\n]/.test(text);
}

export function isFirstOnLine(text: string, offset: number): boolean {
  return isBlank(text.slice(lineStart(text, offset), offset));
}

/**
 * The end of the comment lines that follow `offset` (the start of a line) and are indented to `minColumn` or deeper.
 * Blank lines count only when such a comment follows. Call it only where content can begin on a new line only.
 */
export function endOfComments(text: string, offset: number, minColumn: number): number {
  let end = offset;
  for (let at = offset; at < text.length; at = nextLine(text, at)) {
    const line = text.slice(at, lineEnd(text, at));
    if (isBlank(line)) continue;
    const column = skipSpaces(line, 0);
    if (line[column] !== '#' || column < minColumn) break;
    end = nextLine(text, at);
  }
  return end;
}

/** The start of the blank lines directly above `offset` (the start of a line), not before `floor`. */
export function startOfBlankLines(text: string, offset: number, floor: number): number {
  let start = offset;
  while (start > floor) {
    const above = Math.max(lineStart(text, start - 1), floor);
    if (!isBlank(text.slice(above, start))) break;
    start = above;
  }
  return start;
}

/** The end of the blank lines that begin at `offset` (the start of a line). */
export function endOfBlankLines(text: string, offset: number): number {
  let end = offset;
  while (end < text.length && isBlank(text.slice(end, lineEnd(text, end)))) end = nextLine(text, end);
  return end;
}

/** Whether a text of whole lines has a blank line. */
export function hasBlankLine(text: string): boolean {
  return text.split('\n').slice(0, -1).some(isBlank);
}

export function skipSpaces(text: string, offset: number): number {
  let at = offset;
  while (text[at] === ' ' || text[at] === '\t') at += 1;
  return at;
}

export function skipSpacesBack(text: string, offset: number): number {
  let at = offset;
  while (text[at - 1] === ' ' || text[at - 1] === '\t') at -= 1;
  return at;
}
