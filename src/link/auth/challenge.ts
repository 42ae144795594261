import type { RemoteSpec } from '../../config/schema/spec.js';
import { MCPConnectionError } from '../../shared/call-errors.js';
import type { Clock } from '../../shared/clock.js';
import { oauthFetch } from './oauth-fetch.js';

/** What a server said when it did not let us in. */
export interface Challenge {
  /**
   * It asks for a token, as RFC 6750 and RFC 9728 have it: only a person can get one. A gateway or a firewall asks for
   * none, and may let us in a moment later.
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

/** What a refusal says about the way in. Its body is not wanted. */
export async function challengeOf(response: Response): Promise<Challenge> {
  const { extractWWWAuthenticateParams } = await import('@modelcontextprotocol/client');
  const { scope, resourceMetadataUrl } = extractWWWAuthenticateParams(response);
  await response.body?.cancel();
  const isAsked = asksForToken(response.headers.get('www-authenticate'));
  return { asksForToken: isAsked, scope, resourceMetadataUrl };
}

/** A message that asks for nothing: what matters is whether anybody is let in to say it. */
const PING = JSON.stringify({ jsonrpc: '2.0', id: 'probe', method: 'ping' });

/** Whether a server that has not been spoken to wants an authorisation: what it says then, or undefined. */
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
      const { status, headers: said } = response;
      await response.body?.cancel();
      // the body of a stream would never end
      return new Response(null, { status, headers: said });
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
