const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * The position after the closing quote of the JSON string that begins at `start`; the end of the bytes where it has none.
 * It jumps from quote to quote: most bytes of a message are in strings.
 */
export function endOfString(bytes: Buffer, start: number): number {
  for (let from = start + 1; ; ) {
    const quote = bytes.indexOf(QUOTE, from);
    if (quote === -1) return bytes.length;
    let backslashes = 0;
    while (bytes[quote - 1 - backslashes] === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
    from = quote + 1;
  }
}
