export { escaped, printable } from '../../shared/control-characters.js';

/** For a place that has one line: what a server calls itself must not look like a line of ours. */
export function singleLine(text: string): string {
  return text.replaceAll(/[\n\t]/g, '\uFFFD');
}

/** For words of somebody else in the middle of ours: every line of them is seen to belong to them. */
export function quoted(text: string, indent = '    '): string {
  return text.trimEnd().replaceAll('\n', `\n${indent}| `);
}

/** How many columns of a terminal a text takes. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += widthOfOne(character);
  return width;
}

/** As much of a text as fits, with a mark where it was cut. */
export function truncate(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let shown = '';
  let left = columns - 1;
  for (const character of text) {
    left -= widthOfOne(character);
    if (left < 0) break;
    shown += character;
  }
  return `${shown}…`;
}

/** The patterns are made where they are needed, as that takes a millisecond, and few texts need them. */
function widthOfOne(character: string): number {
  if (character < '\u0300') return 1;
  if (/^[\p{Mn}\p{Me}\u200B-\u200D]$/u.test(character)) return 0;
  const isWide =
    /^[\p{sc=Han}\p{sc=Hangul}\p{sc=Hiragana}\p{sc=Katakana}\p{Emoji_Presentation}\uFF01-\uFF60\u3000-\u303F]$/u;
  return isWide.test(character) ? 2 : 1;
}
