import type { FetchLike } from '@modelcontextprotocol/client';
import type { Clock } from '../clock.js';
import { isSecure } from './secure-url.js';

/**
 * The fetch for everything that is said to authorization servers. Where they are is told by the server that wants
 * the authorisation, so nothing goes to them in the clear. Redirects are followed by the SDK, and only within one
 * origin. `own`: the server itself may be asked the way its url says.
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
      return new Response(WITHOUT_BODY.has(response.status) ? null : await response.arrayBuffer(), response);
    } finally {
      clock.clearTimeout(timer);
    }
  };
}

const WITHOUT_BODY = new Set([204, 205, 304]);
