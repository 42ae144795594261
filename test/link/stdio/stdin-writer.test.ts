import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { serverEncoding } from '../../../src/link/stdio/encoding.js';
import { StdinWriter } from '../../../src/link/stdio/stdin-writer.js';

/** A pipe whose reader takes a write only on demand. */
function pipe() {
  const taken: string[] = [];
  const waiting: (() => void)[] = [];
  const stream = new Writable({
    highWaterMark: 100,
    write(chunk, _encoding, done) {
      taken.push(String(chunk));
      waiting.push(done);
    },
    writev(chunks, done) {
      taken.push(chunks.map(({ chunk }) => String(chunk)).join(''));
      waiting.push(done);
    },
  });
  const told: string[] = [];
  const input = new StdinWriter(stream, serverEncoding('utf-8'), {
    drained: () => told.push('drained'),
    broken: (error) => told.push(`broken: ${error.message}`),
  });
  const tick = () => new Promise(setImmediate);
  return { stream, input, taken, told, tick, take: () => waiting.shift()?.() };
}

describe('the input of a server', () => {
  it('gets a line at once that is likely to be alone, and the lines of one turn in one write where there were more', async () => {
    const { input, taken, tick, take } = pipe();
    const turn = async (...lines: string[]) => {
      for (const line of lines) expect(input.write(line)).toBe(true);
      const atOnce = taken.splice(0);
      await tick();
      take();
      await tick();
      take();
      await tick();
      return { atOnce, later: taken.splice(0) };
    };
    expect(await turn('a')).toEqual({ atOnce: ['a\n'], later: [] });
    expect(await turn('b', 'c', 'd')).toEqual({ atOnce: ['b\n'], later: ['c\nd\n'] });
    expect(await turn('e', 'f')).toEqual({ atOnce: [], later: ['e\nf\n'] });
    expect(await turn('g')).toEqual({ atOnce: [], later: ['g\n'] });
    expect(await turn('h')).toEqual({ atOnce: ['h\n'], later: [] });
  });

  it.each(['plain', 'ümläut', '漢字 😀'])('gets %s as UTF-8', async (line) => {
    const { input, taken, tick } = pipe();
    input.write(line);
    await tick();
    expect(taken).toEqual([`${line}\n`]);
  });

  it('is not ready while the pipe is full, and calls drained when it is again (U5)', async () => {
    const { input, take, told, tick } = pipe();
    expect(input.ready).toBe(true);
    input.write('x'.repeat(200));
    expect(input.ready).toBe(false);
    await tick();
    take();
    await tick();
    expect([input.ready, told]).toEqual([true, ['drained']]);
  });

  it('refuses lines over a limit that were written without checking ready (U5)', () => {
    const { input, stream } = pipe();
    let accepted = 0;
    while (input.write('x'.repeat(10_000))) accepted += 1;
    expect(accepted).toBeLessThan(120);
    expect(stream.writableLength).toBeLessThan(2 ** 20 + 20_000);
  });

  it('calls broken once, and takes nothing afterwards (P13)', async () => {
    const { input, stream, told, tick } = pipe();
    stream.destroy(new Error('EPIPE'));
    await tick();
    expect(told).toEqual(['broken: EPIPE']);
    expect([input.ready, input.write('x')]).toEqual([false, false]);
    input.end();
  });

  it('that ends writes its lines, and does not call drained', async () => {
    const { input, taken, told, tick } = pipe();
    input.write('a');
    input.end();
    await tick();
    expect([taken, told]).toEqual([['a\n'], []]);
  });

  it('that was ended does not call broken', async () => {
    const { input, stream, told, tick } = pipe();
    input.end();
    expect([input.ready, input.write('x')]).toEqual([false, false]);
    stream.destroy(new Error('EPIPE'));
    await tick();
    expect(told).toEqual([]);
  });
});
