/** Quotes a text as one shell word: a user may paste our command, and the text, such as a server's name, must not run. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
