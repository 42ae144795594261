import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** The requests of a TCP port below `/ui`. src/dashboard serves them, with its own checks. */
export interface PageRequests {
  /** `names`: what `Host` may be. */
  handle(request: IncomingMessage, response: ServerResponse, names: readonly string[]): void;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, names: readonly string[]): void;
}

const PATH = /^\/ui(?:[/?]|$)/;

export function isPagePath(target = ''): boolean {
  return PATH.test(target);
}

const HOP_BY_HOP = /^(?:upgrade|http2-settings|connection)$/i;

/**
 * The head of a request without its wish for another protocol. A server with a listener for `upgrade` gets every request
 * there that has the header, also of HTTP clients that would like to speak HTTP/2 (Java's does).
 */
export function withoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage): string {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (!HOP_BY_HOP.test(name)) lines.push(`${name}: ${rawHeaders[at + 1]}`);
  }
  return `${lines.join('\r\n')}\r\n\r\n`;
}
