const BYTE_ORDER_MARK = '\uFEFF';

/** Where the line of `offset` begins. A byte order mark is no part of the first line. */
export function lineStart(text: string, offset: number): number {
  const start = offset === 0 ? 0 : text.lastIndexOf('\n', offset - 1) + 1;
  return start === 0 && text.startsWith(BYTE_ORDER_MARK) ? 1 : start;
}

/** Where the line of `offset` ends, before its line break. */
export function lineEnd(text: string, offset: number): number {
  const newline = text.indexOf('\n', offset);
  if (newline === -1) return text.length;
  return newline > offset && text[newline - 1] === '\r' ? newline - 1 : newline;
}

/** Where the line after that of `offset` begins; the end of the text when there is none. */
export function nextLine(text: string, offset: number): number {
  const newline = text.indexOf('\n', offset);
  return newline === -1 ? text.length : newline + 1;
}

/** The first line below content. A block scalar ends behind its last line break, everything else within a line. */
export function lineAfter(text: string, contentEnd: number): number {
  return lineStart(text, contentEnd) === contentEnd ? contentEnd : nextLine(text, contentEnd);
}

export function columnOf(text: string, offset: number): number {
  return offset - lineStart(text, offset);
}

/** The line break of the file, as its first line has it. */
export function lineBreakOf(text: string): string {
  return /\r?\n/.exec(text)?.[0] ?? '\n';
}

/** Nothing but what YAML takes for white space, which is less than Unicode does. */
export function isBlank(text: string): boolean {
  return !/[^ \t\r\n]/.test(text);
}

export function isFirstOnLine(text: string, offset: number): boolean {
  return isBlank(text.slice(lineStart(text, offset), offset));
}

/**
 * The end of the comment lines that follow `offset` (a line's start) and are indented to `minColumn` or further. Blank
 * lines count only when such a comment comes after them. Call it where no content can follow but on a new line.
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

/** Where the run of blank lines directly above `offset` (a line's start) begins, looking back no further than `floor`. */
export function startOfBlankLines(text: string, offset: number, floor: number): number {
  let start = offset;
  while (start > floor) {
    const above = Math.max(lineStart(text, start - 1), floor);
    if (!isBlank(text.slice(above, start))) break;
    start = above;
  }
  return start;
}

/** Where the run of blank lines that begins at `offset` (a line's start) ends. */
export function endOfBlankLines(text: string, offset: number): number {
  let end = offset;
  while (end < text.length && isBlank(text.slice(end, lineEnd(text, end)))) end = nextLine(text, end);
  return end;
}

/** Whether a text of whole lines has a blank one. */
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
