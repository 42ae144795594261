const SECRET_NAME =
  /token|secret|passw|passphrase|credential|api_?key|private|auth(?!or(?!i[sz]))|bearer|cookie|session|signature|connection_?string|\bkey\b|_key$|(^|_)(pass|passcode|pat|pwd|dsn|creds?|jwt|sig)$|_pw$/i;
/** Folders that every shell has in its environment. */
const FOLDER = /^(OLD)?PWD$/;

/**
 * Whether a name suggests that its value is a secret, for values that stand in a file or an argument in plain text.
 * However it is written: `API_KEY`, `--api-key`, `x.api.key`, `accessKey`.
 */
export function looksSecret(name: string): boolean {
  if (FOLDER.test(name)) return false;
  return SECRET_NAME.test(name.replaceAll(/[.-]/g, '_').replaceAll(/([a-z0-9])(?=[A-Z])/g, '$1_'));
}
