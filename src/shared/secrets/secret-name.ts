/** Shorter values are not removed from texts: they occur in too many harmless ones (`true`, `8080`, `info`). */
export const LEAST_SECRET_LENGTH = 6;

const SECRET_NAME =
  /token|secret|passw|passphrase|credential|api_?key|private|auth(?!or(?!i[sz]))|bearer|cookie|session|signature|connection_?string|\bkey\b|_key$|(^|_)(pass|passcode|pat|pwd|dsn|creds?|jwt|sig)$|_pw$/i;
/** Folders that every shell has in its environment. */
const FOLDER = /^(OLD)?PWD$/;
/** `--no-auth` turns something off: the word behind it is not its value. */
const OFF_FLAG = /^-{1,2}no-/;
const PASSWORD_NAME = /passw|passphrase|(^|_)(pass|pwd|pw)$/i;

/**
 * Whether a name suggests that its value is a secret, for values that stand in a file or an argument in plain text.
 * However it is written: `API_KEY`, `--api-key`, `x.api.key`, `accessKey`.
 */
export function looksSecret(name: string): boolean {
  if (FOLDER.test(name) || OFF_FLAG.test(name)) return false;
  return SECRET_NAME.test(inSnakeCase(name));
}

/** Whether the secret under this name may be a plain word: people choose passwords, programs make tokens and keys. */
export function looksLikePassword(name: string): boolean {
  return PASSWORD_NAME.test(inSnakeCase(name));
}

function inSnakeCase(name: string): string {
  return name.replaceAll(/[.-]/g, '_').replaceAll(/([a-z0-9])(?=[A-Z])/g, '$1_');
}
