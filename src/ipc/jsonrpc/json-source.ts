import { endOfString as endOfStringBytes } from '../../shared/framing/json-string.js';

const QUOTE = 0x22;

/**
 * The source text of a member of a JSON object. JSON.parse rounds 1763276400123456789 to a multiple of 256, so a client
 * whose ids are nanoseconds would not recognise its reply. `text` must be valid JSON.
 */
export function memberSource(text: string, name: string): string | undefined {
  let found: string | undefined;
  let at = skipSpace(text, 0);
  if (text[at] !== '{') return undefined;
  do {
    at = skipSpace(text, at + 1);
    if (text[at] !== '"') break;
    const afterKey = endOfString(text, at);
    const key: unknown = JSON.parse(text.slice(at, afterKey));
    const start = skipSpace(text, skipSpace(text, afterKey) + 1);
    const end = endOfValue(text, start);
    // no break: JSON.parse takes the last of two members with one name
    if (key === name) found = text.slice(start, end);
    at = skipSpace(text, end);
  } while (text[at] === ',');
  return found;
}

/** The source texts of the elements of a JSON array. */
export function elementSources(text: string): string[] {
  const found: string[] = [];
  let at = skipSpace(text, 0);
  do {
    const start = skipSpace(text, at + 1);
    if (text[start] === ']') break;
    const end = endOfValue(text, start);
    found.push(text.slice(start, end));
    at = skipSpace(text, end);
  } while (text[at] === ',');
  return found;
}

function endOfValue(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const char = text[at];
    if (char === '"') at = endOfString(text, at) - 1;
    else if (char === '{' || char === '[') depth += 1;
    else if (char === '}' || char === ']') depth -= 1;
    else if (depth > 0 || (char !== ',' && !isSpace(char))) continue;
    else return at;
    if (depth < 0) return at;
    if (depth === 0) return at + 1;
  }
  return text.length;
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}

function skipSpace(text: string, start: number): number {
  let at = start;
  while (isSpace(text[at])) at += 1;
  return at;
}

function isSpace(char: string | undefined): boolean {
  return char === ' ' || char === '\t' || char === '\n' || char === '\r';
}

/**
 * Whether brackets in this JSON text are nested deeper than the limit. Checked before parsing: 8 MiB of `[` cost
 * JSON.parse 250 MiB and two seconds, and JSON.stringify cannot write what it accepts at that depth.
 */
export function isDeeperThan(limit: number, bytes: Buffer): boolean {
  if (bytes.length <= limit) return false;
  let depth = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfStringBytes(bytes, at) - 1;
    else if (byte === 0x5b || byte === 0x7b) {
      depth += 1;
      if (depth > limit) return true;
    } else if (byte === 0x5d || byte === 0x7d) depth -= 1;
  }
  return false;
}
