export {
  escaped,
  escapeInvisible,
  printable,
  quoted,
  singleLine,
} from '../../shared/text/control-characters.js';

/** In place of a table of servers. */
export const NO_SERVERS = 'no servers are configured; add one with: toolherd add';

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

const DESCRIPTION_COLUMNS = 80;

/** As much of a description as fits into a table. */
export function firstLine(text: string | null): string {
  const line = (text ?? '').split('\n').find((part) => part.trim() !== '') ?? '';
  return truncate(line, DESCRIPTION_COLUMNS);
}

/** The patterns are made here, not once for all: to make them takes a millisecond, and few texts need them. */
function widthOfOne(character: string): number {
  if (character < '\u0300') return 1;
  if (/^[\p{Mn}\p{Me}\u200B-\u200D]$/u.test(character)) return 0;
  const isWide =
    /^[\p{sc=Han}\p{sc=Hangul}\p{sc=Hiragana}\p{sc=Katakana}\p{Emoji_Presentation}\uFF01-\uFF60\u3000-\u303F]$/u;
  return isWide.test(character) ? 2 : 1;
}
