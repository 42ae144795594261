import { describe, expect, it } from 'vitest';
import { serverEncoding } from '../../../src/link/stdio/encoding.js';

describe('an encoding (FR-004)', () => {
  it('leaves UTF-8 alone, under all its names', () => {
    for (const label of ['utf-8', 'utf8', 'UTF-8', 'unicode-1-1-utf-8']) {
      const encoding = serverEncoding(label);
      expect(encoding.decoder()).toBeUndefined();
      expect(encoding.encode('{"a":"ä"}\n')).toBe('{"a":"ä"}\n');
    }
  });

  it.each(['utf-16le', 'utf-16be', 'shift_jis', 'windows-1252', 'iso-2022-jp', 'gb18030', 'latin1', 'ascii'])(
    'writes JSON in %s that reads back unchanged',
    (label) => {
      const line = `${JSON.stringify({ text: 'ä ☃ 表 😀 \u2028' })}\n`;
      const encoded = serverEncoding(label).encode(line);
      expect(encoded).toBeInstanceOf(Buffer);
      const read = new TextDecoder(label).decode(encoded as Buffer);
      expect(JSON.parse(read)).toEqual(JSON.parse(line));
      expect(read.endsWith('\n')).toBe(true);
    },
  );

  it('decodes characters that were cut between chunks', () => {
    const bytes = Buffer.from('{"a":"表ソ"}\n', 'utf16le');
    const decode = serverEncoding('utf-16le').decoder();
    const parts = [...bytes].map((byte) => decode?.(Buffer.from([byte])) ?? Buffer.alloc(0));
    expect(Buffer.concat(parts).toString()).toBe('{"a":"表ソ"}\n');
  });

  it('refuses a label that is not on the list', () => {
    expect(() => serverEncoding('klingon')).toThrow(RangeError);
  });
});
