import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Refusal } from './refusal.js';

/** Checks whether a request is allowed. Undefined: it is. */
export type Guard = (request: IncomingMessage) => Refusal | undefined;

/** The mode of the socket's file keeps other users out. Only browsers send an Origin, and none may use the socket. */
export const guardSocket: Guard = ({ headers: { origin } }) =>
  origin === undefined ? undefined : badHeader('Origin', origin, 'a request without one');

/** Host must be a name of this port: after DNS rebinding a web page sends its own name. An Origin must be that name. */
export function guardNames(names: readonly string[]): Guard {
  return ({ headers: { host = '', origin } }) => {
    if (!names.includes(host.toLowerCase())) return badHeader('Host', host, names.join(' or '));
    if (origin === undefined || origin.toLowerCase() === `http://${host.toLowerCase()}`) return undefined;
    return badHeader('Origin', origin, `none, or http://${host}`);
  };
}

/** Every web page in a browser and every user of this machine can reach a TCP port. So names and token must be right. */
export function guardPort(names: readonly string[], token: string | undefined): Guard {
  const guard = guardNames(names);
  const digest = token === undefined ? undefined : digestOf(token);
  return (request) => {
    const { authorization = '' } = request.headers;
    const refusal = guard(request);
    if (refusal !== undefined) return refusal;
    if (digest === undefined || timingSafeEqual(digest, digestOf(bearerOf(authorization)))) return undefined;
    return {
      status: 401,
      message: authorization === '' ? 'a token is missing' : 'this is not the token',
      why: 'every user of this machine can reach this port',
      fix: 'send "Authorization: Bearer TOKEN"; the log of the daemon says in which file the token is',
      headers: { 'WWW-Authenticate': 'Bearer realm="toolherd"' },
    };
  };
}

/** Of a port that serves the page and nothing else. */
export const guardPageOnly: Guard = () => ({
  status: 404,
  message: 'this port serves only the page',
  fix: 'set daemon.http in the config for MCP over HTTP',
});

/** Digests have one length, so a comparison takes the same time for every token. */
function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

function bearerOf(authorization: string): string {
  return /^bearer +(\S+)$/i.exec(authorization.trim())?.[1] ?? '';
}

function badHeader(header: string, value: string, wanted: string): Refusal {
  return {
    status: 403,
    message: `the header ${header} names ${JSON.stringify(value.slice(0, 200))}`,
    why: 'a web page may have sent it, and no web page may use the herd',
    fix: `send ${wanted}`,
  };
}
