import type { IdText } from '../jsonrpc/message.js';
import type { Message } from './virtual-connection.js';

/** The kind of a message of the herd. Only the first bytes of a reply are read: a result may have megabytes. */
export type Head =
  | { kind: 'reply'; id: IdText; isError: boolean }
  | { kind: 'request'; id: IdText }
  | { kind: 'notification'; method: string; params: Record<string, unknown> };

const BEGIN = Buffer.from('{"jsonrpc":"2.0","id":');
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
/** Of the key after the id, with its comma and colon. */
const NEXT_KEY_BYTES = 10;

export function headOf(message: Message): Head | undefined {
  // nearly every head is in the first piece; a very long id may reach into the next
  const [first = Buffer.alloc(0)] = message.chunks;
  return headIn(first) ?? (message.chunks.length > 1 ? headIn(Buffer.concat(message.chunks)) : undefined);
}

export function parse(message: Message): Record<string, unknown> {
  return JSON.parse(Buffer.concat(message.chunks).toString('utf8')) as Record<string, unknown>;
}

function headIn(bytes: Buffer): Head | undefined {
  if (!bytes.subarray(0, BEGIN.length).equals(BEGIN)) return notificationIn(bytes);
  const end = endOfId(bytes, BEGIN.length);
  if (end === -1) return undefined;
  const id = bytes.toString('utf8', BEGIN.length, end);
  const next = bytes.toString('latin1', end, end + NEXT_KEY_BYTES);
  if (next.startsWith(',"method":')) return { kind: 'request', id };
  const isError = next.startsWith(',"error":');
  return isError || next.startsWith(',"result":') ? { kind: 'reply', id, isError } : undefined;
}

function notificationIn(bytes: Buffer): Head | undefined {
  try {
    const { method, params } = JSON.parse(bytes.toString('utf8'));
    return typeof method === 'string' ? { kind: 'notification', method, params: params ?? {} } : undefined;
  } catch {
    return undefined;
  }
}

function endOfId(bytes: Buffer, start: number): number {
  if (bytes[start] !== QUOTE) return bytes.indexOf(COMMA, start);
  for (let at = start + 1; at < bytes.length; at += 1) {
    if (bytes[at] === BACKSLASH) at += 1;
    else if (bytes[at] === QUOTE) return at + 1;
  }
  return -1;
}
