import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ReplyScan } from '../../../../src/link/calls/raw/reply-scan.js';
import {
  assembledSkip,
  PlainSkip,
  type StringSkip,
  stringSkip,
  WINDOW_BYTES,
} from '../../../../src/link/calls/raw/string-skip.js';

const PLAIN = /^(?:[^"\\\x00-\x1f])*$/;
const PLAIN_OR_ESCAPED = /^(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*$/;
const SPECIAL = /["\\\x00-\x1f]/;
const LONGEST_ESCAPE = 6;

function assembled(): StringSkip {
  const skip = assembledSkip();
  if (skip === undefined) throw new Error('there is no WebAssembly here');
  return skip;
}

/** Strings with all that may be in them, and what may not, near to each other and far apart. */
const part = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.stringMatching(/^[ -~]{0,60}$/),
  fc.stringMatching(/^(\\["\\/bfnrt]|\\u[0-9a-fA-F]{4}){1,6}$/),
  fc.constantFrom('"', '\\', '\n', '\\u12g4', '\\x', '\u007f', 'é', '€', '\\u00', '\\'),
);
const window = fc.array(part, { maxLength: 8 }).map((parts) => Buffer.from(parts.join('')));

describe('the contents of strings', () => {
  it.each([
    ['sixteen bytes at once', assembled, PLAIN_OR_ESCAPED],
    ['four bytes at once', () => new PlainSkip(), PLAIN],
  ])('are skipped, %s, up to the first byte with a meaning (U8)', (_, make, passed) => {
    const skip = make();
    fc.assert(
      fc.property(window, fc.nat(), (bytes, place) => {
        const from = place % (bytes.length + 1);
        skip.load(bytes);
        const to = skip.skip(from);
        expect(bytes.toString('latin1', from, to)).toMatch(passed);
        if (to === bytes.length) return;
        const rest = bytes.toString('latin1', to);
        expect(rest[0]).toMatch(SPECIAL);
        // an escape is left to the caller only where it is none, or may be cut
        const isEscape = PLAIN_OR_ESCAPED.test(rest.slice(0, 2)) || PLAIN_OR_ESCAPED.test(rest.slice(0, 6));
        if (passed === PLAIN_OR_ESCAPED && rest.length >= LONGEST_ESCAPE) expect(isEscape).toBe(false);
      }),
      { numRuns: 2000, seed: 7 },
    );
  });

  it('are compared sixteen bytes at once on known machines', () => {
    expect(stringSkip()).not.toBeInstanceOf(PlainSkip);
  });

  it('are read right where an escape meets the end of a window or of a piece (U8)', () => {
    const head = '{"jsonrpc":"2.0","id":1073741831,"result":{"a":"';
    for (const escaped of ['\\n', '\\\\', '\\"', '\\u00e9', '\\ud83d\\ude00']) {
      for (let back = 0; back <= 14; back += 1) {
        const text = `${head}${'x'.repeat(WINDOW_BYTES - head.length - back)}${escaped}${'y'.repeat(40)}"}}`;
        const whole = Buffer.from(text);
        const scan = new ReplyScan();
        scan.push(whole);
        expect(scan.end([whole])?.id).toBe(1073741831);
        const broken = Buffer.from(text.replace(escaped, `${escaped}\\x`));
        const other = new ReplyScan();
        other.push(broken);
        expect(other.end([broken])).toBeUndefined();
      }
    }
  });

  it('are read with the same result without WebAssembly (U8)', async () => {
    vi.stubGlobal('WebAssembly', undefined);
    onTestFinished(() => void vi.unstubAllGlobals());
    vi.resetModules();
    const { ReplyScan: Plain } = await import('../../../../src/link/calls/raw/reply-scan.js');
    const { PlainSkip: Slow, stringSkip: skipOf } = await import(
      '../../../../src/link/calls/raw/string-skip.js'
    );
    expect(skipOf()).toBeInstanceOf(Slow);
    const counts = { read: 0, refused: 0 };
    fc.assert(
      fc.property(window, fc.integer({ min: 1, max: 50 }), (bytes, size) => {
        const head = '{"jsonrpc":"2.0","id":1073741831,"result":{"a":"';
        const whole = Buffer.concat([Buffer.from(head), bytes, Buffer.from('"}}')]);
        const [fast, slow] = [new ReplyScan(), new Plain()];
        for (let at = 0; at < whole.length; at += size) {
          for (const scan of [fast, slow]) scan.push(whole.subarray(at, at + size));
        }
        const [one, other] = [fast, slow].map((scan) => scan.end([whole])?.result.pieces.join(''));
        expect(other).toBe(one);
        counts[one === undefined ? 'refused' : 'read'] += 1;
      }),
      { numRuns: 1000, seed: 7 },
    );
    expect(Math.min(counts.read, counts.refused)).toBeGreaterThan(50);
  });
});
