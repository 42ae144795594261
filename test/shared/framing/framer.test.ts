// isolated: measures the memory of its process
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BufferPool } from '../../../src/shared/framing/buffer-pool.js';
import {
  EDGE_BYTES,
  Framer,
  type FramerEvents,
  LONG_BYTES,
  type OversizedLine,
} from '../../../src/shared/framing/framer.js';

function frame(chunks: Iterable<Buffer>, maxBytes = 1000) {
  const lines: string[] = [];
  const oversized: OversizedLine[] = [];
  const framer = new Framer(maxBytes, {
    line: (bytes) => lines.push(bytes.toString('latin1')),
    oversized: (line) => oversized.push(line),
  });
  for (const chunk of chunks) framer.push(chunk);
  return { lines, oversized, framer };
}

/** Like a connection: reports a line that is too long at once. */
function frameTold(chunks: Iterable<Buffer>, maxBytes = 1000): string[] {
  const events: string[] = [];
  const framer = new Framer(maxBytes, {
    line: (bytes) => events.push(bytes.toString('latin1')),
    tooLong: () => events.push('<too long>'),
  });
  for (const chunk of chunks) framer.push(chunk);
  return events;
}

/** What a server's link does: long lines are taken as they come, and what they came in is thrown away. */
function frameLong(chunks: Iterable<Buffer>, maxBytes = 2 ** 20, blocks?: BufferPool) {
  const lines: { kind: 'whole' | 'long'; text: string; seen: string }[] = [];
  const events: FramerEvents = {
    line: (bytes) => lines.push({ kind: 'whole', text: bytes.toString('latin1'), seen: '' }),
    long: () => {
      const seen: Buffer[] = [];
      return {
        push: (piece) => seen.push(Buffer.from(piece)),
        end: (pieces) => {
          lines.push({
            kind: 'long',
            text: Buffer.concat(pieces).toString('latin1'),
            seen: Buffer.concat(seen).toString('latin1'),
          });
          for (const piece of pieces) blocks?.release(piece);
        },
      };
    },
  };
  const framer = new Framer(maxBytes, events, blocks);
  for (const chunk of chunks) if (framer.push(chunk) && blocks !== undefined) chunk.fill('!');
  return lines;
}

function cutAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...places].map((start, at) => bytes.subarray(start, places[at] ?? bytes.length));
}

function* inPieces(bytes: Buffer, ...sizes: number[]): Generator<Buffer> {
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length]!;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

describe('the framer', () => {
  it('gives the same messages for any split of the stream (U2)', () => {
    const line = fc.oneof(
      fc.string({ unit: fc.constantFrom('a', '{', '"', '\r', 'ä', '\0'), maxLength: 60 }),
      fc.integer({ min: 90, max: 120 }).map((length) => 'z'.repeat(length)),
    );
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat()), fc.boolean(), (written, cuts, crlf) => {
        const bytes = Buffer.from(written.map((text) => text + (crlf ? '\r\n' : '\n')).join(''));
        const whole = frame([bytes], 100);
        const cut = frame(cutAt(bytes, cuts), 100);
        expect(cut.lines).toEqual(whole.lines);
        expect(cut.oversized.map(({ head }) => head)).toEqual(whole.oversized.map(({ head }) => head));
        const expected = written.map((text) =>
          Buffer.from(text.replace(/\r$/, crlf ? '\r' : '')).toString('latin1'),
        );
        const fits = expected.filter((text) => text.length <= 100 && text !== '');
        expect(whole.lines).toEqual(fits);
      }),
      { numRuns: 300, seed: 2 },
    );
  });

  it('passes a message of exactly the limit, and not one byte more (U3)', () => {
    for (const ending of ['\n', '\r\n']) {
      for (const size of [1, 7, 5000]) {
        const chunks = (length: number) =>
          cutAt(Buffer.from('x'.repeat(length) + ending), [size, size * 2, length]);
        expect(frame(chunks(10_000), 10_000)).toMatchObject({ lines: ['x'.repeat(10_000)], oversized: [] });
        const over = frame([...chunks(10_001), Buffer.from('next\n')], 10_000);
        expect(over.lines).toEqual(['next']);
        expect(over.oversized).toHaveLength(1);
      }
    }
  });

  it('keeps head and tail of an oversized line, for any chunks (U3)', () => {
    const text = `HEAD${Array.from({ length: 20_000 }, (_, at) => at).join(' ')}TAIL`;
    for (const size of [1, EDGE_BYTES - 1, EDGE_BYTES, 65_536, 400_000]) {
      const bytes = Buffer.from(`${text}\n`);
      const chunks: Buffer[] = [];
      for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
      const [line] = frame(chunks).oversized;
      expect(line?.bytes).toBe(text.length);
      expect(line?.head.toString()).toBe(text.slice(0, EDGE_BYTES));
      expect(line?.tail.toString()).toBe(text.slice(-EDGE_BYTES));
    }
  });

  it('takes one carriage return from an oversized line, for any chunks', () => {
    const stream = Buffer.from(`${'x'.repeat(5000)}\r\r\n`);
    const bytes = [[stream], [stream.subarray(0, 999), stream.subarray(999)]].map(
      (chunks) => frame(chunks).oversized[0]?.bytes,
    );
    expect(bytes).toEqual([5001, 5001]);
  });

  it('passes a line within one chunk on without a copy', () => {
    const chunk = Buffer.from('one\ntwo\n');
    const seen: Buffer[] = [];
    new Framer(100, { line: (bytes) => seen.push(bytes), oversized: () => undefined }).push(chunk);
    expect(seen.map((bytes) => bytes.buffer === chunk.buffer)).toEqual([true, true]);
  });

  it('keeps a line until its newline', () => {
    const { lines, framer } = frame([Buffer.from('one\ntw')]);
    expect(lines).toEqual(['one']);
    expect(framer.pending).toBe(2);
  });

  it('is linear: 50 MB in 64 KiB chunks, and 2 MB byte by byte', () => {
    const chunk = Buffer.alloc(65_536, 'x');
    const timed = (count: number) => {
      let length = 0;
      const framer = new Framer(2 ** 30, {
        line: (bytes) => (length = bytes.length),
        oversized: () => undefined,
      });
      const startedAt = performance.now();
      for (let at = 0; at < count; at += 1) framer.push(chunk);
      framer.push(Buffer.from('\n'));
      expect(length).toBe(count * chunk.length);
      return performance.now() - startedAt;
    };
    timed(50);
    // it takes some 20 ms; quadratic would be half a minute
    expect(timed(800)).toBeLessThan(10_000);
    const bytes = Array.from({ length: 256 }, (_, at) => Buffer.from([at === 10 ? 11 : at]));
    let length = 0;
    const framer = new Framer(2 ** 30, {
      line: (line) => (length = line.length),
      oversized: () => undefined,
    });
    for (let at = 0; at < 2_000_000; at += 1) framer.push(bytes[at % 256] ?? chunk);
    framer.push(Buffer.from('\n'));
    expect(length).toBe(2_000_000);
  });

  it('uses constant memory while it discards a line (U3)', () => {
    const chunk = Buffer.alloc(65_536, 'x');
    const framer = new Framer(2 ** 20, { line: () => undefined, oversized: () => undefined });
    for (let at = 0; at < 64; at += 1) framer.push(chunk);
    const before = process.memoryUsage().arrayBuffers;
    for (let at = 0; at < 4096; at += 1) framer.push(Buffer.alloc(65_536, 'x'));
    collectGarbage();
    expect(framer.pending).toBe(65_536 * (4096 + 64));
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 2 ** 20);
  });

  it('a line of exactly the limit passes, one byte more is reported, with CR and without (S8)', () => {
    for (const ending of ['\n', '\r\n']) {
      for (const size of [1, 7, 4999, 5000, 5001, 20_000]) {
        const chunks = (length: number) =>
          inPieces(Buffer.from(`${'x'.repeat(length)}${ending}next\n`), size);
        expect(frameTold(chunks(5000), 5000)).toEqual(['x'.repeat(5000), 'next']);
        expect(frameTold(chunks(5001), 5000)).toEqual(['<too long>', 'next']);
      }
    }
  });

  it('a line over the limit is reported before its end, once (S8)', () => {
    expect(frameTold([Buffer.alloc(1500, 'x')])).toEqual(['<too long>']);
    expect(frameTold([Buffer.alloc(1500, 'x'), Buffer.from('x\nnext\n')])).toEqual(['<too long>', 'next']);
  });

  it('passes a long line on in pieces, every byte once, while it arrives', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 9000 }), { minLength: 1, maxLength: 8 });
    const length = fc.oneof(fc.nat(50), fc.integer({ min: LONG_BYTES - 50, max: 3 * LONG_BYTES }));
    const ending = fc.constantFrom('\n', '\r\n');
    const shared = new BufferPool();
    fc.assert(
      fc.property(fc.array(length, { maxLength: 4 }), sizes, ending, (lengths, cuts, end) => {
        const texts = lengths.map((count, at) => `${at}${'abcd'[at]!.repeat(count)}y`);
        for (const blocks of [undefined, shared]) {
          const bytes = Buffer.from(texts.map((text) => text + end).join(''));
          const lines = frameLong(inPieces(bytes, ...cuts), 2 ** 20, blocks);
          expect(lines.map(({ text }) => text)).toEqual(texts);
          for (const { kind, text, seen } of lines) {
            if (kind === 'long') expect(seen.replace(/\r$/, '')).toBe(text);
            else expect(text.length).toBeLessThan(LONG_BYTES);
          }
        }
      }),
      { numRuns: 200, seed: 3 },
    );
  });

  it('does not end a long line that is over the cap (U3)', () => {
    const chunks = inPieces(Buffer.from(`${'x'.repeat(50_001)}\nnext\n`), 5000);
    expect(frameLong(chunks, 50_000).map(({ text }) => text)).toEqual(['next']);
    for (const size of [5000, 50_001]) {
      const asLong = inPieces(Buffer.from(`${'x'.repeat(50_000)}\r\n`), size);
      expect(frameLong(asLong, 50_000)).toMatchObject([{ kind: 'long', text: 'x'.repeat(50_000) }]);
    }
  });

  it('releases the blocks and the chunks of a long line over the limit (U3)', () => {
    const blocks = new BufferPool();
    const framer = new Framer(
      400_000,
      { line: () => undefined, long: () => ({ push: () => undefined, end: () => undefined }) },
      blocks,
    );
    const chunk = Buffer.alloc(65_536, 'x');
    const needed = Array.from({ length: 10 }, () => !framer.push(chunk));
    expect(needed).toEqual([true, ...Array.from({ length: 9 }, () => false)]);
    expect(blocks.idle).toBe(6);
  });

  it('keeps nothing of a line that is done', () => {
    const before = process.memoryUsage().arrayBuffers;
    const part = Buffer.alloc(2 ** 20, 'x');
    const framers = Array.from({ length: 50 }, () => {
      const framer = new Framer(2 ** 22, { line: () => undefined });
      for (const chunk of [part, part, Buffer.from('\n')]) framer.push(chunk);
      return framer;
    });
    collectGarbage();
    expect(framers).toHaveLength(50);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20 * 2 ** 20);
  });
});
