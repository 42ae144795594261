import { createHash } from 'node:crypto';

/** Short enough for the name of a file. */
export function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 24);
}
