import { endOfString } from '../../shared/framing/json-string.js';
import type { JsonObject } from '../../shared/json.js';

/*
 * What is read from the text of a reply beside JSON.parse: ids that JSON.parse cannot see, and the text of the result.
 */

const VERSION = String.raw`"jsonrpc"\s*:\s*"2\.0"\s*`;
const ID = String.raw`"id"\s*:\s*(\d{1,16})\s*`;
const ID_IN_FRONT = new RegExp(
  String.raw`\{\s*(?:${VERSION},\s*)?${ID},\s*(?:${VERSION},\s*)?"(?:result|error)"\s*:`,
  'g',
);
const RESULT_IN_FRONT = new RegExp(String.raw`\{\s*(?:${VERSION},\s*)?"(?:result|error)"\s*:`);
const ID_AT_END = new RegExp(String.raw`,\s*${ID}(?:,\s*${VERSION})?\}\s*$`);

/**
 * The ids of replies in a line that cannot be parsed: one over the size limit, or one with other output in it. The calls
 * fail at once instead of at their timeout.
 *
 * Only the two usual spellings are read: the id in front (`{"jsonrpc":"2.0","id":7,"result":…`) and the id at the end
 * (`{"result":…,"jsonrpc":"2.0","id":7}`, as the TypeScript SDK writes it). A request that a server echoes into its
 * output has `"method"` in that place and does not match.
 */
export function replyIds(head: Buffer, tail: Buffer): number[] {
  const start = head.toString('latin1');
  const end = tail.toString('latin1');
  const ids = new Set<number>();
  for (const text of [start, end]) {
    for (const match of text.matchAll(ID_IN_FRONT)) ids.add(Number(match[1]));
  }
  const last = ID_AT_END.exec(end);
  if (last !== null && RESULT_IN_FRONT.test(start)) ids.add(Number(last[1]));
  return [...ids];
}

const RESULT_FIRST = '{"result":';
const MEMBERS = 3;

/**
 * The text of a reply's result, cut out of its line; undefined where the line has neither of the two orders that servers
 * write. `reply` is the parsed line, with one `id`. A reply with two results keeps both: its caller's parser decides.
 */
export function resultSource(line: string, reply: JsonObject): string | undefined {
  const { id } = reply;
  // a WebSocket message may have several lines; the reply to the client is one line, and some clients end it at a \r
  if (Object.keys(reply).length !== MEMBERS || line.includes('\n') || line.includes('\r')) return undefined;
  const head = `{"jsonrpc":"2.0","id":${id},"result":`;
  if (line.startsWith(head) && line.endsWith('}')) return line.slice(head.length, -1);
  const tail = `,"jsonrpc":"2.0","id":${id}}`;
  if (line.startsWith(RESULT_FIRST) && line.endsWith(tail)) {
    return line.slice(RESULT_FIRST.length, -tail.length);
  }
  return undefined;
}

/**
 * True when the object may have more than one `id` at its top level: cheap, and wrong only on the safe side. No
 * serialiser escapes the letters of `id`, so an escaped letter counts as a possible second one.
 */
export function mayRepeatId(text: string): boolean {
  const first = text.indexOf('"id"');
  if (first !== -1 && text.includes('"id"', first + 4)) return true;
  return text.includes('\\u0069') || text.includes('\\u0064');
}

const QUOTE = 0x22;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COLON = 0x3a;
const WHITESPACE: readonly unknown[] = [0x20, 0x09, 0x0a, 0x0d];

/**
 * The values of every top-level `id` of a JSON object, in order. Of two `JSON.parse` silently keeps the last; the
 * client's parser may keep the first. The bytes must have passed `JSON.parse`: nothing is checked again here.
 */
export function topLevelIds(bytes: Buffer): unknown[] {
  const ids: unknown[] = [];
  let depth = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      const end = endOfString(bytes, at);
      if (depth === 1 && isKey(bytes, end) && textOf(bytes, at, end) === 'id')
        ids.push(valueAfter(bytes, end));
      at = end - 1;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth -= 1;
  }
  return ids;
}

/** In valid JSON a colon follows a key, and no other string. */
function isKey(bytes: Buffer, end: number): boolean {
  let at = end;
  while (WHITESPACE.includes(bytes[at])) at += 1;
  return bytes[at] === COLON;
}

function textOf(bytes: Buffer, start: number, end: number): unknown {
  return JSON.parse(bytes.toString('utf8', start, end));
}

/** The number or string after a key; undefined for any value that cannot be an id. */
function valueAfter(bytes: Buffer, keyEnd: number): unknown {
  const rest = bytes.toString('utf8', keyEnd, keyEnd + 512);
  const match = /^\s*:\s*("(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*)\s*[,}]/.exec(rest);
  return match?.[1] === undefined ? undefined : JSON.parse(match[1]);
}
