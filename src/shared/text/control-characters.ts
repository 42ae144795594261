/**
 * Characters that move a terminal's cursor, change its colours, or reverse text. By their numbers: a Unicode property
 * would take a millisecond in every run of the command.
 */
export const CONTROL_CHARACTERS = /[\u0000-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/g;

/**
 * Terminal escapes: CSI (colours, the cursor), OSC (titles, links) up to BEL or ST within its line, and short escapes.
 * Servers write the text, so every part is bounded, and none can contain the beginning of another: the time grows
 * linearly. Node's `stripVTControlCharacters` takes 86 ms for a crafted line of 8 KiB.
 */
const ESCAPES =
  /(?:\u001B\[|\u009B)[0-?]{0,64}[ -/]{0,8}[@-~]|\u001B\][^\u0000-\u001F\u007F-\u009F]{0,4096}(?:\u0007|\u001B\\|\u009C)|\u001B[ -/]{0,8}[0-~]/g;

/** A text without escape sequences. Of an unfinished one only the beginning is removed. */
export function withoutEscapes(text: string): string {
  return text.replaceAll(ESCAPES, '');
}

/** A text without control characters; line ends and tabs stay. */
export function printable(text: string): string {
  return text.replaceAll(CONTROL_CHARACTERS, (character) =>
    character === '\n' || character === '\t' ? character : '\uFFFD',
  );
}

/** The same JSON with control characters as escapes. */
export function escaped(json: string): string {
  return json.replaceAll(CONTROL_CHARACTERS, (character) =>
    character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** For foreign text in the middle of ours: a mark on every further line shows where it ends. */
export function quoted(text: string, indent = '    '): string {
  return text.trimEnd().replaceAll('\n', `\n${indent}| `);
}

/** For a place that has one line: a server's text must not look like a line of ours. */
export function singleLine(text: string): string {
  return text.replaceAll(/[\n\t]/g, '\uFFFD');
}

/**
 * Invisible characters as their numbers: controls, right-to-left marks, zero-width characters, tags that can spell a hidden
 * sentence, fillers, and undefined characters. A model reads them, so a person who approves a text must see them.
 */
export function escapeInvisible(text: string): string {
  const invisible = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
  return text.replaceAll(invisible, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}
