import { SecretExtractor } from '../integrations/index.js';
import { secretWarning } from './secret-warning.js';

/** A warning for each value in these fields of an entry that looks like a secret and is written in plain text. */
export function plainSecrets(fields: Record<string, unknown> & { name: string }): string[] {
  const { secrets } = new SecretExtractor().extract(fields);
  return secrets.map(({ at, variable }) => secretWarning(`${at} looks like a secret`, variable));
}
