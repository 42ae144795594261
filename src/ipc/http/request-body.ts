import { CODE } from '../../shared/rpc-codes.js';
import { elementSources } from '../jsonrpc/json-source.js';
import { type Incoming, NO_ID, readLine } from '../jsonrpc/message.js';
import type { Refusal } from './refusal.js';

/** The body of a POST, read. */
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
/** The herd as a whole is for the socket: what HTTP shows is MCP. */
const NOT_HERE = 'fleet/';

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

/** In JSON a line break stands only where a space may stand. */
function onOneLine(body: Buffer): Buffer {
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
