/**
 * Characters that move a terminal's cursor, change its colours, or turn text around. By their numbers: to look up what
 * Unicode calls them takes a millisecond, with every run of the command.
 */
export const CONTROL_CHARACTERS = /[\u0000-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/g;

/** A text without them; line ends and tabs stay. */
export function printable(text: string): string {
  return text.replaceAll(CONTROL_CHARACTERS, (character) =>
    character === '\n' || character === '\t' ? character : '\uFFFD',
  );
}

/** The same JSON, in which they are written as escapes. */
export function escaped(json: string): string {
  return json.replaceAll(CONTROL_CHARACTERS, (character) =>
    character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
