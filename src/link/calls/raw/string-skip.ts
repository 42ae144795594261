const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;

/**
 * From a position inside a string: the position of the next quote, backslash or control character, or the length. The
 * contents of strings are nearly all of a large message. `view` is on the same bytes.
 */
export function skipString(bytes: Buffer, view: DataView, from: number): number {
  const { length } = bytes;
  let at = from;
  // four bytes at a time: the highest bit of each byte is set where it is one of the three
  for (; at + 4 <= length; at += 4) {
    const four = view.getInt32(at, true);
    const quotes = four ^ 0x22222222;
    const slashes = four ^ 0x5c5c5c5c;
    const low = (four - 0x20202020) & ~four;
    const found = low | ((quotes - 0x01010101) & ~quotes) | ((slashes - 0x01010101) & ~slashes);
    if ((found & 0x80808080) !== 0) break;
  }
  for (; at < length; at += 1) {
    const byte = bytes[at]!;
    if (byte === QUOTE || byte === BACKSLASH || byte < SPACE) break;
  }
  return at;
}
