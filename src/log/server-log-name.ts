import { createHash } from 'node:crypto';

const LONGEST = 180;

/** A file name for any server name. Two servers never share one. */
export function serverLogName(name: string): string {
  // a lone surrogate cannot be encoded
  const whole = Buffer.from(name).toString();
  const encoded = encodeURIComponent(whole).replaceAll('.', '%2E');
  if (encoded.length <= LONGEST && whole === name) return encoded;
  const hash = createHash('sha256').update(JSON.stringify(name)).digest('hex').slice(0, 16);
  return `${encoded.slice(0, LONGEST)}-${hash}`;
}
