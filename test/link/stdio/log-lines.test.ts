import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LogLines } from '../../../src/link/stdio/log-lines.js';
import { FakeClock } from '../fake-clock.js';

const LIMITS = { lineBytes: 100, bytesPerSecond: 1000, burstBytes: 100_000 };

function collect(limits = LIMITS, clean = (line: string) => line) {
  const clock = new FakeClock();
  const lines: string[] = [];
  return { clock, lines, log: new LogLines(clock, { clean, line: (text) => void lines.push(text) }, limits) };
}

describe('lines for the log', () => {
  it('show the beginning of a long line in any script', () => {
    const { lines, log } = collect({ ...LIMITS, lineBytes: 8192 });
    log.push(Buffer.from(`${'語'.repeat(7000)}\n`));
    expect(lines[0]).toMatch(/^語{2700,2731}.? … \(\d+ bytes cut\)$/u);
  });

  it('are the same for any split of the stream', () => {
    const line = fc.string({ unit: fc.constantFrom('a', 'ä', ' ', '\t'), maxLength: 70 });
    fc.assert(
      fc.property(
        fc.array(line),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
        (written, sizes) => {
          const bytes = Buffer.from(written.map((text) => `${text}\n`).join(''));
          const { lines, log } = collect();
          for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
            const size = sizes[turn % sizes.length] ?? 1;
            log.push(bytes.subarray(at, at + size));
            at += size;
          }
          log.end();
          const cut = (text: string) => {
            const whole = Buffer.from(text);
            return whole.length <= 100 ? text : undefined;
          };
          expect(lines.length).toBe(written.length);
          written.forEach((text, at) => {
            const expected = cut(text);
            if (expected !== undefined) expect(lines[at]).toBe(expected);
          });
        },
      ),
    );
  });

  it('that are too long are cut, and say by how much (U1)', () => {
    const { lines, log } = collect();
    for (let count = 0; count < 3; count += 1) log.push(Buffer.alloc(100, 'x'));
    log.push(Buffer.from('\nnext\r\n'));
    expect(lines).toEqual([`${'x'.repeat(100)} … (200 bytes cut)`, 'next']);
  });

  it('are redacted before they are cut: no part of a secret is left at the end', () => {
    const secret = 'sk-0123456789abcdef0123456789abcdef';
    const clean = (line: string) => line.replaceAll(secret, '[redacted]');
    for (const begin of [60, 90, 99, 4080, 4190]) {
      const { lines, log } = collect(LIMITS, clean);
      log.push(Buffer.from(`${'x'.repeat(begin)}${secret}${'y'.repeat(5000)}\n`));
      expect(lines.join('')).not.toContain('sk-0');
      expect(lines[0]).toMatch(/^x{60,100}\S* … \(\d+ bytes cut\)$/);
    }
    // redaction shortens the line so much that its unread end comes within the limit
    const { lines, log } = collect(LIMITS, clean);
    log.push(Buffer.from(`${secret.repeat(119)}${secret.slice(0, 31)}${secret}\n`));
    log.push(Buffer.from(`${secret.repeat(200)}\n`));
    expect(lines.join('')).not.toContain('sk-0123456789abcdef0123456789abcdef');
    expect(lines[1]).not.toContain('sk-0');
  });

  it('that are too many are dropped, and a line reports how many bytes (U1)', () => {
    const { clock, lines, log } = collect({ lineBytes: 100, bytesPerSecond: 1000, burstBytes: 1000 });
    for (let count = 0; count < 100; count += 1) log.push(Buffer.from(`${'x'.repeat(49)}\n`));
    const passed = lines.length;
    expect(passed).toBeLessThan(15);
    clock.advance(1000);
    log.push(Buffer.from('later\n'));
    expect(lines.slice(passed)).toEqual([
      `(${(100 - passed) * 50} bytes dropped: more than the log takes)`,
      'later',
    ]);
  });

  it('begin at a line again after some were dropped in the middle of one', () => {
    const { clock, lines, log } = collect({ lineBytes: 100, bytesPerSecond: 1000, burstBytes: 60 });
    log.push(Buffer.from('first\nsecond ha'));
    clock.advance(1000);
    log.push(Buffer.from('lf\nthird\n'));
    expect(lines).toEqual(['first', '(11 bytes dropped: more than the log takes)', 'third']);
  });

  it('include the last one, which may lack its newline', () => {
    const { lines, log } = collect();
    log.push(Buffer.from('panic: gone'));
    expect(lines).toEqual([]);
    log.end();
    expect(lines).toEqual(['panic: gone']);
  });
});
