import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Refusal } from './refusal.js';

/** Who may come in. Undefined: may. */
export type Guard = (request: IncomingMessage) => Refusal | undefined;

/** On the Unix socket the file's mode is the guard. Only browsers send an Origin, and none has business here. */
export const guardSocket: Guard = ({ headers: { origin } }) =>
  origin === undefined ? undefined : strange('Origin', origin, 'a request without one');

/**
 * On TCP every page in a browser and every user of this machine can knock. The name in Host must be one that leads here
 * and nowhere else (a page whose own name was made to lead here sends its own), an Origin must be that very name, and
 * the token must be known.
 */
export function guardPort(names: readonly string[], token: string | undefined): Guard {
  const digest = token === undefined ? undefined : digestOf(token);
  return ({ headers: { host = '', origin, authorization = '' } }) => {
    if (!names.includes(host.toLowerCase())) return strange('Host', host, names.join(' or '));
    if (origin !== undefined && origin.toLowerCase() !== `http://${host.toLowerCase()}`) {
      return strange('Origin', origin, `none, or http://${host}`);
    }
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

/** Digests have one length, so that a comparison takes the same time whatever was sent. */
function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

function bearerOf(authorization: string): string {
  return /^bearer +(\S+)$/i.exec(authorization.trim())?.[1] ?? '';
}

function strange(header: string, value: string, wanted: string): Refusal {
  return {
    status: 403,
    message: `the header ${header} names ${JSON.stringify(value.slice(0, 200))}`,
    why: 'a web page may have sent it, and no web page may use the herd',
    fix: `send ${wanted}`,
  };
}
