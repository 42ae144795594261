import type { IncomingMessage } from 'node:http';
import { CODE } from '../../shared/mcp/rpc-codes.js';
import { elementSources } from '../jsonrpc/json-source.js';
import { type Incoming, NO_ID, readLine } from '../jsonrpc/message.js';
import type { Refusal } from './refusal.js';

export const MAX_BODY_BYTES = 4 * 2 ** 20;
/** For this time the rest of a refused body is read: closing the connection at once could lose the refusal. */
const DISCARD_MS = 2000;

/** The parsed body of a POST. */
export interface RequestBody {
  isBatch: boolean;
  messages: readonly BodyMessage[];
}

export interface BodyMessage {
  incoming: Incoming;
  /** As it came, on one line. */
  line: string | Buffer;
}

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
/** These methods are for the socket: HTTP offers only MCP. */
const NOT_HERE = 'fleet/';

/** The body of a request; undefined where it is too long. Rejects where the client closes the connection before its end. */
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

/** Reads the rest of a body and drops it. */
export function discard(request: IncomingMessage): undefined {
  request.removeAllListeners('data');
  request.resume();
  const timer = setTimeout(() => request.destroy(), DISCARD_MS);
  request.on('close', () => clearTimeout(timer));
  return undefined;
}

export function readRequestBody(body: Buffer): RequestBody | Refusal {
  const line = onOneLine(body);
  const read = readLine(line);
  if (!Array.isArray(read)) return checked({ isBatch: false, messages: [{ incoming: read, line }] });
  const sources = elementSources(line.toString('utf8'));
  const messages = read.map((incoming, index) => ({ incoming, line: sources[index] ?? '' }));
  return checked({ isBatch: true, messages });
}

export function isRequestBody(outcome: RequestBody | Refusal): outcome is RequestBody {
  return 'messages' in outcome;
}

/** In JSON a line break is only allowed where a space is. */
export function onOneLine(body: Buffer): Buffer {
  for (const byte of [NEWLINE, CARRIAGE_RETURN]) {
    for (let at = body.indexOf(byte); at !== -1; at = body.indexOf(byte, at)) body[at] = SPACE;
  }
  return body;
}

function checked(requestBody: RequestBody): RequestBody | Refusal {
  for (const { incoming } of requestBody.messages) {
    if (incoming.kind === 'invalid') {
      const { code, message } = incoming.error;
      return { status: 400, code, message, id: incoming.id };
    }
    if (incoming.kind === 'request' && incoming.id === NO_ID) {
      return { status: 400, code: CODE.invalidRequest, message: "Invalid request: 'id' must not be null" };
    }
    if ('method' in incoming && incoming.method.startsWith(NOT_HERE)) {
      const message = `Method not found: ${incoming.method}`;
      const id = incoming.kind === 'request' ? incoming.id : NO_ID;
      const fix = 'speak to the socket by lines';
      return {
        status: 404,
        code: CODE.methodNotFound,
        message,
        why: 'over HTTP only MCP is spoken',
        fix,
        id,
      };
    }
  }
  return requestBody;
}

/** A client must accept all types, because the server chooses one. No `Accept` header means all. */
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
  // without a CORS preflight, a web page can send only other types
  const fix = 'send "Content-Type: application/json"';
  return { status: 415, message: 'Unsupported media type: the body must be JSON', fix };
}
