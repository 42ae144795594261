/** A text as one word of a shell: what a stranger wrote must not become a command when somebody pastes ours. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
