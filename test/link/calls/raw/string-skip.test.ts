import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ReplyScan } from '../../../../src/link/calls/raw/reply-scan.js';
import { skipString } from '../../../../src/link/calls/raw/string-skip.js';

const PLAIN = /^(?:[^"\\\x00-\x1f])*$/;
const PIECE_BYTES = 65_536;
const SPECIAL = /["\\\x00-\x1f]/;

/** Strings with all that may be in them, and what may not, near to each other and far apart. */
const part = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.stringMatching(/^[ -~]{0,60}$/),
  fc.stringMatching(/^(\\["\\/bfnrt]|\\u[0-9a-fA-F]{4}){1,6}$/),
  fc.constantFrom('"', '\\', '\n', '\\u12g4', '\\x', '\u007f', 'é', '€', '\\u00', '\\'),
);
const window = fc.array(part, { maxLength: 8 }).map((parts) => Buffer.from(parts.join('')));

describe('the contents of strings', () => {
  it('are skipped up to the first byte with a meaning (U8)', () => {
    fc.assert(
      fc.property(window, fc.nat(), (bytes, place) => {
        const from = place % (bytes.length + 1);
        const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
        const to = skipString(bytes, view, from);
        expect(bytes.toString('latin1', from, to)).toMatch(PLAIN);
        if (to < bytes.length) expect(bytes.toString('latin1', to, to + 1)).toMatch(SPECIAL);
      }),
      { numRuns: 2000, seed: 7 },
    );
  });

  it('are read right where an escape meets the end of a piece (U8)', () => {
    const head = '{"jsonrpc":"2.0","id":1073741831,"result":{"a":"';
    for (const escaped of ['\\n', '\\\\', '\\"', '\\u00e9', '\\ud83d\\ude00']) {
      for (let back = 0; back <= 14; back += 1) {
        const text = `${head}${'x'.repeat(PIECE_BYTES - head.length - back)}${escaped}${'y'.repeat(40)}"}}`;
        const whole = Buffer.from(text);
        const scan = new ReplyScan();
        for (let at = 0; at < whole.length; at += PIECE_BYTES)
          scan.push(whole.subarray(at, at + PIECE_BYTES));
        expect(scan.end([whole])?.id).toBe(1073741831);
        const broken = Buffer.from(text.replace(escaped, `${escaped}\\x`));
        const other = new ReplyScan();
        other.push(broken);
        expect(other.end([broken])).toBeUndefined();
      }
    }
  });

  it('are accepted only where JSON.parse accepts them, however the text is cut (U8)', () => {
    const counts = { read: 0, refused: 0 };
    fc.assert(
      fc.property(window, fc.integer({ min: 1, max: 50 }), (bytes, size) => {
        const head = '{"jsonrpc":"2.0","id":1073741831,"result":{"a":"';
        const whole = Buffer.concat([Buffer.from(head), bytes, Buffer.from('"}}')]);
        const scan = new ReplyScan();
        for (let at = 0; at < whole.length; at += size) scan.push(whole.subarray(at, at + size));
        const read = scan.end([whole]) !== undefined;
        if (read) expect(() => JSON.parse(whole.toString())).not.toThrow();
        counts[read ? 'read' : 'refused'] += 1;
      }),
      { numRuns: 1000, seed: 7 },
    );
    expect(Math.min(counts.read, counts.refused)).toBeGreaterThan(50);
  });
});
