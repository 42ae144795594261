const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Whether brackets in this JSON text are nested deeper than the limit. Looked at before parsing: 8 MiB of `[` cost
 * JSON.parse 250 MiB and two seconds, and what it accepts at that depth nobody can write again.
 */
export function isDeeperThan(limit: number, bytes: Buffer): boolean {
  if (bytes.length <= limit) return false;
  let depth = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfString(bytes, at);
    else if (byte === 0x5b || byte === 0x7b) {
      depth += 1;
      if (depth > limit) return true;
    } else if (byte === 0x5d || byte === 0x7d) depth -= 1;
  }
  return false;
}

/** From the opening quote to the closing one, or to the end where there is none. Jumps: most bytes are in strings. */
function endOfString(bytes: Buffer, start: number): number {
  for (let from = start + 1; ; ) {
    const quote = bytes.indexOf(QUOTE, from);
    if (quote === -1) return bytes.length;
    let escapes = 0;
    while (bytes[quote - 1 - escapes] === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return quote;
    from = quote + 1;
  }
}
