/** Quotes a text as one shell word: text of a stranger must not become a command when a user pastes ours. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
