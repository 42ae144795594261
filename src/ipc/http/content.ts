import type { IncomingMessage } from 'node:http';
import type { Refusal } from './refusal.js';

/** Both, because the server decides which of them it is. A client that says nothing takes everything. */
export function acceptRefusal({ headers }: IncomingMessage, ...types: string[]): Refusal | undefined {
  const accepted = (headers.accept ?? '*/*')
    .split(',')
    .map((type) => type.split(';')[0]?.trim().toLowerCase());
  const takes = (type: string) =>
    accepted.some((one) => one === type || one === '*/*' || one === `${type.split('/')[0]}/*`);
  if (types.every(takes)) return undefined;
  const fix = `send "Accept: ${types.join(', ')}"`;
  return { status: 406, message: `Not acceptable: the client must accept ${types.join(' and ')}`, fix };
}

export function contentRefusal({ headers }: IncomingMessage): Refusal | undefined {
  const type = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase();
  if (type === 'application/json') return undefined;
  // a form of a web page can send any other type without asking
  const fix = 'send "Content-Type: application/json"';
  return { status: 415, message: 'Unsupported media type: the body must be JSON', fix };
}
