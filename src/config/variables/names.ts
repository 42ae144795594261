/** A name that `${NAME}` can have. */
export function isVariableName(text: unknown): text is string {
  return typeof text === 'string' && /^[A-Za-z_]\w*$/.test(text);
}

/** Words as the name of a variable: `my-server`, `token` → `MY_SERVER_TOKEN`. */
export function toVariableName(...words: string[]): string {
  const name = words
    .join('_')
    .toUpperCase()
    .replaceAll(/[^A-Z0-9_]/g, '_');
  return name.replace(/^(?=\d)/, '_');
}

/**
 * The variable for a name in the config of another program. A name that is valid stays, except that a plain lower-case
 * word becomes upper case.
 */
export function importedVariableName(text: string): string {
  const isValid: boolean = isVariableName(text);
  if (isValid) return text.includes('_') || /[A-Z]/.test(text) ? text : text.toUpperCase();
  return text
    .toUpperCase()
    .replaceAll(/[^A-Z0-9_]+/g, '_')
    .replace(/^(?=\d|$)/, '_');
}
