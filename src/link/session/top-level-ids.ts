/**
 * The values of every top-level `id` of a JSON object, in order. `JSON.parse` keeps the last of two and says nothing;
 * a client behind us may keep the first. The bytes must have passed `JSON.parse`: nothing is checked again here.
 */
export function topLevelIds(bytes: Buffer): unknown[] {
  const ids: unknown[] = [];
  let depth = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      const end = stringEnd(bytes, at);
      if (depth === 1 && isKey(bytes, end) && textOf(bytes, at, end) === 'id')
        ids.push(valueAfter(bytes, end));
      at = end - 1;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth -= 1;
  }
  return ids;
}

/**
 * True when the object may have more than one `id` at its top: cheap, and wrong only on the safe side. No serialiser
 * escapes the letters of `id`, so an escaped one is looked at as well.
 */
export function mayRepeatId(text: string): boolean {
  const first = text.indexOf('"id"');
  if (first !== -1 && text.includes('"id"', first + 4)) return true;
  return text.includes('\\u0069') || text.includes('\\u0064');
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COLON = 0x3a;
const WHITESPACE: readonly unknown[] = [0x20, 0x09, 0x0a, 0x0d];

/** The position behind the closing quote of the string that begins at `start`. */
function stringEnd(bytes: Buffer, start: number): number {
  for (let at = start + 1; ; at += 1) {
    at = bytes.indexOf(QUOTE, at);
    if (at === -1) return bytes.length;
    let backslashes = 0;
    while (bytes[at - 1 - backslashes] === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return at + 1;
  }
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

/** A number or a string that follows a key; undefined for anything that cannot be an id. */
function valueAfter(bytes: Buffer, keyEnd: number): unknown {
  const rest = bytes.toString('utf8', keyEnd, keyEnd + 512);
  const match = /^\s*:\s*("(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*)\s*[,}]/.exec(rest);
  return match?.[1] === undefined ? undefined : JSON.parse(match[1]);
}
