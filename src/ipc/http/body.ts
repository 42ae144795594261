import type { IncomingMessage } from 'node:http';

export const MAX_BODY_BYTES = 4 * 2 ** 20;
/** A client that hears its refusal while it still sends would lose it with the connection. */
const DISCARD_MS = 2000;

/** The body of a request; undefined when it is over the cap, and the rest of it is thrown away. Rejects when it breaks off. */
export async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) return discard(request);
  const chunks: Buffer[] = [];
  let bytes = 0;
  return new Promise((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= MAX_BODY_BYTES) chunks.push(chunk);
      else resolve(discard(request));
    });
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', reject);
    request.on('close', () => reject(new Error('the request broke off')));
  });
}

/** Reads on for a while what nobody looks at. */
export function discard(request: IncomingMessage): undefined {
  request.removeAllListeners('data');
  request.resume();
  const timer = setTimeout(() => request.destroy(), DISCARD_MS);
  request.on('close', () => clearTimeout(timer));
  return undefined;
}
