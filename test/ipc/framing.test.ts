import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Framing } from '../../src/ipc/framing.js';

function frame(chunks: Iterable<Buffer>, maxBytes = 1000): string[] {
  const events: string[] = [];
  const framing = new Framing(maxBytes, {
    line: (bytes) => events.push(bytes.toString('latin1')),
    tooLong: () => events.push('<too long>'),
  });
  for (const chunk of chunks) framing.push(chunk);
  return events;
}

function cutAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...places].map((start, at) => bytes.subarray(start, places[at] ?? bytes.length));
}

function* inPieces(bytes: Buffer, size: number): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

describe('framing', () => {
  it('any chunking gives the same messages (S8)', () => {
    const line = fc.oneof(
      fc.string({ unit: fc.constantFrom('a', '{', '"', '\r', 'ä', '\0'), maxLength: 60 }),
      fc.integer({ min: 95, max: 105 }).map((length) => 'z'.repeat(length)),
    );
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat()), fc.boolean(), (written, cuts, crlf) => {
        const bytes = Buffer.from(written.map((text) => text + (crlf ? '\r\n' : '\n')).join(''));
        const expected = written
          .map((text) => Buffer.from(crlf ? text : text.replace(/\r$/, '')).toString('latin1'))
          .filter((text) => text !== '')
          .map((text) => (text.length > 100 ? '<too long>' : text));
        expect(frame([bytes], 100)).toEqual(expected);
        expect(frame(cutAt(bytes, cuts), 100)).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });

  it('a line of exactly the cap passes, one byte more does not, with CR and without (S8)', () => {
    for (const ending of ['\n', '\r\n']) {
      for (const size of [1, 7, 4999, 5000, 20_000]) {
        const chunks = (length: number) =>
          inPieces(Buffer.from(`${'x'.repeat(length)}${ending}next\n`), size);
        expect(frame(chunks(5000), 5000)).toEqual(['x'.repeat(5000), 'next']);
        expect(frame(chunks(5001), 5000)).toEqual(['<too long>', 'next']);
      }
    }
  });

  it('a line that is too long is told before its end', () => {
    expect(frame([Buffer.alloc(1500, 'x')])).toEqual(['<too long>']);
  });

  it('keeps nothing of a line that is done', () => {
    const before = process.memoryUsage().arrayBuffers;
    const part = Buffer.alloc(2 ** 20, 'x');
    const framings = Array.from({ length: 50 }, () => {
      const framing = new Framing(2 ** 22, { line: () => undefined, tooLong: () => undefined });
      for (const chunk of [part, part, Buffer.from('\n')]) framing.push(chunk);
      return framing;
    });
    setFlagsFromString('--expose-gc');
    (runInNewContext('gc') as () => void)();
    expect(framings).toHaveLength(50);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20 * 2 ** 20);
  });

  it('holds back what has no newline yet', () => {
    expect(frame([Buffer.from('one\ntw')])).toEqual(['one']);
  });

  it('takes a line byte by byte in linear time', () => {
    const byte = Buffer.from('x');
    const startedAt = performance.now();
    let length = 0;
    const framing = new Framing(2 ** 20, {
      line: (bytes) => (length = bytes.length),
      tooLong: () => undefined,
    });
    for (let at = 0; at < 2 ** 20; at += 1) framing.push(byte);
    framing.push(Buffer.from('\n'));
    expect(length).toBe(2 ** 20);
    // quadratic would be minutes
    expect(performance.now() - startedAt).toBeLessThan(5000);
  });
});
