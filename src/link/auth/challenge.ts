import type { RemoteSpec } from '../../config/fields/spec.js';
import { MCPConnectionError } from '../../shared/call-errors.js';
import type { Clock } from '../../shared/clock.js';
import { oauthFetch } from './oauth-fetch.js';

/** What a server said in its 401. */
export interface Challenge {
  /**
   * The server asks for a token, as in RFC 6750 and RFC 9728: only a person can get one. A gateway or a firewall asks for
   * none, and may accept the next request.
   */
  asksForToken?: boolean;
  scope?: string | undefined;
  resourceMetadataUrl?: URL | undefined;
}

const TOKEN_CHALLENGE = /(^|,)\s*bearer\b|\bresource_metadata\s*=/i;

/** By the value of the header WWW-Authenticate. */
export function asksForToken(challenge: string | null | undefined): boolean {
  return TOKEN_CHALLENGE.test(challenge ?? '');
}

/** Reads the challenge of a 401 and discards its body. */
export async function challengeOf(response: Response): Promise<Challenge> {
  const { extractWWWAuthenticateParams } = await import('@modelcontextprotocol/client');
  const { scope, resourceMetadataUrl } = extractWWWAuthenticateParams(response);
  await response.body?.cancel();
  const isAsked = asksForToken(response.headers.get('www-authenticate'));
  return { asksForToken: isAsked, scope, resourceMetadataUrl };
}

/** A harmless message: only the status of its response matters. */
const PING = JSON.stringify({ jsonrpc: '2.0', id: 'probe', method: 'ping' });

/** Asks a server whether it wants an authorisation: its challenge, or undefined where it wants none. */
export async function probe(spec: RemoteSpec, clock: Clock): Promise<Challenge | undefined> {
  const url = new URL(spec.url);
  const isPosted = spec.transport === 'http';
  const headers = {
    ...spec.headers,
    accept: 'application/json, text/event-stream',
    ...(isPosted ? { 'content-type': 'application/json' } : {}),
  };
  const request = { headers, ...(isPosted ? { method: 'POST', body: PING } : {}) };
  try {
    const send = oauthFetch(url.href, spec.timeoutMs, clock, async (target, init) => {
      const response = await fetch(target, { ...init, redirect: 'manual' });
      const { status, headers: responseHeaders } = response;
      await response.body?.cancel();
      // the body of a stream would never end
      return new Response(null, { status, headers: responseHeaders });
    });
    const response = await send(url, request);
    return response.status === 401 ? await challengeOf(response) : undefined;
  } catch (error) {
    throw new MCPConnectionError(`${spec.name}: cannot be asked whether it wants an authorisation`, {
      why: `${url.origin} cannot be reached`,
      fix: `start the server, or check 'url' of ${spec.name}`,
      retryable: true,
      cause: error,
    });
  }
}
