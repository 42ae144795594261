import { expect, it } from 'vitest';
import { OutputTail } from '../../../src/link/stdio/output-tail.js';
import { FakeClock } from '../fake-clock.js';

it('the end of an output is kept in constant memory, in whole lines', () => {
  const tail = new OutputTail(new FakeClock());
  for (let line = 0; line < 10_000; line += 1) tail.push(Buffer.from(`line ${line}\n`));
  tail.push(Buffer.from('the last'));
  const lines = tail.textSince(0).split('\n');
  expect(lines.slice(-2)).toEqual(['line 9999', 'the last']);
  expect(lines[0]).toMatch(/^line \d+$/);
  expect(tail.textSince(0).length).toBeLessThanOrEqual(16_384);
  tail.push(Buffer.from(`${'x'.repeat(100_000)}\nend`));
  expect(tail.textSince(0)).toBe('end');
  tail.push(Buffer.from('y'.repeat(100_000)));
  expect(tail.textSince(0)).toBe('');
  tail.clear();
  expect(tail.textSince(0)).toBe('');
});

it('output older than the given time is left out', () => {
  const clock = new FakeClock();
  const tail = new OutputTail(clock);
  tail.push(Buffer.from('ready\n'));
  const now = clock.now();
  expect([tail.textSince(now), tail.textSince(now + 1)]).toEqual(['ready\n', '']);
});

it('only the lines written since the given time are returned, each complete', () => {
  const clock = new FakeClock();
  const tail = new OutputTail(clock);
  const write = (text: string) => {
    tail.push(Buffer.from(text));
    clock.advance(1000);
  };
  const startedAt = clock.now();
  write('old\nstarted ');
  write('before');
  write(', ended after\nnew\n');
  expect(tail.textSince(startedAt + 2000)).toBe('started before, ended after\nnew\n');
  expect(tail.textSince(startedAt + 2001)).toBe('');
});
