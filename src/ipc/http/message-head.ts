import { headOf as headOfLine } from '../../shared/framing/message-head.js';
import type { IdText } from '../jsonrpc/message.js';
import type { LineChunks } from './virtual-connection.js';

/** The kind of a message of the herd. Only the first bytes of a reply are read: a result may have megabytes. */
export type Head =
  | { kind: 'reply'; id: IdText; isError: boolean }
  | { kind: 'request'; id: IdText }
  | { kind: 'notification'; method: string; params: Record<string, unknown> };

export function headOf(message: LineChunks): Head | undefined {
  // nearly every head is in the first piece; a very long id may reach into the next
  const [first = Buffer.alloc(0)] = message.chunks;
  return headIn(first) ?? (message.chunks.length > 1 ? headIn(Buffer.concat(message.chunks)) : undefined);
}

export function parse(message: LineChunks): Record<string, unknown> {
  return JSON.parse(Buffer.concat(message.chunks).toString('utf8')) as Record<string, unknown>;
}

function headIn(bytes: Buffer): Head | undefined {
  const head = headOfLine(bytes);
  if (head === undefined) return notificationIn(bytes);
  const { kind, id } = head;
  return kind === 'request' ? { kind, id } : { kind: 'reply', id, isError: kind === 'failure' };
}

function notificationIn(bytes: Buffer): Head | undefined {
  try {
    const { id, method, params } = JSON.parse(bytes.toString('utf8'));
    if (id !== undefined || typeof method !== 'string') return undefined;
    return { kind: 'notification', method, params: params ?? {} };
  } catch {
    return undefined;
  }
}
