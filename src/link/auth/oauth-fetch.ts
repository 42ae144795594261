import type { FetchLike } from '@modelcontextprotocol/client';
import type { Clock } from '../../shared/clock.js';

/** The statuses of responses without a body; `Response` refuses one. */
export const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);
const MOST_BYTES = 2 ** 20;

/**
 * The fetch for requests to authorization servers. The MCP server names them, so nothing is sent to them unencrypted. The
 * SDK follows redirects, and only within one origin. `own`: the url of the MCP server itself, which may be plain http.
 */
export function oauthFetch(own: string, timeoutMs: number, clock: Clock, send: FetchLike = fetch): FetchLike {
  const { origin } = new URL(own);
  return async (target, init) => {
    const url = new URL(target);
    if (!isSecure(url) && url.origin !== origin) throw new Error(`${url.origin} does not use https`);
    const silence = new AbortController();
    const timer = clock.setTimeout(() => silence.abort(new Error(`${url.origin} is silent`)), timeoutMs);
    try {
      const response = await send(url, { ...init, signal: silence.signal });
      // the timer covers the body too
      return new Response(WITHOUT_BODY.has(response.status) ? null : await bodyOf(response), response);
    } finally {
      clock.clearTimeout(timer);
    }
  };
}

/** https, or this machine: the only urls that may get secrets or be opened in a browser. */
export function isSecure(url: URL): boolean {
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname));
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || host === '127.0.0.1' || host === '[::1]';
}

/** Metadata and tokens are small: a larger body is refused. */
async function bodyOf({ body, url }: Response): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body ?? []) {
    parts.push(part);
    bytes += part.length;
    if (bytes > MOST_BYTES) throw new Error(`${new URL(url).origin} answered with more than 1 MiB`);
  }
  return Buffer.concat(parts);
}
