/**
 * The `encoding` of a stdio server. Everything inside toolherd is UTF-8. The output of a server in another encoding is
 * decoded before it is split into lines, because a newline byte may be half of a character there (utf-16le, shift_jis).
 * The input is JSON with every non-ASCII character escaped, and ASCII has the same bytes in all encodings of the WHATWG
 * list except UTF-16.
 */
export interface Encoding {
  /** As TextDecoder spells it. */
  readonly label: string;
  /** A decoder for one stream, or undefined where the bytes are UTF-8 already. */
  decoder(): ((chunk: Buffer) => Buffer) | undefined;
  encode(line: string): string | Buffer;
}

/** Throws a RangeError for a label that is not on the WHATWG list. */
export function serverEncoding(label: string): Encoding {
  const canonical = new TextDecoder(label).encoding;
  if (canonical === 'utf-8') return { label: canonical, decoder: () => undefined, encode: (line) => line };
  return {
    label: canonical,
    decoder() {
      const decoder = new TextDecoder(canonical);
      return (chunk) => Buffer.from(decoder.decode(chunk, { stream: true }), 'utf8');
    },
    encode: (line) => encodeAscii(canonical, escapeToAscii(line)),
  };
}

function encodeAscii(label: string, line: string): Buffer {
  if (label === 'utf-16le') return Buffer.from(line, 'utf16le');
  if (label === 'utf-16be') return Buffer.from(line, 'utf16le').swap16();
  return Buffer.from(line, 'latin1');
}

/** Non-ASCII characters occur only in JSON strings, where an escape means the same. */
function escapeToAscii(json: string): string {
  return json.replace(/[^\x00-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
