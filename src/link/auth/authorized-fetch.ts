import type { FetchLike } from '@modelcontextprotocol/client';
import type { RemoteSpec } from '../../config/fields/spec.js';
import { challengeOf } from './challenge.js';
import { headerRefused } from './errors.js';
import type { ServerAuthorization } from './server-authorization.js';

/**
 * A fetch that sends the token of one server, and renews it where it is refused. Every request is sent at most twice. It
 * rejects with AuthRequiredError when only a person can help; with its subclass ScopeRequiredError, when that is so for
 * this request alone. The token is sent to the origin of the server's url and nowhere else.
 */
export function authorizedFetch(
  spec: RemoteSpec,
  authorization: ServerAuthorization,
  send: FetchLike,
): FetchLike {
  const own = ownHeader(spec);
  if (own !== undefined) return headerFetch(spec, own, send);
  const { origin } = new URL(spec.url);
  return async (url, init) => {
    if (new URL(url).origin !== origin) return send(url, init);
    const token = await authorization.token();
    const first = await send(url, withToken(init, token));
    if (first.status !== 401) return checkScope(first, authorization);
    const challenge = await challengeOf(first);
    if (token === undefined) throw authorization.challenged(challenge);
    const renewed = await authorization.renew(token, challenge).catch((error: unknown) => {
      authorization.challenged(challenge);
      throw error;
    });
    const second = await send(url, withToken(init, renewed));
    if (second.status !== 401) return checkScope(second, authorization);
    throw authorization.refused(renewed, await challengeOf(second));
  };
}

/** The name of an Authorization header in the config, as spelled there: then no other authorisation is used. */
export function ownHeader({ headers }: RemoteSpec): string | undefined {
  return Object.keys(headers).find((name) => name.toLowerCase() === 'authorization');
}

function headerFetch(spec: RemoteSpec, header: string, send: FetchLike): FetchLike {
  return async (url, init) => {
    const response = await send(url, init);
    if (response.status !== 401) return response;
    throw headerRefused(spec, header, await challengeOf(response));
  };
}

function withToken(init: RequestInit | undefined, token: string | undefined): RequestInit | undefined {
  if (token === undefined) return init;
  const headers = new Headers(init?.headers);
  headers.set('authorization', `Bearer ${token}`);
  return { ...init, headers };
}

async function checkScope(response: Response, authorization: ServerAuthorization): Promise<Response> {
  const words = response.headers.get('www-authenticate') ?? '';
  if (response.status !== 403 || !/error="?insufficient_scope\b/.test(words)) return response;
  throw await authorization.lacksScope(await challengeOf(response));
}
