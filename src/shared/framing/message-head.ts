import { endOfString } from './json-string.js';

/** What a JSON-RPC message with an id is, and its id. */
export interface MessageHead {
  kind: 'reply' | 'failure' | 'request';
  /** The id as JSON text. */
  id: string;
}

/** How the daemon begins every message that has an id. */
const BEGIN = Buffer.from('{"jsonrpc":"2.0","id":');
const KINDS = [
  [',"result":', 'reply'],
  [',"error":', 'failure'],
  [',"method":', 'request'],
] as const;
/** The longest key of `KINDS`. */
const KEY_BYTES = 10;
const QUOTE = 0x22;
const COMMA = 0x2c;

/**
 * Reads the head of a message from its first bytes alone: a result may have megabytes. Undefined for a message without
 * an id, for one that another program wrote in another order, and where the bytes end before the key after the id.
 */
export function headOf(line: Buffer): MessageHead | undefined {
  if (!line.subarray(0, BEGIN.length).equals(BEGIN)) return undefined;
  const end =
    line[BEGIN.length] === QUOTE ? endOfString(line, BEGIN.length) : line.indexOf(COMMA, BEGIN.length);
  if (end === -1) return undefined;
  const key = line.toString('latin1', end, end + KEY_BYTES);
  const kind = KINDS.find(([begin]) => key.startsWith(begin))?.[1];
  return kind && { kind, id: line.toString('utf8', BEGIN.length, end) };
}
