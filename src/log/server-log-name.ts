import { createHash } from 'node:crypto';

const LONGEST = 180;

/** A server may be called anything; a file may not, and two servers may not share one. */
export function serverLogName(name: string): string {
  // half a character cannot be encoded
  const whole = Buffer.from(name).toString();
  const encoded = encodeURIComponent(whole).replaceAll('.', '%2E');
  if (encoded.length <= LONGEST && whole === name) return encoded;
  const hash = createHash('sha256').update(JSON.stringify(name)).digest('hex').slice(0, 16);
  return `${encoded.slice(0, LONGEST)}-${hash}`;
}
